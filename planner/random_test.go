package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/short"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// oneOf draws one of a few values, so that workloads often have most of them in common.
func oneOf[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// randomFleet has some workloads on two unlimited pools, some of them the same model for another service class.
func randomFleet(r *rand.Rand) planner.Fleet {
	f := twoPools(0)
	for g := range f.Pools {
		f.Pools[g].Capacity = optimizer.Bound{}
	}
	f.Objective.RelativeGap = 0
	f.Workloads = nil
	for i := range 1 + r.IntN(6) {
		w := randomWorkload(r, fmt.Sprintf("w%d", i))
		if i > 0 && r.IntN(2) == 0 {
			class := f.Workloads[r.IntN(i)]
			class.Name, class.ArrivalRate, class.SLO = w.Name, w.ArrivalRate, w.SLO
			w = class
		}
		f.Workloads = append(f.Workloads, w)
	}
	return f
}

func randomShape(r *rand.Rand) queueing.Shape {
	return queueing.Shape{
		InputTokens: oneOf[queueing.Tokens](r, 256, 1024), OutputTokens: oneOf[queueing.Tokens](r, 128, 512),
		InputSCV: oneOf(r, 0.0, 1), OutputSCV: 1, ArrivalSCV: oneOf(r, 0.3, 1, 3), PrefixHitRatio: oneOf(r, 0, 0.5), LengthCorrelation: oneOf(r, 0, 0.6),
	}
}

func randomWorkload(r *rand.Rand, name string) planner.Workload {
	w := planner.Workload{
		Namespace: oneOf(r, "prod", "test"), Name: name, Priority: 1 + r.IntN(2), ArrivalRate: oneOf[queueing.Rate](r, 0, 3, 20, 90), Shape: randomShape(r),
		Mixing: oneOf(r, optimizer.Allowed, optimizer.Single), Redundancy: oneOf(r, 0, 0, 1), MinReplicas: oneOf(r, 0, 0, 2),
	}
	for _, metric := range []queueing.Metric{queueing.TTFT, queueing.ITL, queueing.E2E} {
		if r.IntN(2) == 0 {
			value := map[queueing.Metric]float64{queueing.TTFT: 0.25, queueing.ITL: 0.025, queueing.E2E: 9}[metric]
			w.SLO.Limits = append(w.SLO.Limits, queueing.Limit{Metric: metric, Quantile: oneOf(r, 0, 0.9, 0.95), Value: value * oneOf(r, 0.4, 1, 2)})
		}
	}
	if r.IntN(4) == 0 {
		w.Shapes = []planner.ShapeShare{{Share: 0.75, Shape: w.Shape}, {Share: 0.25, Shape: w.Shape}}
		w.Shapes[1].Shape.InputTokens, w.Shapes[1].Shape.OutputTokens = oneOf[queueing.Tokens](r, 128, 2048), oneOf[queueing.Tokens](r, 64, 512)
		w.Shape = planner.MixShapes([]queueing.Shape{w.Shapes[0].Shape, w.Shapes[1].Shape}, []float64{0.75, 0.25})
	}
	roles := oneOf(r, []optimizer.Phase{optimizer.Whole}, []optimizer.Phase{optimizer.Whole, optimizer.Whole},
		[]optimizer.Phase{optimizer.Whole, optimizer.Prefill, optimizer.Decode})
	for j, role := range roles {
		v := profiled(fmt.Sprintf("v%d", j), r.IntN(2))
		v.Role, v.DevicesPerReplica = role, oneOf(r, 1, 2)
		v.Replica.Profile.Alpha *= oneOf(r, 1, 1.5)
		v.Replica.Profile.Delta *= oneOf(r, 1.0, 10)
		v.Replica.MaxBatch = oneOf(r, 64, 256)
		v.Replica.KVCacheTokens = oneOf[queueing.Tokens](r, 0, 60_000)
		v.Replica.MaxQueue = oneOf(r, queueing.Waiting{}, queueing.Waiting{Limited: true, Places: 50})
		v.Replica.MaxBatchedTokens, v.Replica.PrefillMode = oneOf[queueing.Tokens](r, 0, 1024), oneOf(r, queueing.Chunked, queueing.Blocking)
		v.Replica.AcceptedTokens = oneOf(r, 0.0, 1.5)
		if len(roles) < 3 { // no other model has phases
			v.Replica.Model = oneOf(r, queueing.ContinuousBatching, queueing.LLMDV0, queueing.LLMDV1, queueing.LLMDV2, queueing.LLMDV3)
		}
		v.MinReplicas = oneOf(r, 0, 0, 0, 1)
		v.CurrentReplicas, v.SwitchUp, v.SwitchDown = r.IntN(3), oneOf(r, 0, 0.3), oneOf(r, 0, 0.1)
		if role != optimizer.Whole {
			w.Mixing = optimizer.Allowed
			v.Transfer = queueing.Transfer{Base: oneOf[queueing.Seconds](r, 0, 0.01)}
		}
		w.Variants = append(w.Variants, v)
	}
	return w
}

// keeps tells whether latencies keep a limit, which is one of a percentile that they have or of the mean. Others aren't looked at.
func keeps(p *planner.Prediction, l queueing.Limit) bool {
	of := map[queueing.Metric]planner.Quantiles{queueing.TTFT: p.TTFT, queueing.ITL: p.ITL, queueing.E2E: p.E2E}[l.Metric]
	at := map[float64]queueing.Seconds{0: of.Mean, 0.9: of.P90, 0.95: of.P95}[l.Quantile]
	return float64(at) <= l.Value*(1+1e-6)
}

// Where pools don't limit anything, a workload is planned as if it were alone, and what is predicted for its replicas is within its SLO.
func TestUnlimitedFleetsAreWorkloadsAlone(t *testing.T) {
	p := planner.New(lp.Simplex())
	predicted := 0
	seeds := short.Of(500)
	for seed := range seeds {
		f := randomFleet(rand.New(rand.NewPCG(1, uint64(seed))))
		together, _, err := p.Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
		require.NoError(t, err, "seed %d", seed)
		cost := 0.0
		for i := range f.Workloads {
			w, plan := &f.Workloads[i], &together.Plans[i]
			alone := f
			alone.Workloads = slices.Clone(f.Workloads[i : i+1])
			one, _, err := p.Plan(planner.Snapshot{Fleet: alone}, planner.Memory{}, nil)
			require.NoError(t, err, "seed %d", seed)
			cost += one.Solution.Objective
			for j := range w.Variants {
				assert.Equal(t, one.Plans[0].Variants[j].Size, plan.Variants[j].Size, "seed %d: %s of %s", seed, w.Variants[j].Name, w.Name)
			}
			assert.InDelta(t, float64(one.Plans[0].Unmet), float64(plan.Unmet), 1e-6, "seed %d: %s", seed, w.Name)
			if plan.Unmet > 0 || plan.Prediction == nil || len(w.Shapes) > 0 {
				continue // of all shapes together only means are known
			}
			predicted++
			for _, limit := range w.SLO.Limits {
				assert.True(t, keeps(plan.Prediction, limit), "seed %d: %s: %s %g: %+v", seed, w.Name, limit, limit.Value, plan.Prediction)
			}
		}
		assert.InEpsilon(t, 1+cost, 1+together.Solution.Objective, 1e-6, "seed %d", seed)
	}
	assert.Greater(t, predicted, seeds)
}
