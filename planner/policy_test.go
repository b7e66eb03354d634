package planner_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/knative"
	"github.com/poolwright/poolwright/policy/kthena"
)

// policies are one of each kind, with the defaults of each autoscaler.
func policies() map[string]planner.Policy {
	native, speed, behaved, corrected, windows := policy.DefaultNative(), hpa.DefaultConfig(), hpa.DefaultConfig(), kthena.DefaultConfig(), knative.DefaultConfig()
	behavior := hpa.DefaultBehavior()
	behaved.Behavior = &behavior
	_, corrected.Panic = kthena.SectionDefaults()
	corrected.Panic.Period = time.Minute
	return map[string]planner.Policy{
		"native": {Native: &native}, "hpa": {HPA: &speed}, "hpa with behavior": {HPA: &behaved},
		"kthena": {Kthena: &corrected}, "knative": {Knative: &windows},
	}
}

// one is a workload of one variant, of which a replica serves a request per second.
func one(current int, p planner.Policy) planner.Fleet {
	v := declared("h100", 0, 1)
	v.CurrentReplicas = current
	f := twoPools(0, v)
	f.Pools[0].Capacity.Value = 200
	f.Control.Policy = p
	return f
}

func count(n int) int32 { return int32(max(0, min(n, math.MaxInt32))) }

// autoscaler is a policy by itself: it says what to scale to, and hears what was done.
type autoscaler func(now time.Time, current, wanted int) int

func autoscalers() map[string]autoscaler {
	ofHPA := func(c hpa.Config) autoscaler {
		c.MaxReplicas, c.MinReplicas = 1000, 0
		var h hpa.History
		return func(now time.Time, current, wanted int) int {
			var d hpa.Decision
			d, h = hpa.Permit(&c, h, now, count(current), count(wanted))
			// What is between is permitted as well.
			done := min(max(wanted, min(current, int(d.Replicas))), max(current, int(d.Replicas)))
			h = h.Scaled(&c, now, count(current), count(done))
			return int(d.Replicas)
		}
	}
	all := policies()
	kthenas, knatives := *all["kthena"].Kthena, *all["knative"].Knative
	kthenas.MaxReplicas = 1000
	var k kthena.History
	var n knative.History
	return map[string]autoscaler{
		"hpa": ofHPA(*all["hpa"].HPA), "hpa with behavior": ofHPA(*all["hpa with behavior"].HPA),
		"kthena": func(now time.Time, current, wanted int) int {
			var d kthena.Decision
			d, k = kthena.Permit(&kthenas, k, now, current, wanted)
			return d.Replicas
		},
		"knative": func(now time.Time, current, wanted int) int {
			var d knative.Decision
			d, n = knative.Permit(&knatives, n, now, current, wanted)
			return d.Replicas
		},
	}
}

// Replicas go as far to where the plan wants them as each autoscaler would go.
func TestPoliciesFollowAsTheirAutoscalersDo(t *testing.T) {
	for name, scaler := range autoscalers() {
		l, random := newLoop(t, one(2, policies()[name])), rand.New(rand.NewPCG(1, 7))
		slow := map[bool]int{}
		for range 600 {
			now, current := l.now, l.variant("prod/chat", "h100").CurrentReplicas
			d := l.cycle(chat(planner.Observation{ArrivalRate: rate(100 * random.Float64() * random.Float64())}))
			v := &d.Plans[0].Variants[0]
			goal := scaler(now, current, v.Wanted)
			require.Equal(t, [2]int{min(current, goal), max(current, goal)}, [2]int{v.Permitted.Min, v.Permitted.Max}, name)
			require.True(t, v.Permitted.Limited)
			require.Equal(t, min(max(v.Wanted, v.Permitted.Min), v.Permitted.Max), v.Total(), name)
			require.Equal(t, v.Total() == v.Wanted, v.Permitted.Reason == "", name)
			if v.Total() != v.Wanted {
				slow[v.Wanted > current]++
			}
		}
		assert.Positive(t, slow[false], "%s let replicas shrink at once", name)
		if name != "knative" {
			assert.Positive(t, slow[true], "%s let replicas grow at once", name)
		}
	}
}

// The policy is named as the cause of what is not served, with its reason.
func TestSlowPolicyIsTheCause(t *testing.T) {
	l := newLoop(t, one(1, policies()["hpa"]))
	d := l.cycle(chat(planner.Observation{ArrivalRate: rate(40)}))
	const cause = "36 requests/s because of policy: hpa: ScaleUpLimit, replicas may not grow faster"
	assert.Equal(t, []planner.Condition{{Type: planner.DemandUnmet, Message: cause}}, d.Plans[0].Conditions)
	assert.Equal(t, "policy", d.Plans[0].Binding)
	assert.Equal(t, []string{"h100 1→4"}, changes(&d))

	// Where the pool limits what is wanted it is the cause, though the policy permits no more.
	l.fleet.Pools[0].Capacity.Value = 4
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(40)}))
	assert.Equal(t, "pool/h100", d.Plans[0].Binding)
}

// rates are policies that let replicas grow by a share of those that there are, and by no more.
func rates() map[string]planner.Policy {
	shares, both := hpa.DefaultConfig(), kthena.DefaultConfig()
	behavior := hpa.DefaultBehavior()
	behavior.ScaleUp.Policies = []hpa.Policy{{Type: hpa.Percent, Value: 100, Period: time.Minute}}
	shares.Behavior = &behavior
	both.Panic = kthena.Panic{}
	both.ScaleUp = kthena.Stable{Instances: 4, Percent: 100, Period: time.Minute, Select: kthena.And}
	return map[string]planner.Policy{"hpa": {HPA: &shares}, "kthena": {Kthena: &both}}
}

// A share of no replicas is none: the first replica is permitted all the same, and the others
// follow as fast as the policy lets them.
func TestVariantsGrowFromZero(t *testing.T) {
	for name, p := range rates() {
		l := newLoop(t, one(0, p))
		var grown []string
		for range 30 {
			d := l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
			grown = append(grown, changes(&d)...)
		}
		assert.Equal(t, []string{"h100 0→1", "h100 1→2", "h100 2→4", "h100 4→8"}, grown, name)
	}
}

// A variant that has none serves what another one has no devices for.
func TestVariantWithoutReplicasHelpsAFullOne(t *testing.T) {
	for name, p := range rates() {
		f := twoPools(0, declared("h100", 0, 10), declared("a100", 1, 4))
		f.Pools[0].Capacity.Value = 2
		f.Control.Policy = p
		l := newLoop(t, f)
		l.variant("prod/chat", "h100").CurrentReplicas = 2
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(24)}))
		assert.Equal(t, []string{"a100 0→1"}, changes(&d), name)
		assert.Empty(t, d.Plans[0].Conditions, name)
	}
}

// Where none is wanted there is no first one.
func TestNoFirstReplicaThatNobodyWants(t *testing.T) {
	for name, p := range rates() {
		d := newLoop(t, one(0, p)).cycle(chat(planner.Observation{ArrivalRate: rate(0)}))
		assert.Equal(t, policy.Permission{Limited: true}, d.Plans[0].Variants[0].Permitted, name)
	}
}

// What a workload's own policy leaves unserved takes nothing from others.
func TestOthersDoNotYieldToASlowPolicy(t *testing.T) {
	f := rivals()
	f.Pools[0].Capacity.Value = 40
	f.Workloads[0].Policy = policies()["hpa"]
	l := newLoop(t, f)
	l.cycle(demands(2, 6)...)
	d := l.cycle(demands(30, 1)...)
	assert.Equal(t, []string{"chat-h100 2→4"}, changes(&d))
	assert.Equal(t, 6, l.variant("prod/batch", "batch-h100").CurrentReplicas, "the window of the other holds")
}

// Whatever the policy, nothing is permitted without data, and nothing taken away on a part.
func TestPoliciesWithoutData(t *testing.T) {
	for name, p := range policies() {
		l := newLoop(t, one(10, p))
		d := l.cycle()
		assert.Equal(t, policy.Stay(10, policy.DemandUnknown), d.Plans[0].Variants[0].Permitted, name)
		for range 100 {
			d = l.cycle(chat(planner.Observation{ArrivalRate: planner.Measurement{State: planner.Incomplete, Value: 3}}))
			require.Empty(t, d.Changes, name)
			assert.Equal(t, 10, d.Plans[0].Variants[0].Permitted.Min)
			assert.Equal(t, policy.DemandIncomplete, d.Plans[0].Variants[0].Permitted.Reason, name)
		}
	}
}

// Declared minimums and maximums come before policies.
func TestDeclaredBoundsComeBeforePolicies(t *testing.T) {
	frozen := hpa.DefaultConfig()
	behavior := hpa.DefaultBehavior()
	behavior.ScaleUp.Select, behavior.ScaleDown.Select = hpa.Disabled, hpa.Disabled
	frozen.Behavior = &behavior
	for name, set := range map[string]func(*planner.Workload){
		"0→6 by the variant": func(w *planner.Workload) { w.Variants[0].MinReplicas = 6 },
		"0→6 by all":         func(w *planner.Workload) { w.MinReplicas = 6 },
		"9→6 by the variant": func(w *planner.Workload) {
			w.Variants[0].CurrentReplicas, w.Variants[0].MaxReplicas = 9, atMost(6)
		},
		"9→6 by all": func(w *planner.Workload) { w.Variants[0].CurrentReplicas, w.MaxReplicas = 9, atMost(6) },
	} {
		unknown := declared("a100", 1, 0)
		f := one(0, planner.Policy{HPA: &frozen})
		f.Workloads[0].Variants = append(f.Workloads[0].Variants, unknown)
		set(&f.Workloads[0])
		l := newLoop(t, f)
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
		assert.Equal(t, []int{6, 0}, totals(&d, 0), name)
	}
}

// A workload that gets another policy begins anew with it.
func TestPolicyForgetsWhatItWasNot(t *testing.T) {
	l := newLoop(t, one(2, policies()["hpa"]))
	cycle := func(name string) *planner.WorkloadMemory {
		l.fleet.Control.Policy = policies()[name]
		l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
		return l.memory.Workloads["prod/chat"]
	}
	m := cycle("hpa")
	assert.NotNil(t, m.Variants[0].HPA)
	assert.Zero(t, m.Policy)
	m = cycle("kthena")
	assert.Nil(t, m.Variants[0].HPA)
	assert.NotNil(t, m.Variants[0].Kthena)
	m = cycle("knative")
	assert.Nil(t, m.Variants[0].Kthena)
	assert.NotNil(t, m.Variants[0].Knative)
	m = cycle("native")
	assert.Nil(t, m.Variants[0].Knative)
	assert.NotZero(t, m.Policy)
}

// A grace of the workload itself keeps its last replica longer than the windows of any
// policy do, and takes the place of the native one.
func TestZeroGraceOfAWorkload(t *testing.T) {
	corrected, native := kthena.DefaultConfig(), policy.DefaultNative()
	for name, p := range map[string]planner.Policy{"kthena": {Kthena: &corrected}, "native": {Native: &native}, "default": {}} {
		t.Run(name, func(t *testing.T) {
			f := twoPools(0, declared("chat-h100", 0, 7))
			f.Workloads[0].Policy, f.Workloads[0].ZeroGrace = p, 20*time.Minute
			l := newLoop(t, f)
			l.cycle(chat(planner.Observation{ArrivalRate: rate(20)}))
			last := l.now
			for l.variant("prod/chat", "chat-h100").CurrentReplicas > 0 {
				require.Less(t, l.now.Sub(last), time.Hour)
				l.cycle(chat(planner.Observation{ArrivalRate: rate(0)}))
			}
			assert.InDelta(t, 20, l.now.Sub(last).Minutes(), 1)
		})
	}
	f := twoPools(0, declared("chat-h100", 0, 7))
	f.Workloads[0].ZeroGrace = -1
	_, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
	require.ErrorContains(t, err, "planner: workloads[0].zeroGrace: -1ns < 0")
}

// What the cheapest plan does not want of a variant is wanted when another workload keeps the
// devices of that plan: as far as its own policy would let it grow.
func TestVariantThatWasNotWantedMayGrow(t *testing.T) {
	f := twoPools(0, declared("h100", 0, 10), declared("a100", 1, 9))
	f.Pools[0].Capacity.Value = 3
	code := f.Workloads[0]
	code.Name, code.Variants = "code", []planner.Variant{declared("h100", 0, 10), declared("a100", 1, 4)}
	limits := kthena.DefaultConfig()
	limits.Panic = kthena.Panic{}
	limits.ScaleUp = kthena.Stable{Instances: 3, Period: time.Minute, Select: kthena.Or}
	code.Policy = planner.Policy{Kthena: &limits}
	f.Workloads = append(f.Workloads, code)
	l := newLoop(t, f)
	l.variant("prod/chat", "h100").CurrentReplicas = 3
	l.variant("prod/code", "a100").CurrentReplicas = 1
	d := l.cycle(waits(27, 0), planner.Observation{Workload: "prod/code", ArrivalRate: rate(28)})
	assert.Equal(t, []string{"a100 1→4"}, changes(&d))
}
