package planner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/queueing"
)

// loop plans a fleet again and again, and does at once what is asked for.
type loop struct {
	t      *testing.T
	fleet  planner.Fleet
	memory planner.Memory
	now    time.Time
}

func newLoop(t *testing.T, f planner.Fleet) *loop {
	t.Helper()
	return &loop{t: t, fleet: f, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

// cycle observes, plans, changes replicas and passes the time of a cycle.
func (l *loop) cycle(observations ...planner.Observation) planner.Decision {
	l.t.Helper()
	if observations == nil {
		observations = []planner.Observation{}
	}
	d, memory, err := planner.New(lp.Simplex()).Plan(
		planner.Snapshot{Now: l.now, Fleet: l.fleet, Observations: observations}, l.memory, nil)
	require.NoError(l.t, err)
	l.memory = memory
	for _, c := range d.Changes {
		l.variant(c.Workload, c.Variant).CurrentReplicas = c.To
	}
	l.now = l.now.Add(planner.DefaultCycle)
	return d
}

func (l *loop) variant(workload, variant string) *planner.Variant {
	for i := range l.fleet.Workloads {
		w := &l.fleet.Workloads[i]
		for j := range w.Variants {
			if w.QualifiedName() == workload && w.Variants[j].Name == variant {
				return &w.Variants[j]
			}
		}
	}
	require.Fail(l.t, "no such variant", "%s %s", workload, variant)
	return nil
}

func rate(value float64) planner.Measurement {
	return planner.Measurement{State: planner.Fresh, Value: value}
}

// changes of a decision, such as "chat-h100 0→3".
func changes(d *planner.Decision) []string {
	var all []string
	for _, c := range d.Changes {
		all = append(all, fmt.Sprintf("%s %d→%d", c.Variant, c.From, c.To))
	}
	return all
}

func chat(o planner.Observation) planner.Observation {
	o.Workload = "prod/chat"
	return o
}

// Arrivals are completions and the growth of what is inside, not completions alone.
func TestArrivalsAreReconstructed(t *testing.T) {
	f := twoPools(0, declared("chat-a100", 1, 4))
	l := newLoop(t, f)
	first := l.cycle(chat(planner.Observation{CompletionRate: rate(8), Running: rate(10), Waiting: rate(0)}))
	assert.Equal(t, []planner.Condition{{Type: planner.DemandIncomplete, Message: "completed, which does not show a backlog"}},
		first.Plans[0].Conditions, "before the first difference")
	d := l.cycle(chat(planner.Observation{CompletionRate: rate(8), Running: rate(20), Waiting: rate(50)}))
	assert.InDelta(t, 8+60./15, float64(d.Plans[0].Expected.Observed), 1e-12)
	assert.InDelta(t, 50+15*(12-2*4), d.Plans[0].Expected.Queue, 1e-9, "two replicas of 4/s, until others could be ready")
	assert.InDelta(t, (50+15*(12-2*4))/120., float64(d.Plans[0].Expected.Backlog), 1e-12)
	assert.Equal(t, "8/s completed, and +4/s inside", d.Trail[0].Reason)
	assert.Empty(t, d.Plans[0].Conditions)
}

// Completions are means over a window, and so is the growth that is added to them: 20/s
// arrive all the time here, while a queue is drained that formed before.
func TestGrowthIsOverTheWindowOfCompletions(t *testing.T) {
	l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
	completed := []float64{10, 10, 10, 10, 30, 30, 30, 30, 20, 20}
	waiting := 0.
	for k, now := range completed {
		mean := (completed[max(0, k-3)] + completed[max(0, k-2)] + completed[max(0, k-1)] + now) / 4
		waiting += 15 * (20 - now)
		d := l.cycle(chat(planner.Observation{Window: time.Minute, CompletionRate: rate(mean), Running: rate(40), Waiting: rate(waiting)}))
		if k > 0 {
			assert.InDelta(t, 20, float64(d.Plans[0].Expected.Observed), 1e-9, "cycle %d", k)
		}
	}
	assert.Zero(t, waiting)
}

// What only some replicas report adds, and never takes away.
func TestIncompleteNeverTakesAway(t *testing.T) {
	l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
	l.fleet.Control.Policy = planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}
	l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
	require.Equal(t, 5, l.variant("prod/chat", "chat-a100").CurrentReplicas)
	incomplete := planner.Measurement{State: planner.Incomplete, Value: 3}
	for range 3 {
		d := l.cycle(chat(planner.Observation{ArrivalRate: incomplete}))
		assert.Empty(t, d.Changes)
		assert.Equal(t, planner.DemandIncomplete, d.Plans[0].Conditions[0].Type)
	}
	incomplete.Value = 27
	d := l.cycle(chat(planner.Observation{ArrivalRate: incomplete}))
	assert.Equal(t, []string{"chat-a100 5→7"}, changes(&d))
}

func TestPausedIsNotEvenRaised(t *testing.T) {
	f := twoPools(0, declared("chat-a100", 1, 4))
	f.Workloads[0].MinReplicas = 2
	now := time.Unix(1000, 0)
	paused := func(until time.Time) planner.Decision {
		d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{
			Now: now, Fleet: f, Observations: []planner.Observation{chat(planner.Observation{ArrivalRate: rate(20)})},
			Paused: []planner.Pause{{Workload: "prod/chat", Reason: "maintenance", Until: until}},
		}, planner.Memory{}, nil)
		require.NoError(t, err)
		return d
	}
	d := paused(now.Add(time.Second))
	assert.Empty(t, d.Changes)
	assert.Equal(t, []planner.Condition{{Type: planner.Paused, Message: "maintenance"}}, d.Plans[0].Conditions)
	d = paused(time.Time{})
	assert.Empty(t, d.Changes)
	d = paused(now)
	assert.Equal(t, []string{"chat-a100 0→5"}, changes(&d), "the pause is over")
}

func TestVariantWithoutProfileIsNeverScaled(t *testing.T) {
	unknown := declared("chat-h100", 0, 0)
	unknown.CurrentReplicas = 3
	l := newLoop(t, twoPools(0, unknown, declared("chat-a100", 1, 4)))
	l.fleet.Control.Policy = planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}
	for _, demand := range []float64{20, 0, 0} {
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(demand)}))
		assert.Equal(t, planner.ProfileMissing, d.Plans[0].Conditions[0].Type)
		assert.Equal(t, 3, l.variant("prod/chat", "chat-h100").CurrentReplicas)
	}
	assert.Less(t, l.variant("prod/chat", "chat-a100").CurrentReplicas, 5)
}

// rivals are an important and an unimportant workload on one pool of 8 devices.
func rivals() planner.Fleet {
	f := twoPools(0, declared("chat-h100", 0, 1))
	other := f.Workloads[0]
	other.Name, other.Priority, other.Variants = "batch", 2, []planner.Variant{declared("batch-h100", 0, 1)}
	f.Workloads = append(f.Workloads, other)
	return f
}

func demands(chatRate, batchRate float64) []planner.Observation {
	return []planner.Observation{
		{Workload: "prod/chat", ArrivalRate: rate(chatRate)}, {Workload: "prod/batch", ArrivalRate: rate(batchRate)},
	}
}

// A window guards against a change of mind, not against a need: the important workload
// gets its devices at once, as soon as they are free.
func TestWindowYieldsToPriority(t *testing.T) {
	l := newLoop(t, rivals())
	l.cycle(demands(2, 6)...)
	d := l.cycle(demands(5, 6)...)
	assert.Equal(t, []string{"batch-h100 6→3"}, changes(&d))
	assert.Contains(t, d.Changes[0].Reason, "3 requests/s unmet because of pool/h100")
	assert.Equal(t, planner.Waiting, d.Plans[0].Conditions[0].Type)
	assert.Contains(t, d.Plans[0].Conditions[0].Message, "waits for devices of pool/h100")

	l.variant("prod/batch", "batch-h100").LeavingReplicas = 3
	d = l.cycle(demands(5, 6)...)
	assert.Empty(t, d.Changes, "devices are still held")
	l.variant("prod/batch", "batch-h100").LeavingReplicas = 0
	d = l.cycle(demands(5, 6)...)
	assert.Equal(t, []string{"chat-h100 2→5"}, changes(&d))
}

func TestWindowHoldsAmongEquals(t *testing.T) {
	f := rivals()
	f.Workloads[1].Priority = 1
	l := newLoop(t, f)
	l.cycle(demands(2, 6)...)
	d := l.cycle(demands(5, 5)...)
	assert.Empty(t, d.Changes)
	assert.Equal(t, planner.DemandUnmet, d.Plans[0].Conditions[0].Type)
}

// A full pool: what moves away from it waits for its successor, and what moves onto it
// for the devices. The smallest removal that keeps the observed demand served breaks the tie.
func TestFullPoolMoves(t *testing.T) {
	h, a := declared("chat-h100", 0, 1), declared("chat-a100", 1, 1)
	h.CurrentReplicas = 8
	f := twoPools(0, h, a)
	f.Pools[0].PricePerHour = 9
	f.Control.Policy = planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}
	l := newLoop(t, f)
	d := l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
	assert.Equal(t, []string{"chat-a100 0→8"}, changes(&d))
	l.variant("prod/chat", "chat-a100").StartingReplicas = 5
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
	assert.Equal(t, []string{"chat-h100 8→5"}, changes(&d), "3 of 8 successors are ready")
	assert.Contains(t, d.Changes[0].Reason, "waits until the replicas that take its place are ready")
	l.variant("prod/chat", "chat-a100").StartingReplicas = 0
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
	assert.Equal(t, []string{"chat-h100 5→0"}, changes(&d))
}

// Two workloads change places on full pools, a spare replica at a time.
func TestSwapOnFullPools(t *testing.T) {
	f := rivals()
	f.Control.Policy = planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}
	f.Pools[0].Capacity, f.Pools[1].Capacity = atMost(4), atMost(4)
	// chat is served best by a100, batch by h100; they run the other way round.
	ca, bh := declared("chat-a100", 1, 1), declared("batch-h100", 0, 1)
	f.Workloads[0].Variants = []planner.Variant{declared("chat-h100", 0, 1), ca}
	f.Workloads[1].Variants = []planner.Variant{bh, declared("batch-a100", 1, 1)}
	f.Workloads[0].Variants[0].PricePerReplicaHour, f.Workloads[0].Variants[0].Priced = 50, true
	f.Workloads[0].Variants[0].CurrentReplicas, f.Workloads[1].Variants[1].CurrentReplicas = 4, 4
	l := newLoop(t, f)
	for range 40 {
		before := l.fleet
		d := l.cycle(demands(3, 3)...)
		used := map[int]int{}
		for i := range before.Workloads {
			for j := range before.Workloads[i].Variants {
				v := &before.Workloads[i].Variants[j]
				used[v.Pools[0]] += v.CurrentReplicas
			}
		}
		assert.LessOrEqual(t, used[0], 4)
		assert.LessOrEqual(t, used[1], 4)
		for i := range d.Plans {
			assert.GreaterOrEqual(t, l.serving(i), 3.0)
		}
		if len(d.Changes) == 0 {
			break
		}
	}
	assert.Equal(t, 3, l.variant("prod/chat", "chat-a100").CurrentReplicas)
	assert.Equal(t, 2, l.variant("prod/batch", "batch-h100").CurrentReplicas, "one stays on the cheaper pool")
}

// serving is what the replicas of a workload sustain, which all serve one request/s.
func (l *loop) serving(workload int) float64 {
	total := 0
	for j := range l.fleet.Workloads[workload].Variants {
		total += l.fleet.Workloads[workload].Variants[j].CurrentReplicas
	}
	return float64(total)
}

// For a saving alone nothing is taken that serves.
func TestSavingIsNotWorthAnOutage(t *testing.T) {
	small, big := declared("chat-small", 0, 2), declared("chat-big", 0, 17)
	big.DevicesPerReplica, small.CurrentReplicas = 6, 3
	f := twoPools(0, small, big)
	f.Workloads[0].Variants[1].PricePerReplicaHour, f.Workloads[0].Variants[1].Priced = 1, true
	l := newLoop(t, f)
	for range 60 {
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(5)}))
		assert.Empty(t, d.Changes)
	}
}

// Overload does not bind the replicas that keep a workload from being served.
func TestOwnWindowDoesNotStarve(t *testing.T) {
	big, small := declared("chat-big", 0, 15), declared("chat-small", 0, 10)
	big.DevicesPerReplica, small.DevicesPerReplica = 6, 2
	big.CurrentReplicas, small.CurrentReplicas = 1, 1
	l := newLoop(t, twoPools(0, big, small))
	for range 8 {
		l.cycle(chat(planner.Observation{ArrivalRate: rate(34)}))
	}
	assert.Equal(t, 0, l.variant("prod/chat", "chat-big").CurrentReplicas)
	assert.Equal(t, 4, l.variant("prod/chat", "chat-small").CurrentReplicas)
}

// Of plans that are equally good the one that is there stays.
func TestEqualPlansDoNotFlip(t *testing.T) {
	for _, current := range [][2]int{{4, 0}, {0, 4}, {2, 2}} {
		x, y := declared("chat-x", 0, 1), declared("chat-y", 1, 1)
		x.CurrentReplicas, y.CurrentReplicas = current[0], current[1]
		f := twoPools(0, x, y)
		f.Pools[0].PricePerHour = 2
		f.Control.Policy.Native = &policy.Native{ScaleDownWindow: new(time.Duration)}
		l := newLoop(t, f)
		for _, demand := range []float64{4, 3.9, 4, 3.2, 3.8} {
			d := l.cycle(chat(planner.Observation{ArrivalRate: rate(demand)}))
			assert.Empty(t, d.Changes)
		}
	}
}

// Of variants that cost the same the preferred one is added; a real difference outweighs it.
func TestPreferenceDecidesTies(t *testing.T) {
	for _, test := range []struct {
		x, y   int
		priceY float64
		want   string
	}{
		{0, 1, 2, "chat-x 0→4"},
		{1, 0, 2, "chat-y 0→4"},
		{8, 0, 2.06, "chat-x 0→4"},
		{0, 8, 1.94, "chat-y 0→4"},
	} {
		x, y := declared("chat-x", 0, 1), declared("chat-y", 1, 1)
		x.Preference, y.Preference = test.x, test.y
		f := twoPools(0, x, y)
		f.Pools[0].PricePerHour, f.Pools[1].PricePerHour = 2, test.priceY
		d := newLoop(t, f).cycle(chat(planner.Observation{ArrivalRate: rate(4)}))
		assert.Equal(t, []string{test.want}, changes(&d), test)
	}
}

func TestDevicesPerCycle(t *testing.T) {
	l := newLoop(t, twoPools(0, declared("chat-h100", 0, 1)))
	l.fleet.Control.DevicesPerCycle = atMost(3)
	for _, want := range []string{"chat-h100 0→3", "chat-h100 3→6", "chat-h100 6→8"} {
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
		assert.Equal(t, []string{want}, changes(&d))
	}
}

// Bounds that no longer fit, because devices were lost, yield.
func TestPermissionsYieldToThePool(t *testing.T) {
	l := newLoop(t, rivals())
	l.cycle(demands(4, 4)...)
	l.fleet.Pools[0].Capacity = atMost(5)
	d := l.cycle(demands(4, 4)...)
	assert.Equal(t, []string{"batch-h100 4→1"}, changes(&d))
	assert.LessOrEqual(t, d.Pools[0].Used, 5)
}

// Replicas that are slower than declared are planned as they are.
func TestProfileFollowsReplicas(t *testing.T) {
	v := profiled("chat-h100", 0)
	f := twoPools(0, v)
	f.Workloads[0].SLO.Limits = []queueing.Limit{{Metric: queueing.ITL, Value: 0.02}}
	slow := *v.Replica
	slow.Profile.Alpha *= 1.3
	slow.Profile.Beta *= 1.3
	station, err := queueing.NewStation(slow, f.Workloads[0].Shape)
	require.NoError(t, err)
	l := newLoop(t, f)
	first := l.cycle(chat(planner.Observation{ArrivalRate: rate(100)}))
	for k := range 60 {
		perf := station.Evaluate(queueing.Rate(8 + k%5))
		known := func(x float64) calibration.Quantity { return calibration.Quantity{Value: x, Known: true} }
		l.cycle(chat(planner.Observation{ArrivalRate: rate(100), Variants: []planner.VariantObservation{{
			Variant: "chat-h100",
			Replica: calibration.Observation{
				Window: 60, Rate: known(float64(8 + k%5)), InputTokens: known(512), OutputTokens: known(256),
				ITL: known(float64(perf.ITL.Mean())), TTFT: known(float64(perf.TTFT.Mean())),
			},
		}}}))
	}
	last := l.cycle(chat(planner.Observation{ArrivalRate: rate(100)}))
	truth, err := station.Capacity(f.Workloads[0].SLO)
	require.NoError(t, err)
	declaredCapacity := float64(first.Plans[0].Variants[0].Size.Capacity)
	learnt := float64(last.Plans[0].Variants[0].Size.Capacity)
	require.Less(t, float64(truth.Rate), 0.8*declaredCapacity)
	assert.InEpsilon(t, float64(truth.Rate), learnt, 0.05)
	assert.Greater(t, l.variant("prod/chat", "chat-h100").CurrentReplicas, totals(&first, 0)[0])
}

// What is seen of replicas for the first time, or by another profile than before, is no reason to
// forget what has nothing to do with a profile.
func TestProfilesLeaveTheRestOfMemory(t *testing.T) {
	v := profiled("chat-h100", 0)
	v.CurrentReplicas, v.StartingReplicas = 2, 1
	f := twoPools(0, v)
	f.Control.Policy = policies()["hpa with behavior"]
	l := newLoop(t, f)
	known := func(x float64) calibration.Quantity { return calibration.Quantity{Value: x, Known: true} }
	seen := chat(planner.Observation{ArrivalRate: rate(0.1), Variants: []planner.VariantObservation{{
		Variant: "chat-h100",
		Replica: calibration.Observation{
			Window: 60, Rate: known(1), InputTokens: known(512), OutputTokens: known(256), ITL: known(0.01), TTFT: known(0.1),
		},
	}}})
	remembered := func(o planner.Observation) planner.VariantMemory {
		l.cycle(o)
		return l.memory.Workloads["prod/chat"].Variants[0]
	}
	first := remembered(chat(planner.Observation{ArrivalRate: rate(0.1)}))
	require.Len(t, first.Starting, 1)
	require.Nil(t, first.Filter)
	second := remembered(seen)
	require.NotNil(t, second.Filter)
	assert.Equal(t, first.Starting, second.Starting)
	assert.Equal(t, first.HPA.Recommendations[0], second.HPA.Recommendations[0])

	other := *v.Replica
	other.Profile.Alpha *= 2
	l.variant("prod/chat", "chat-h100").Replica = &other
	third := remembered(seen)
	assert.Equal(t, other.Profile, third.Declared)
	assert.Equal(t, 1, third.Filter.Windows, "calibration begins anew")
	assert.Equal(t, first.Starting, third.Starting)
	assert.Equal(t, first.HPA.Recommendations[0], third.HPA.Recommendations[0])
}

// idleAfter jumps in time once the workload has been watched for long, and returns in which of
// the next cycles without arrivals its replicas go.
func idleAfter(t *testing.T, jump func(l *loop)) int {
	t.Helper()
	l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
	for range 40 {
		l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
	}
	jump(l)
	for k := range 100 {
		if d := l.cycle(chat(planner.Observation{ArrivalRate: rate(0)})); len(d.Changes) > 0 {
			return k
		}
	}
	return -1
}

// What was wanted while the loop did not run, or in a time that was none, is not known.
func TestWindowsAreObservedAnewAfterAGap(t *testing.T) {
	window := int(policy.DefaultNative().Window(0) / planner.DefaultCycle)
	assert.Equal(t, window, idleAfter(t, func(l *loop) { l.now = l.now.Add(3 * time.Hour) }))
	assert.Equal(t, window, idleAfter(t, func(l *loop) { l.now = l.now.Add(2 * time.Minute) }), "shorter than the window")
	const missed = 4
	assert.Equal(t, window-missed, idleAfter(t, func(l *loop) { l.now = l.now.Add(missed * planner.DefaultCycle) }), "another process takes over")
	assert.Equal(t, window, idleAfter(t, func(l *loop) {
		now := l.now
		l.now = l.now.Add(24 * time.Hour)
		l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
		l.now = now
	}), "a clock that was wrong for one cycle")
}

// Who has changed replicas while nobody looked is not known: it may have been a loop that ended
// before it could write that down.
func TestNobodyIsBlamedForAGap(t *testing.T) {
	for missed, condition := range map[int]planner.ConditionType{4: planner.ExternalChange, 5: ""} {
		l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
		l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
		l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
		l.now = l.now.Add(time.Duration(missed) * planner.DefaultCycle)
		l.variant("prod/chat", "chat-a100").CurrentReplicas = 9
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
		var conditions []planner.ConditionType
		for _, c := range d.Plans[0].Conditions {
			conditions = append(conditions, c.Type)
		}
		if condition == "" {
			assert.Empty(t, conditions)
		} else {
			assert.Equal(t, []planner.ConditionType{condition}, conditions)
		}
	}
}

// Policies of other autoscalers take nothing away after a gap, before their windows have passed.
func TestOtherPoliciesObserveAnewAfterAGap(t *testing.T) {
	window := int(5 * time.Minute / planner.DefaultCycle)
	for _, name := range []string{"hpa", "hpa with behavior", "kthena"} {
		l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
		l.fleet.Control.Policy = policies()[name]
		for range 40 {
			l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
		}
		l.now = l.now.Add(time.Hour)
		first := -1
		for k := range 100 {
			if d := l.cycle(chat(planner.Observation{ArrivalRate: rate(4)})); len(d.Changes) > 0 {
				first = k
				break
			}
		}
		assert.GreaterOrEqual(t, first, window, name)
	}
}

// What was predicted of a workload that was held is nothing.
func TestPredictionIsBackAfterAPause(t *testing.T) {
	f := twoPools(10, profiled("chat-a100", 1))
	f.Workloads[0].Variants[0].CurrentReplicas = 3
	p, memory, now := planner.New(lp.Simplex()), planner.Memory{}, time.Unix(1e9, 0)
	for _, paused := range [][]planner.Pause{nil, {{Workload: "prod/chat"}}, nil} {
		now = now.Add(planner.DefaultCycle)
		d, next, err := p.Plan(planner.Snapshot{
			Now: now, Fleet: f, Observations: []planner.Observation{chat(planner.Observation{ArrivalRate: rate(5)})}, Paused: paused,
		}, memory, nil)
		require.NoError(t, err)
		assert.Equal(t, paused != nil, d.Plans[0].Prediction == nil)
		memory = next
	}
}

// Of two variants of which only one may stay, the first by name does, whatever the order.
func TestOrderOfVariantsDoesNotMatter(t *testing.T) {
	variants := []planner.Variant{declared("a", 1, 4), declared("b", 1, 4), declared("c", 0, 20)}
	for j := range 2 {
		variants[j].CurrentReplicas = 2
	}
	for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		l := newLoop(t, twoPools(0, variants[order[0]], variants[order[1]], variants[order[2]]))
		l.fleet.Workloads[0].Mixing = optimizer.Single
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(16)}))
		assert.Equal(t, []string{"a 2→4"}, changes(&d)[:1], "order %v", order)
	}
}

// A backlog that would have to be served in no time does not make the plan fail.
func TestBacklogIsPlannedForWithinRange(t *testing.T) {
	l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
	l.fleet.Control.BacklogDrain = time.Nanosecond
	d := l.cycle(chat(planner.Observation{ArrivalRate: rate(20), Waiting: rate(1e9)}))
	assert.InDelta(t, 1e9, float64(d.Fleet.Workloads[0].ArrivalRate), 0)
}
