package kthena

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// many are workloads of three variants each, all in one namespace, with a ModelServer for
// each variant and a ModelRoute for each workload.
func many(b *testing.B, workloads int) *resourcetest.View {
	b.Helper()
	var text strings.Builder
	for i := range workloads {
		fmt.Fprintf(&text, `---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {namespace: chat, name: w%[1]d}
spec: {metrics: [{metricName: m, targetValue: 1}]}
---
apiVersion: networking.serving.volcano.sh/v1alpha1
kind: ModelRoute
metadata: {namespace: chat, name: w%[1]d, annotations: {poolwright.dev/weights: "true"}}
spec: {modelName: w%[1]d, rules: [{targetModels: [{modelServerName: w%[1]d-0}, {modelServerName: w%[1]d-1}, {modelServerName: w%[1]d-2}]}]}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {namespace: chat, name: w%[1]d}
spec:
  policyRef: {name: w%[1]d}
  optimizerConfiguration:
    params:
    - {minReplicas: 0, maxReplicas: 4, target: {targetRef: {name: w%[1]d-0}}}
    - {minReplicas: 0, maxReplicas: 4, target: {targetRef: {name: w%[1]d-1}}}
    - {minReplicas: 0, maxReplicas: 4, target: {targetRef: {name: w%[1]d-2}}}
`, i)
		for j := range 3 {
			fmt.Fprintf(&text, `---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {namespace: chat, name: w%[1]d-%[2]d}
spec:
  replicas: 2
  template:
    roles:
    - name: leader
      workerReplicas: 0
      entryTemplate:
        metadata: {labels: {app: llm, model: w%[1]d, variant: "%[2]d"}}
        spec:
          nodeSelector: {nvidia.com/gpu.product: H100}
          containers:
          - {name: engine, image: engine, args: [--model=m], ports: [{containerPort: 8000}], resources: {limits: {nvidia.com/gpu: 4, cpu: 8}}}
---
apiVersion: networking.serving.volcano.sh/v1alpha1
kind: ModelServer
metadata: {namespace: chat, name: w%[1]d-%[2]d}
spec: {inferenceEngine: vLLM, model: m%[1]d, workloadSelector: {matchLabels: {app: llm, model: w%[1]d, variant: "%[2]d"}}}
`, i, j)
		}
	}
	return resourcetest.New(b, text.String())
}

// BenchmarkRead reads what a cycle of a large cluster does, and BenchmarkPatches writes it.
func BenchmarkRead(b *testing.B) {
	const workloads = 2000
	view, reader := many(b, workloads), new(Reader)
	for b.Loop() {
		read, skipped := reader.Read(view)
		require.Len(b, read, workloads)
		require.Empty(b, skipped)
	}
}

func BenchmarkPatches(b *testing.B) {
	const workloads = 2000
	view := many(b, workloads)
	reader := new(Reader)
	read, _ := reader.Read(view)
	for b.Loop() {
		patches := 0
		for i := range read {
			w := read[i]
			patches += len(reader.Patches(view, &w, anOutcome(&w)))
		}
		require.Equal(b, workloads, patches)
	}
}
