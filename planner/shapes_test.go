package planner_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// lengths is a shape of random lengths and Poisson arrivals.
func lengths(in, out queueing.Tokens) queueing.Shape {
	return queueing.Shape{InputTokens: in, OutputTokens: out, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}
}

// estimate is a replica of an 8B model on one H100 or A100.
func estimate(name string, pool int) planner.Variant {
	v := declared(name, pool, 0)
	v.Replica = &queueing.Replica{
		Profile:  queueing.Profile{Alpha: 7.48e-3, Beta: 3.29e-5, Delta: 2.84e-5, Kappa: 4.3e-8, Epsilon: 9.64e-10, TTFTOffset: 14e-3},
		MaxBatch: 256, KVCacheTokens: 449_000,
	}
	if pool == 1 {
		v.Replica.Profile.Alpha, v.Replica.Profile.Delta, v.Replica.Profile.Epsilon = 10.6e-3, 9.01e-5, 3.06e-9
	}
	return v
}

var interactive = queueing.SLO{Limits: []queueing.Limit{
	{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}, {Metric: queueing.ITL, Quantile: 0.95, Value: 0.05},
}}

// shaped is a fleet of one workload with shapes.
func shaped(rate queueing.Rate, shapes []planner.ShapeShare, variants ...planner.Variant) planner.Fleet {
	f := twoPools(rate, variants...)
	f.Workloads[0].Shapes, f.Workloads[0].SLO = shapes, interactive
	return f
}

// A rare shape that is slow to serve needs few replicas, whatever all demand would need at its pace.
func TestRareShapeIsServedAtAnyDemand(t *testing.T) {
	shapes := []planner.ShapeShare{{Share: 0.01, Shape: lengths(4000, 400)}, {Share: 0.99, Shape: lengths(100, 20)}}
	sizes, err := planner.New(lp.Simplex()).Capacities(shaped(10, shapes, estimate("h", 0)))
	require.NoError(t, err)
	f := shaped(2e6*sizes[0][0].Shapes[0].Served, shapes, estimate("h", 0))
	f.Pools[0].Capacity = optimizer.Bound{}
	d := plan(t, planner.Snapshot{Fleet: f})
	assert.Equal(t, optimizer.Served, d.Demand)
}

func TestEachShapeIsSizedAlone(t *testing.T) {
	shapes := []planner.ShapeShare{{Share: 0.75, Shape: lengths(200, 200)}, {Share: 0.25, Shape: lengths(2000, 100)}}
	sizes, err := planner.New(lp.Simplex()).Capacities(shaped(10, shapes, estimate("h", 0)))
	require.NoError(t, err)
	mixed := sizes[0][0]
	time := 0.0
	for s := range shapes {
		alone := shaped(10, nil, estimate("h", 0))
		alone.Workloads[0].Shape = shapes[s].Shape
		want, err := planner.New(lp.Simplex()).Capacities(alone)
		require.NoError(t, err)
		assert.Equal(t, want[0][0].Served, mixed.Shapes[s].Served)
		time += shapes[s].Share / float64(mixed.Shapes[s].Served)
	}
	assert.InEpsilon(t, 1/time, float64(mixed.Served), 1e-12)
}

// The A100 decodes as cheaply and computes prompts at a third of the speed.
func TestShapesAreRoutedToWhereTheyAreCheap(t *testing.T) {
	shapes := []planner.ShapeShare{{Share: 0.4, Shape: lengths(100, 900)}, {Share: 0.6, Shape: lengths(3000, 100)}}
	f := shaped(16, shapes, estimate("h", 0), estimate("a", 1))
	d := plan(t, planner.Snapshot{Fleet: f})
	p := d.Plans[0]
	require.Equal(t, optimizer.Served, d.Demand)
	for s := range shapes {
		assert.InDelta(t, 1, p.Variants[0].ShapeShares[s]+p.Variants[1].ShapeShares[s], 1e-9)
	}
	assert.Greater(t, p.Variants[1].ShapeShares[0], 0.5)
	assert.Greater(t, p.Variants[0].ShapeShares[1], 0.9)
	assert.InDelta(t, 1, p.Variants[0].Share+p.Variants[1].Share, 1e-9)
	require.NotNil(t, p.Prediction)
	assert.Less(t, float64(p.Prediction.TTFT.P95), 1.0)
	assert.Less(t, float64(p.Prediction.ITL.P95), 0.06)

	// As one shape by its moments every replica would get every request.
	f.Workloads[0].Shape = planner.MixShapes([]queueing.Shape{shapes[0].Shape, shapes[1].Shape}, []float64{0.4, 0.6})
	f.Workloads[0].Shapes = nil
	alike := plan(t, planner.Snapshot{Fleet: f})
	assert.LessOrEqual(t, d.PricePerHour, alike.PricePerHour)
}

func TestAShapeThatHoldsNoLimitIsUnmet(t *testing.T) {
	shapes := []planner.ShapeShare{{Share: 0.9, Shape: lengths(200, 200)}, {Share: 0.1, Shape: lengths(60_000, 100)}}
	d := plan(t, planner.Snapshot{Fleet: shaped(10, shapes, estimate("h", 0))})
	assert.Equal(t, optimizer.Partial, d.Demand)
	assert.InDelta(t, 1, float64(d.Plans[0].Unmet), 1e-9)
	assert.InDelta(t, 9, float64(d.Plans[0].Served), 1e-9)
}

// tails are the 95th percentiles of TTFT and ITL over all requests of a replica that
// gets each shape for a part of its time.
func tails(t *testing.T, v *planner.Variant, size *planner.Size, shapes []planner.ShapeShare, parts []float64) (ttft, itl float64) {
	t.Helper()
	var all []replica.Request
	for s, part := range parts {
		if part == 0 {
			continue
		}
		arrivals, err := replica.Load{
			Shape: shapes[s].Shape, Seed: uint64(s + 1),
			Phases: []replica.Phase{{Duration: 4000, Rate: size.Shapes[s].Served * queueing.Rate(part)}},
		}.Arrivals()
		require.NoError(t, err)
		all = slices.AppendSeq(all, arrivals)
	}
	slices.SortFunc(all, func(a, b replica.Request) int { return cmp.Compare(a.Arrival, b.Arrival) })
	r, err := replica.New(*v.Replica)
	require.NoError(t, err)
	var ttfts, itls []float64
	for c := range replica.Serve(r, slices.Values(all)) {
		if c.Arrival < 400 {
			continue
		}
		ttfts = append(ttfts, float64(c.TTFT()))
		if c.Output > 1 {
			itls = append(itls, float64(c.ITL()))
		}
	}
	slices.Sort(ttfts)
	slices.Sort(itls)
	return ttfts[len(ttfts)*95/100], itls[len(itls)*95/100]
}

// Rates over capacities add up to 1 where a replica serves several shapes. Simulated,
// the mix is then at most a tenth worse than the worse of its shapes alone, or keeps
// the limit anyway.
func TestCapacityOfShapesAddsUp(t *testing.T) {
	v := estimate("h", 0)
	for _, pair := range [][2]queueing.Shape{
		{lengths(200, 200), lengths(1500, 100)},
		{lengths(200, 500), lengths(200, 50)},
		{lengths(300, 300), lengths(4000, 150)},
		{lengths(1000, 20), lengths(100, 800)},
	} {
		shapes := []planner.ShapeShare{{Share: 0.5, Shape: pair[0]}, {Share: 0.5, Shape: pair[1]}}
		sizes, err := planner.New(lp.Simplex()).Capacities(shaped(10, shapes, v))
		require.NoError(t, err)
		size := &sizes[0][0]
		worstTTFT, worstITL := 1.0, 0.05
		for s := range pair {
			parts := []float64{0, 0}
			parts[s] = 1
			ttft, itl := tails(t, &v, size, shapes, parts)
			worstTTFT, worstITL = max(worstTTFT, ttft), max(worstITL, itl)
		}
		for _, part := range []float64{0.25, 0.5, 0.75} {
			t.Run(fmt.Sprintf("%v and %v of %v", part, 1-part, pair), func(t *testing.T) {
				ttft, itl := tails(t, &v, size, shapes, []float64{part, 1 - part})
				assert.LessOrEqual(t, ttft, 1.1*worstTTFT)
				assert.LessOrEqual(t, itl, 1.1*worstITL)
			})
		}
	}
}

// paired is a prefill and a decode variant.
func paired() (prefill, decode planner.Variant) {
	prefill, decode = estimate("prefill", 0), estimate("decode", 1)
	prefill.Role, decode.Role = optimizer.Prefill, optimizer.Decode
	prefill.Transfer = queueing.Transfer{Base: 5e-3, PerToken: 4e-6}
	return prefill, decode
}

func TestPhasesArePlannedAsPairs(t *testing.T) {
	prefill, decode := paired()
	f := shaped(20, nil, prefill, decode)
	f.Workloads[0].Shape = lengths(2000, 200)
	d := plan(t, planner.Snapshot{Fleet: f})
	p := d.Plans[0]
	require.Equal(t, optimizer.Served, d.Demand)

	tandem, err := queueing.NewTandem(queueing.Disaggregated{
		Prefill: *prefill.Replica, Decode: *decode.Replica, PrefillReplicas: 1, DecodeReplicas: 1, Transfer: prefill.Transfer,
	}, f.Workloads[0].Shape)
	require.NoError(t, err)
	c, err := tandem.Capacity(interactive)
	require.NoError(t, err)
	assert.Equal(t, []int{int(math.Ceil(20 / float64(c.PrefillRate))), int(math.Ceil(20 / float64(c.DecodeRate)))}, totals(&d, 0))
	assert.Equal(t, "ttft.p95", p.Variants[0].Size.Binding)
	assert.Equal(t, "itl.p95", p.Variants[1].Size.Binding)
	assert.InDelta(t, 1, p.Variants[0].Share, 1e-9)
	assert.InDelta(t, 1, p.Variants[1].Share, 1e-9)

	// The prediction is that of the deployment as it is planned.
	whole, err := queueing.NewTandem(queueing.Disaggregated{
		Prefill: *prefill.Replica, Decode: *decode.Replica, Transfer: prefill.Transfer,
		PrefillReplicas: p.Variants[0].Total(), DecodeReplicas: p.Variants[1].Total(),
	}, f.Workloads[0].Shape)
	require.NoError(t, err)
	want := whole.Evaluate(20)
	require.NotNil(t, p.Prediction)
	assert.InEpsilon(t, float64(want.TTFT.Mean()), float64(p.Prediction.TTFT.Mean), 1e-6)
	assert.InEpsilon(t, float64(want.ITL.Mean()), float64(p.Prediction.ITL.Mean), 1e-6)
	assert.InEpsilon(t, float64(whole.SaturationRate()), float64(p.Prediction.Saturation), 1e-6)
}

// What limits a pair is the limit of the phase that comes nearer to its own, whatever the rate.
func TestTheBusierPhaseLimitsAPair(t *testing.T) {
	prefill, decode := paired()
	f := shaped(1, nil, prefill, decode)
	f.Workloads[0].Shape = lengths(2000, 200)
	seen := map[string]bool{}
	for rate := queueing.Rate(1); rate <= 40; rate++ {
		f.Workloads[0].ArrivalRate = rate
		p := plan(t, planner.Snapshot{Fleet: f}).Plans[0]
		load := func(j int) float64 {
			return float64(rate) / float64(p.Variants[j].Size.Served) / float64(p.Variants[j].Total())
		}
		want := p.Variants[0].Size.Binding
		if load(1) > load(0) {
			want = p.Variants[1].Size.Binding
		}
		assert.Equal(t, want, p.Binding, "%v requests/s", rate)
		seen[want] = true
	}
	assert.Len(t, seen, 2, "either phase is the busier one at some rate")
}

// Of several partners the least suitable decides.
func TestPhasesCountOnTheLeastPartner(t *testing.T) {
	prefill, decode := paired()
	slow := decode
	slow.Name, slow.Replica = "slow", new(queueing.Replica)
	*slow.Replica = *decode.Replica
	slow.Replica.Profile.Alpha *= 2
	f := shaped(20, nil, prefill, decode, slow)
	f.Workloads[0].SLO.Limits = []queueing.Limit{{Metric: queueing.E2E, Value: 8}}
	f.Workloads[0].Shape = lengths(2000, 200)
	both, err := planner.New(lp.Simplex()).Capacities(f)
	require.NoError(t, err)
	f.Workloads[0].Variants = []planner.Variant{prefill, slow}
	alone, err := planner.New(lp.Simplex()).Capacities(f)
	require.NoError(t, err)
	assert.Equal(t, alone[0][0].Served, both[0][0].Served)
}

func TestPhasesServeShapes(t *testing.T) {
	prefill, decode := paired()
	shapes := []planner.ShapeShare{{Share: 0.7, Shape: lengths(200, 300)}, {Share: 0.3, Shape: lengths(3000, 100)}}
	d := plan(t, planner.Snapshot{Fleet: shaped(20, shapes, prefill, decode, estimate("both", 0))})
	p := d.Plans[0]
	require.Equal(t, optimizer.Served, d.Demand)
	for s := range shapes {
		assert.InDelta(t, p.Variants[0].ShapeShares[s], p.Variants[1].ShapeShares[s], 1e-9)
		assert.InDelta(t, 1, p.Variants[0].ShapeShares[s]+p.Variants[2].ShapeShares[s], 1e-9)
	}
	require.NotNil(t, p.Prediction)
	assert.False(t, p.Prediction.Saturated)
}

func TestAFleetAsItStandsIsRouted(t *testing.T) {
	prefill, decode := paired()
	prefill.CurrentReplicas, decode.CurrentReplicas = 2, 2
	f := shaped(5, []planner.ShapeShare{{Share: 0.5, Shape: lengths(200, 300)}, {Share: 0.5, Shape: lengths(3000, 100)}}, prefill, decode)
	d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: f}, planner.Memory{})
	require.NoError(t, err)
	p := d.Plans[0]
	assert.Equal(t, optimizer.Served, d.Demand)
	assert.Equal(t, []float64{1, 1}, p.Variants[0].ShapeShares)
	assert.Contains(t, p.Reason, "2 × prefill + 2 × decode for 5 requests/s")
	require.NotNil(t, p.Prediction)
	assert.Positive(t, p.Prediction.TTFT.Mean)
}

// Replicas of one phase serve nothing without the other, and no limit is to blame.
func TestAPhaseWithoutTheOtherIsNamed(t *testing.T) {
	for _, test := range []struct {
		prefill, decode int
		reason          string
	}{
		{2, 0, "2 × prefill serve nothing: no replica decodes"},
		{0, 3, "3 × decode serve nothing: no replica prefills"},
		{0, 0, "no replica runs"},
	} {
		prefill, decode := paired()
		prefill.CurrentReplicas, decode.CurrentReplicas = test.prefill, test.decode
		d, _, err := planner.New(lp.Simplex()).Evaluate(planner.Snapshot{Fleet: shaped(5, nil, prefill, decode)}, planner.Memory{})
		require.NoError(t, err)
		assert.Equal(t, test.reason, d.Plans[0].Reason)
		assert.Equal(t, "currentReplicas", d.Plans[0].Binding)
		assert.Equal(t, optimizer.Partial, d.Demand)
	}
}

// Held and idle workloads have shares like planned ones: those of all shapes add up, each
// phase has the traffic of the other, and no variant has requests that it can't serve.
func TestSharesOfHeldAndIdleWorkloads(t *testing.T) {
	prefill, decode := paired()
	both, short := estimate("both", 0), estimate("short", 1)
	short.Replica.KVCacheTokens = 1000 // too few for the second shape
	variants := []planner.Variant{prefill, decode, both, short}
	for j := range variants {
		variants[j].CurrentReplicas, variants[j].MinReplicas = 1, 1
	}
	shapes := []planner.ShapeShare{{Share: 0.5, Shape: lengths(200, 300)}, {Share: 0.5, Shape: lengths(3000, 100)}}
	for name, s := range map[string]planner.Snapshot{
		"held": {Fleet: shaped(5, shapes, variants...), Observations: []planner.Observation{}},
		"idle": {Fleet: shaped(0, shapes, variants...)},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, s).Plans[0]
			require.Equal(t, name == "held", p.Held)
			v := p.Variants
			for s := range shapes {
				assert.InDelta(t, v[0].ShapeShares[s], v[1].ShapeShares[s], 1e-9)
				assert.InDelta(t, 1, v[0].ShapeShares[s]+v[2].ShapeShares[s]+v[3].ShapeShares[s], 1e-9)
			}
			assert.Zero(t, v[3].ShapeShares[1])
			assert.InDelta(t, 1, v[0].Share+v[2].Share+v[3].Share, 1e-9)
			assert.InDelta(t, v[0].Share, v[1].Share, 1e-9)
		})
	}
}

// A mix has the moments of all its requests.
func TestMixHasTheMomentsOfItsShapes(t *testing.T) {
	short := queueing.Shape{InputTokens: 100, OutputTokens: 1000, ArrivalSCV: 2}
	long := queueing.Shape{InputTokens: 1000, OutputTokens: 100, ArrivalSCV: 2}
	m := planner.MixShapes([]queueing.Shape{short, long}, []float64{1, 1})
	assert.InDelta(t, 550, float64(m.InputTokens), 1e-9)
	assert.InDelta(t, math.Pow(450.0/550, 2), m.InputSCV, 1e-12)
	assert.InDelta(t, -1, m.LengthCorrelation, 1e-12)
	assert.InDelta(t, 2, m.ArrivalSCV, 0)

	varied := queueing.Shape{InputTokens: 500, OutputTokens: 200, InputSCV: 1.5, OutputSCV: 0.8, LengthCorrelation: 0.3}
	m = planner.MixShapes([]queueing.Shape{varied, varied}, []float64{2, 5})
	assert.InDelta(t, 0.3, m.LengthCorrelation, 1e-9, "of equal shapes nothing changes")

	// x·y is 500·200·(1 + 0.3·√1.2) on average in two of three requests, and 100·1000 in the third.
	m = planner.MixShapes([]queueing.Shape{varied, short}, []float64{2, 1})
	covariance := (2*1e5*(1+0.3*math.Sqrt(1.2))+1e5)/3 - float64(m.InputTokens*m.OutputTokens)
	assert.InDelta(t, covariance/float64(m.InputTokens*m.OutputTokens)/math.Sqrt(m.InputSCV*m.OutputSCV), m.LengthCorrelation, 1e-9)
}
