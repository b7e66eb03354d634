package planner_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// Whatever makes a workload differ from others, its variants sustain in one fleet with them what they do by themselves: equal
// ones are sized once, such as those of one model in several service classes.
func TestSizesAreThoseOfTheWorkloadAlone(t *testing.T) {
	base := twoPools(10, profiled("h100", 0))
	base.Workloads[0].Variants[0].Replica.MaxQueue = queueing.Waiting{Limited: true, Places: 100}
	base.Workloads[0].SLO.Limits = []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.1},
		{Metric: queueing.ITL, Quantile: 0.95, Value: 0.02},
	}
	together := base
	together.Workloads = slices.Clone(base.Workloads)
	var names []string
	for name, change := range map[string]func(w *planner.Workload, r *queueing.Replica){
		"value of TTFT":      func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits[0].Value = 0.03 },
		"value of ITL":       func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits[1].Value = 0.015 },
		"quantile":           func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits[1].Quantile = 0.9 },
		"mean":               func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits[1].Quantile = 0 },
		"metric":             func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits[0].Metric = queueing.E2E },
		"fewer limits":       func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits = w.SLO.Limits[:1] },
		"no limits":          func(w *planner.Workload, _ *queueing.Replica) { w.SLO.Limits = nil },
		"input tokens":       func(w *planner.Workload, _ *queueing.Replica) { w.Shape.InputTokens *= 4 },
		"output tokens":      func(w *planner.Workload, _ *queueing.Replica) { w.Shape.OutputTokens *= 2 },
		"arrivals":           func(w *planner.Workload, _ *queueing.Replica) { w.Shape.ArrivalSCV = 4 },
		"prefix hits":        func(w *planner.Workload, _ *queueing.Replica) { w.Shape.PrefixHitRatio = 0.5 },
		"profile":            func(_ *planner.Workload, r *queueing.Replica) { r.Profile.Alpha *= 1.5 },
		"batch":              func(_ *planner.Workload, r *queueing.Replica) { r.MaxBatch = 32 },
		"waiting places":     func(_ *planner.Workload, r *queueing.Replica) { r.MaxQueue.Places = 1 },
		"KV cache":           func(_ *planner.Workload, r *queueing.Replica) { r.KVCacheTokens = 20_000 },
		"model":              func(_ *planner.Workload, r *queueing.Replica) { r.Model = queueing.LLMDV0 },
		"speculative tokens": func(_ *planner.Workload, r *queueing.Replica) { r.AcceptedTokens = 2 },
	} {
		w, replica := base.Workloads[0], *base.Workloads[0].Variants[0].Replica
		w.Name, w.Variants, w.SLO.Limits = name, slices.Clone(w.Variants), slices.Clone(w.SLO.Limits)
		w.Variants[0].Replica = &replica
		change(&w, &replica)
		together.Workloads, names = append(together.Workloads, w), append(names, name)
	}
	p := planner.New(lp.Simplex())
	sizes, err := p.Capacities(together)
	require.NoError(t, err)
	for i, name := range names {
		alone := base
		alone.Workloads = together.Workloads[i+1 : i+2]
		want, err := p.Capacities(alone)
		require.NoError(t, err)
		assert.Equal(t, want[0], sizes[i+1], name)
		assert.NotEqual(t, sizes[0], sizes[i+1], "%s makes no difference", name)
	}
}
