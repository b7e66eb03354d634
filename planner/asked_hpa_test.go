package planner_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/hpa"
)

// byHPA is the same with a HorizontalPodAutoscaler.
func byHPA(variants ...planner.Variant) planner.Fleet {
	f := byMetrics(variants...)
	config, behavior := hpa.DefaultConfig(), hpa.DefaultBehavior()
	behavior.ScaleDown.StabilizationWindow = time.Minute
	config.MaxReplicas, config.Behavior = 20, &behavior
	config.Metrics = []hpa.Metric{{Source: hpa.PodsMetric, Name: "waiting", Target: hpa.Target{Type: hpa.AverageValue, Value: 10_000}}}
	f.Workloads[0].Policy = planner.Policy{HPA: &config}
	return f
}

// Without a profile the planner does exactly what a HorizontalPodAutoscaler does with the
// same metrics, cycle by cycle.
func TestMetricsOfAnHPADecideWithoutProfile(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	one := unprofiled("chat", 3)
	one.MinReplicas = 1
	l := newLoop(t, byHPA(one))
	config := *l.fleet.Workloads[0].Policy.HPA
	var history hpa.History
	replicas, load, moved := int32(3), 30.0, 0
	for range 200 {
		load = max(1, load*(0.6+random.Float64()))
		if random.IntN(4) == 0 {
			load = 200 * random.Float64()
		}
		in := hpa.Input{Now: l.now, Replicas: replicas, Observed: replicas, Readings: make([]hpa.Reading, 1)}
		var values []float64
		for n := range replicas {
			name, value := strconv.Itoa(int(n)), load/float64(replicas)
			in.Pods = append(in.Pods, hpa.Pod{Name: name, Ready: hpa.Ready})
			if random.IntN(10) > 0 {
				values = append(values, value)
				in.Readings[0].Samples = append(in.Readings[0].Samples, hpa.Sample{Pod: name, Value: int64(1000*value + 0.5)})
			}
		}
		var want hpa.Decision
		want, history = hpa.Decide(&config, history, in)
		history = history.Scaled(&config, l.now, replicas, want.Replicas)
		d := l.cycle(waiting(map[string]planner.MetricValues{"chat": {Values: values, Missing: int(replicas) - len(values)}}))
		require.Equal(t, []int{int(want.Replicas)}, totals(&d, 0), "%+v", want)
		if want.Replicas != replicas {
			moved++
		}
		replicas = want.Replicas
	}
	assert.Greater(t, moved, 20)
}

// What is not measured takes nothing away, and a replica is added where none could measure.
func TestMetricsOfAnHPAThatAreMissing(t *testing.T) {
	l := newLoop(t, byHPA(unprofiled("chat", 3)))
	d := l.cycle()
	assert.Equal(t, []int{3}, totals(&d, 0))
	assert.True(t, d.Plans[0].Held)
	d = l.cycle(waiting(map[string]planner.MetricValues{"chat": {Values: []float64{30, 30}, Missing: 1}}))
	assert.Equal(t, []int{6}, totals(&d, 0), "one without a value counts with no load")
	assert.Equal(t, "6 × chat for 6 replicas, limited by metrics", d.Plans[0].Reason)

	l = newLoop(t, byHPA(unprofiled("chat", 0)))
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(0)}))
	assert.Equal(t, []int{0}, totals(&d, 0))
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(0.1)}))
	assert.Equal(t, []int{1}, totals(&d, 0), "requests that arrive wake it")
}

// Metrics that nobody can observe are no reason to do anything, and stop scaling down.
func TestMetricsOfAnHPAThatAreNotOfPods(t *testing.T) {
	cpu := hpa.Metric{Source: hpa.Resource, Name: "cpu", Target: hpa.Target{Type: hpa.Utilization, Value: 80}}
	l := newLoop(t, byHPA(unprofiled("chat", 3)))
	l.fleet.Workloads[0].Policy.HPA.Metrics = []hpa.Metric{cpu}
	idle, busy := planner.MetricValues{Values: []float64{1, 1, 1}}, planner.MetricValues{Values: []float64{20, 20, 20}}
	d := l.cycle(waiting(map[string]planner.MetricValues{"chat": busy}))
	assert.Equal(t, []int{3}, totals(&d, 0))
	assert.Equal(t, planner.DemandUnknown, d.Plans[0].Conditions[0].Type)

	l = newLoop(t, byHPA(unprofiled("chat", 3)))
	l.fleet.Workloads[0].Policy.HPA.Metrics = append(l.fleet.Workloads[0].Policy.HPA.Metrics, cpu)
	d = l.cycle(waiting(map[string]planner.MetricValues{"chat": idle}))
	assert.Equal(t, []int{3}, totals(&d, 0))
	d = l.cycle(waiting(map[string]planner.MetricValues{"chat": busy}))
	assert.Equal(t, []int{6}, totals(&d, 0))
}

func TestBoundsHoldForMetricsOfAnHPA(t *testing.T) {
	one := unprofiled("chat", 6)
	one.MinReplicas, one.MaxReplicas = 2, optimizer.Bound{Limited: true, Value: 5}
	l := newLoop(t, byHPA(one))
	d := l.cycle(waiting(map[string]planner.MetricValues{"chat": {Values: []float64{9, 9, 9, 9, 9, 9}}}))
	assert.Equal(t, []int{5}, totals(&d, 0))
}
