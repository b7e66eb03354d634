package planner_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/kthena"
)

// byMetrics has a workload of which nothing is known but a policy of Kthena that wants 10
// waiting requests for each replica.
func byMetrics(variants ...planner.Variant) planner.Fleet {
	config := kthena.DefaultConfig()
	config.MaxReplicas, config.Metrics = 20, []kthena.Metric{{Name: "waiting", Target: 10}}
	return planner.Fleet{
		Pools: []planner.Pool{{Name: "h100", Accelerator: "H100", PricePerHour: 4}},
		Workloads: []planner.Workload{{
			Namespace: "prod", Name: "chat", Priority: 1, Policy: planner.Policy{Kthena: &config}, Variants: variants,
		}},
	}
}

func unprofiled(name string, current int) planner.Variant {
	return planner.Variant{
		Name: name, Pools: []int{0}, DevicesPerReplica: 1, CurrentReplicas: current,
		MaxReplicas: optimizer.Bound{Limited: true, Value: 20},
	}
}

// waiting is the metric on the replicas of variants.
func waiting(of map[string]planner.MetricValues) planner.Observation {
	o := planner.Observation{Workload: "prod/chat"}
	for name, values := range of {
		values.Name = "waiting"
		o.Variants = append(o.Variants, planner.VariantObservation{Variant: name, Metrics: []planner.MetricValues{values}})
	}
	return o
}

// Without a profile the planner does exactly what Kthena's arithmetic does with the same
// metrics, cycle by cycle.
func TestMetricsDecideWithoutProfile(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	l := newLoop(t, byMetrics(unprofiled("chat", 3)))
	config := *l.fleet.Workloads[0].Policy.Kthena
	var history kthena.History
	replicas, load := 3, 30.0
	for range 200 {
		load = max(1, load*(0.6+random.Float64()))
		if random.IntN(4) == 0 {
			load = 200 * random.Float64()
		}
		values := make([]float64, replicas)
		for k := range values {
			values[k] = load / float64(replicas)
		}
		var want kthena.Decision
		want, history = kthena.Decide(&config, history, kthena.Input{
			Now: l.now, Replicas: replicas, Readings: []kthena.Reading{{Values: values}},
		})
		d := l.cycle(waiting(map[string]planner.MetricValues{"chat": {Values: values}}))
		require.Equal(t, []int{want.Replicas}, totals(&d, 0), "%v", want.Steps)
		require.Equal(t, planner.ProfileMissing, d.Plans[0].Conditions[0].Type)
		replicas = want.Replicas
	}
}

// What is not measured takes nothing away, and a replica is added where none could measure.
func TestMetricsThatAreMissing(t *testing.T) {
	l := newLoop(t, byMetrics(unprofiled("chat", 3)))
	d := l.cycle()
	assert.Equal(t, []int{3}, totals(&d, 0))
	assert.True(t, d.Plans[0].Held)
	assert.Equal(t, "replicas held: no metric of the policy was measured, and there is neither profile nor capacity", d.Plans[0].Reason)

	d = l.cycle(waiting(map[string]planner.MetricValues{"chat": {Values: []float64{60}, Missing: 2}}))
	assert.Equal(t, []int{6}, totals(&d, 0), "those without a value count with no load")
	assert.Equal(t, "6 × chat for 6 replicas, limited by metrics", d.Plans[0].Reason)

	l = newLoop(t, byMetrics(unprofiled("chat", 0)))
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(0)}))
	assert.Equal(t, []int{0}, totals(&d, 0))
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(0.1)}))
	assert.Equal(t, []int{1}, totals(&d, 0), "requests that arrive wake it")
}

// Several variants share what the metrics of all ask for, within pools, and the replicas of
// one that nobody observed have no value.
func TestMetricsOfSeveralVariants(t *testing.T) {
	several := func() *loop {
		f := byMetrics(unprofiled("a", 1), unprofiled("b", 1))
		for j, price := range []float64{1, 1.5} {
			v := &f.Workloads[0].Variants[j]
			v.Priced, v.PricePerReplicaHour = true, price
		}
		expansion := 200
		f.Workloads[0].ExpansionRate = &expansion
		return newLoop(t, f)
	}
	both := waiting(map[string]planner.MetricValues{"a": {Values: []float64{35}}, "b": {Values: []float64{35}}})
	l := several()
	d := l.cycle(both)
	assert.Equal(t, []int{4, 3}, totals(&d, 0), "batches of 1, 1, 2, 2 and 4 replicas")

	l = several()
	d = l.cycle(waiting(map[string]planner.MetricValues{"a": {Values: []float64{35}}}))
	assert.Equal(t, []int{3, 1}, totals(&d, 0), "as if b had no load")

	l = several()
	l.fleet.Pools[0].Capacity = optimizer.Bound{Limited: true, Value: 5}
	d = l.cycle(both)
	assert.Contains(t, d.Plans[0].Conditions, planner.Condition{Type: planner.DemandUnmet, Message: "2 replicas because of pool/h100"})
}
