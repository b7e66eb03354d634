package llmaz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// BenchmarkRead reads 2,000 workloads of three variants, on nodes that only their own labels
// tell apart.
func BenchmarkRead(b *testing.B) {
	var objects strings.Builder
	for n := range 100 {
		fmt.Fprintf(&objects, "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {group: g%d, nvidia.com/gpu.product: P%d}}}\n", n, n%3, n%3)
	}
	objects.WriteString("---\n{apiVersion: inference.llmaz.io/v1alpha1, kind: BackendRuntime, metadata: {name: vllm}, spec: {recommendedConfigs: [{name: default, args: [--max-num-seqs, '128']}]}}\n")
	const flavors = "[{name: f0, nodeSelector: {group: g0}, limits: {nvidia.com/gpu: 8}}, {name: f1, nodeSelector: {group: g1}, limits: {nvidia.com/gpu: 4}}, {name: f2, nodeSelector: {group: g2}, limits: {nvidia.com/gpu: 2}}]"
	for m := range 2000 {
		fmt.Fprintf(&objects, "---\n{apiVersion: llmaz.io/v1alpha1, kind: OpenModel, metadata: {name: m%d}, spec: {inferenceConfig: {flavors: %s}}}\n", m, flavors)
		for f := range 3 {
			fmt.Fprintf(&objects, "---\n{apiVersion: inference.llmaz.io/v1alpha1, kind: Playground, metadata: {name: m%d-%d, namespace: x}, spec: {modelClaim: {modelName: m%d, inferenceFlavors: [f%d]}, elasticConfig: {maxReplicas: 8}}}\n", m, f, m, f)
		}
	}
	view := resourcetest.New(b, objects.String())
	b.ReportAllocs()
	for b.Loop() {
		if workloads, _ := (Reader{}).Read(view); len(workloads) != 2000 {
			b.Fatal(len(workloads))
		}
	}
}
