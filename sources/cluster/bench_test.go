//go:build unix

package cluster

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/plain"
)

// large is a cluster of so many workloads of three variants, each a Deployment, and of
// pods and nodes.
func large(t testing.TB, workloads, pods int) []string {
	t.Helper()
	var objects []string
	perVariant, node := pods/(3*workloads), 0
	for i := range workloads {
		for j, product := range []string{h100, a100, "NVIDIA-L4"} {
			name := fmt.Sprintf("w%d-%d", i, j)
			objects = append(objects, strings.Replace(deployment("a", name, perVariant, ""),
				"labels: {test: "+name+"}", fmt.Sprintf(`annotations: {%s: w%d}`, resource.WorkloadAnnotation, i), 1))
			objects[len(objects)-1] = strings.Replace(objects[len(objects)-1], "spec: {replicas",
				`spec: {template: {spec: {nodeSelector: {nvidia.com/gpu.product: `+product+`}, containers: [{name: main, image: vllm, args: [--model, m], resources: {limits: {nvidia.com/gpu: "2"}}}]}}, replicas`, 1)
			for k := range perVariant {
				if k == 0 {
					node++
				}
				objects = append(objects, podOf("a", fmt.Sprintf("%s-%d", name, k), "r-a-"+name, fmt.Sprintf("n%d-%d", node%250, j), "ready"))
			}
		}
	}
	for i := range 250 {
		for j, product := range []string{h100, a100, "NVIDIA-L4"} {
			objects = append(objects, nodeOf(fmt.Sprintf("n%d-%d", i, j), product, 64, ""))
		}
	}
	return objects
}

// BenchmarkFleet makes the fleet of 2,000 workloads with 3 variants each and 12,000 pods,
// anew each time.
func BenchmarkFleet(b *testing.B) {
	v := viewOf(b, large(b, 2000, 12_000)...)
	c := &Catalog{config: Config{Readers: []resource.Reader{plain.Reader{}}}}
	o := overlayOf(b, fast)
	s := c.snapshot(v, o)
	require.Len(b, s.fleet.Workloads, 2000)
	began := processorTime(b)
	for b.Loop() {
		s = c.snapshot(v, o)
	}
	b.ReportMetric(float64((processorTime(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
	require.Len(b, s.fleet.Pools, 3)
}

// BenchmarkReport reports how much more a workload takes of what is published where there are
// four times as many, each with a route that has its weight.
func BenchmarkReport(b *testing.B) {
	each := func(workloads int) (report func()) {
		var objects []string
		for i := range workloads {
			name := fmt.Sprintf("w%d", i)
			text := strings.Replace(deployment("a", name, 1, ""), "spec: {replicas", "spec: {template: {metadata: {labels: {app: "+name+"}}}, replicas", 1)
			objects = append(objects, text, podOf("a", name, "r-a-"+name, "n1", "ready"), fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {namespace: a, name: %[1]s}
spec: {selector: {app: %[1]s}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: a, name: %[1]s, annotations: {%[2]s: "true"}}
spec: {rules: [{backendRefs: [{name: %[1]s, weight: 100}]}]}
`, name, resource.WeightsAnnotation))
		}
		c := catalogOf(b, reader{}, viewOf(b, append(objects, nodeOf("n1", h100, 2*workloads, ""))...))
		e := entryOf(c)
		require.Len(b, e.Decision.Plans, workloads)
		for i := range e.Decision.Plans {
			e.Decision.Plans[i].Variants = make([]planner.VariantPlan, 1)
			e.Decision.Plans[i].Variants[0].Size.Capacity = 1
		}
		return func() {
			patches, _ := c.Report(e)
			require.Empty(b, patches)
		}
	}
	small, large := each(100), each(400)
	var took [2]time.Duration
	for b.Loop() {
		for i, report := range [...]func(){small, large} {
			began := processorTime(b)
			report()
			took[i] += processorTime(b) - began
		}
	}
	b.ReportMetric(took[1].Seconds()/took[0].Seconds()/4, "×/workload")
}

// processorTime is what the process has used so far, garbage collection included.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMemory is what the objects of such a cluster take, once they are cut down.
func BenchmarkMemory(b *testing.B) {
	objects := large(b, 2000, 12_000)
	for b.Loop() {
		before := heap()
		v := viewOf(b, objects...)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		runtime.KeepAlive(v)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
