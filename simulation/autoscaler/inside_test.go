package autoscaler

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// limited is a bound on replicas or devices.
func limited(n int) optimizer.Bound { return optimizer.Bound{Limited: true, Value: n} }

func TestBoundsOfVariants(t *testing.T) {
	variant := func(name string, pools []int, current int) planner.Variant {
		return planner.Variant{Name: name, Pools: pools, DevicesPerReplica: 2, CurrentReplicas: current, Capacity: 1}
	}
	base := func() planner.Fleet {
		return planner.Fleet{
			Pools: []planner.Pool{
				{Name: "a", PricePerHour: 2, Capacity: limited(9)}, {Name: "b", PricePerHour: 1, Capacity: limited(4)}, {Name: "c", PricePerHour: 1},
			},
			Workloads: []planner.Workload{{Name: "w", Variants: []planner.Variant{variant("x", []int{0}, 1), variant("y", []int{0, 1}, 0)}}},
		}
	}
	for _, test := range []struct {
		name        string
		change      func(w *planner.Workload)
		least, most []int
	}{
		{"what runs keeps one", func(*planner.Workload) {}, []int{1, 0}, []int{4, 6}},
		{"without any the cheapest starts", func(w *planner.Workload) { w.Variants[0].CurrentReplicas = 0 }, []int{0, 1}, []int{4, 6}},
		{"of equals the first name", func(w *planner.Workload) {
			w.Variants[0].CurrentReplicas, w.Variants[0].Pools, w.Variants[1].Name = 0, []int{1}, "a"
		}, []int{0, 1}, []int{2, 6}},
		{"each phase has one", func(w *planner.Workload) {
			w.Variants[0].Role, w.Variants[1].Role = optimizer.Prefill, optimizer.Decode
		}, []int{1, 1}, []int{4, 6}},
		{"declared bounds", func(w *planner.Workload) {
			w.Variants[0].MinReplicas, w.Variants[1].MinReplicas, w.Variants[1].MaxReplicas = 2, 3, limited(5)
		}, []int{2, 3}, []int{4, 5}},
		{"a maximum of all", func(w *planner.Workload) { w.MaxReplicas = limited(3) }, []int{1, 0}, []int{3, 3}},
		{"a minimum of all is nobody's", func(w *planner.Workload) { w.MinReplicas = 3 }, []int{1, 0}, []int{4, 6}},
		{"or the only variant's", func(w *planner.Workload) { w.MinReplicas, w.Variants = 3, w.Variants[:1] }, []int{3}, []int{4}},
		{"a pool too small", func(w *planner.Workload) { w.Variants[0].DevicesPerReplica, w.Variants[0].MinReplicas = 10, 2 }, []int{1, 0}, []int{1, 6}},
		{"no limit", func(w *planner.Workload) { w.Variants[0].Pools = []int{2} }, []int{1, 0}, []int{unlimited, 6}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := base()
			test.change(&f.Workloads[0])
			d := deploymentsOf(nil, f)
			assert.Equal(t, [][]int{test.least}, d.least)
			assert.Equal(t, [][]int{test.most}, d.most)
		})
	}
}

// The guide to benchmarks of the family finds α + β from a request by itself and α + β·batch
// from a full batch: those latencies are what the model has.
func TestFamilyReplicaIsWhatBenchmarksFind(t *testing.T) {
	r := queueing.Replica{
		Profile:  queueing.Profile{Alpha: 6.83e-3, Beta: 57e-6, Gamma: 1e-3, Delta: 2.4e-6, TTFTOffset: 15.6e-3},
		MaxBatch: 64,
	}
	s := queueing.Shape{InputTokens: 512, OutputTokens: 256}
	f := familyReplica(r, s)
	assert.Equal(t, queueing.LLMDV1, f.Model)
	p := f.Profile
	assert.InDelta(t, 6.83e-3+57e-6, p.Alpha+p.Beta, 1e-12)
	prompt := 1e-3 + 2.4e-6*512
	full := 6.83e-3 + 57e-6*64 + 64.0/256*prompt
	assert.InDelta(t, full, p.Alpha+p.Beta*64, 1e-12)
	for _, batch := range []float64{1, 64} {
		assert.InDelta(t, p.Alpha+p.Beta*batch+prompt+15.6e-3, p.Gamma+p.Delta*512*batch, 1e-12)
	}
	assert.Equal(t, queueing.Waiting{Limited: true, Places: 640}, f.MaxQueue)
	_, err := queueing.NewStation(f, s)
	require.NoError(t, err)

	r.KVCacheTokens = 7680
	assert.Equal(t, 10, familyReplica(r, s).MaxBatch, "as many requests as fit the KV cache")
	r.MaxBatch = 1
	_, err = queueing.NewStation(familyReplica(r, s), s)
	require.NoError(t, err)
	r.Profile.Delta = queueing.MaxSeconds
	_, err = queueing.NewStation(familyReplica(r, s), s)
	require.NoError(t, err)
	family := queueing.Replica{Model: queueing.LLMDV3, MaxBatch: 8}
	assert.Equal(t, family, familyReplica(family, s))
}

func TestLimitsAsMeans(t *testing.T) {
	slo := queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.95, Value: 2},
		{Metric: queueing.TTFT, Quantile: 0.5, Value: 1},
		{Metric: queueing.TokensPerSecond, Value: 10},
		{Metric: queueing.TokensPerSecond, Quantile: 0.9, Value: 20},
		{Metric: queueing.ITL, Value: 0.05},
	}}
	assert.Equal(t, []queueing.Limit{
		{Metric: queueing.TTFT, Value: 1}, {Metric: queueing.TokensPerSecond, Value: 20}, {Metric: queueing.ITL, Value: 0.05},
	}, means(slo).Limits)
	assert.Len(t, slo.Limits, 5)
	assert.InDelta(t, 0.95, slo.Limits[0].Quantile, 0)
}

// The family plans for what was observed, and leaves alone what was not.
func TestWhatTheFamilyObserves(t *testing.T) {
	fleet := planner.Fleet{Workloads: []planner.Workload{
		{Name: "w", ArrivalRate: 7, Shape: queueing.Shape{InputTokens: 1, OutputTokens: 2}, Redundancy: 1, Penalized: true},
		{Name: "unseen", ArrivalRate: 7, MinReplicas: 2, Variants: []planner.Variant{{Name: "v", CurrentReplicas: 5}}},
		{Name: "stale", ArrivalRate: 7, Shape: queueing.Shape{OutputTokens: 3}, Variants: []planner.Variant{{Name: "v", MinReplicas: 1, CurrentReplicas: 0}}},
		{Name: "of unknown lengths", ArrivalRate: 7, Variants: []planner.Variant{{Name: "v", CurrentReplicas: 1}}},
		{Name: "switched off", Shape: queueing.Shape{OutputTokens: 3}, MaxReplicas: limited(0)},
	}}
	fresh := func(x float64) planner.Measurement { return planner.Measurement{State: planner.Fresh, Value: x} }
	a := infernoScaler{settings: DefaultInferno()}
	p := a.problem(fleet, []planner.Observation{
		{Workload: "w", ArrivalRate: fresh(3), InputTokens: fresh(100), OutputTokens: fresh(0.5)},
		{Workload: "stale", ArrivalRate: planner.Measurement{State: planner.Stale, Value: 5}},
		{Workload: "of unknown lengths", ArrivalRate: fresh(3)},
		{Workload: "switched off", ArrivalRate: fresh(3)},
	})
	assert.Zero(t, p.Workloads[4].MinReplicas, "no more than it may have")
	for i, replicas := range []int{5, 0, 1} {
		w := p.Workloads[i+1]
		assert.Zero(t, w.ArrivalRate, w.Name)
		assert.Zero(t, w.MinReplicas, w.Name)
		assert.GreaterOrEqual(t, w.Shape.OutputTokens, queueing.Tokens(1), w.Name)
		assert.Equal(t, replicas, w.Variants[0].MinReplicas, w.Name)
		assert.Equal(t, limited(replicas), w.Variants[0].MaxReplicas, w.Name)
	}
	w := p.Workloads[0]
	assert.Equal(t, queueing.Rate(3), w.ArrivalRate)
	assert.Equal(t, queueing.Tokens(100), w.Shape.InputTokens)
	assert.Equal(t, queueing.Tokens(1), w.Shape.OutputTokens)
	assert.Equal(t, 1, w.MinReplicas)
	assert.Zero(t, w.Redundancy)
	assert.Equal(t, planner.InfernoGreedy, p.Objective.Strategy)
	assert.Equal(t, queueing.Rate(7), fleet.Workloads[0].ArrivalRate, "the fleet stays as it is")
}
