package overlay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/overlay"
	"github.com/poolwright/poolwright/sources/plain"
)

// cluster is a view that looks objects up as fast as the one of informers does.
type cluster struct {
	list    []*unstructured.Unstructured
	objects map[string]*unstructured.Unstructured
}

func (c *cluster) List(kind schema.GroupKind) []*unstructured.Unstructured {
	if kind.Kind != "Deployment" {
		return nil
	}
	return c.list
}

func (c *cluster) Get(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, bool) {
	object, ok := c.objects[namespace+"/"+name]
	return object, ok && kind.Kind == "Deployment"
}

// largeCluster has workloads of three variants each, every one an annotated Deployment, and
// a configuration with a profile for each model and accelerator.
func largeCluster(workloads int) (*cluster, string) {
	const models = 50
	c := &cluster{objects: make(map[string]*unstructured.Unstructured)}
	accelerators := []string{"A100", "H100", "L40S"}
	for i := range workloads {
		for _, a := range accelerators {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apps/v1", "kind": "Deployment",
				"spec": map[string]any{"replicas": int64(2), "template": map[string]any{"spec": map[string]any{
					"nodeSelector": map[string]any{"nvidia.com/gpu.product": a},
					"containers": []any{map[string]any{
						"name": "engine", "image": "engine:1", "args": []any{"--port", "8000"},
						"ports":     []any{map[string]any{"containerPort": int64(8000)}},
						"resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "2"}},
					}},
				}}},
			}}
			object.SetNamespace("prod")
			object.SetName(fmt.Sprintf("w%04d-%s", i, strings.ToLower(a)))
			object.SetAnnotations(map[string]string{
				resource.WorkloadAnnotation: fmt.Sprintf("w%04d", i),
				"poolwright.dev/model":      fmt.Sprintf("m%02d", i%models),
				"poolwright.dev/slo":        "{ttft: {p95: 1s}}", "poolwright.dev/priority": "2", "unrelated": "annotation",
			})
			c.list = append(c.list, object)
			c.objects["prod/"+object.GetName()] = object
		}
	}
	var text strings.Builder
	text.WriteString("replicas:\n")
	for m := range models {
		for _, a := range accelerators {
			fmt.Fprintf(&text, "- {match: {model: m%02d, accelerator: %s, devices: 2}, profile: {alphaMs: 10, betaMs: 0.1}, maxBatch: 64, startup: 2m}\n", m, a)
		}
	}
	return c, text.String()
}

// BenchmarkComplete is one cycle over 2,000 workloads of three variants.
func BenchmarkComplete(b *testing.B) {
	view, text := largeCluster(2000)
	declared, skipped := plain.Reader{}.Read(view)
	require.Empty(b, skipped)
	var pools []overlay.Pool
	for _, a := range []string{"A100", "H100", "L40S"} {
		pools = append(pools, overlay.Pool{Pool: planner.Pool{Name: a, Accelerator: a}})
	}
	o := parse(b, text)
	b.ReportAllocs()
	for b.Loop() {
		c := o.Complete(view, pools, declared)
		require.Len(b, c.Workloads, 2000)
		require.NotNil(b, c.Fleet.Workloads[7].Variants[2].Replica)
	}
}

// BenchmarkRead reads as many Deployments.
func BenchmarkRead(b *testing.B) {
	view, _ := largeCluster(2000)
	b.ReportAllocs()
	for b.Loop() {
		workloads, _ := plain.Reader{}.Read(view)
		require.Len(b, workloads, 2000)
	}
}
