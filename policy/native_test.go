package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy"
)

// follower carries the history of one workload from call to call.
type follower struct {
	native  policy.Native
	history policy.History
	now     time.Time
}

func newFollower() *follower {
	return &follower{native: policy.DefaultNative(), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

func (f *follower) permit(w policy.Workload) ([]policy.Permission, policy.Permission) {
	variants, total, next := f.native.Permit(f.history, f.now, &w)
	f.history = next
	return variants, total
}

// busy is a workload of one variant that is measured completely.
func busy(current, wanted int) policy.Workload {
	return policy.Workload{
		Known: true, Complete: true, Arrivals: true,
		Variants: []policy.Variant{{Name: "h100", Current: current, Wanted: wanted}},
	}
}

func TestAdditionsAreNeverDelayed(t *testing.T) {
	f := newFollower()
	for _, wanted := range []int{1, 100} {
		v, _ := f.permit(busy(1, wanted))
		assert.Equal(t, policy.Permission{Min: 1}, v[0])
	}
}

// The largest number wanted within the window stays, and the window must have been seen.
func TestRemovalsWaitForTheWindow(t *testing.T) {
	f := newFollower()
	minimum := func(wanted int) (int, string) {
		v, _ := f.permit(busy(10, wanted))
		f.now = f.now.Add(time.Minute)
		return v[0].Min, v[0].Reason
	}
	for range 5 {
		least, reason := minimum(4)
		assert.Equal(t, 10, least)
		assert.Contains(t, reason, "of the window of 5m0s")
	}
	least, reason := minimum(4)
	assert.Equal(t, 4, least)
	assert.Empty(t, reason)
	minimum(7)
	for range 5 {
		least, reason = minimum(4)
		assert.Equal(t, 7, least)
		assert.Equal(t, "7 wanted within the last 5m0s", reason)
	}
	least, _ = minimum(4)
	assert.Equal(t, 4, least)
}

// seen is a follower that has watched a workload of 10 replicas for a window.
func seen(wanted int) *follower {
	f := newFollower()
	f.permit(busy(10, wanted))
	f.now = f.now.Add(f.native.Window(0) + time.Second)
	return f
}

func TestNothingIsRemovedInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*policy.Workload)
		want   policy.Permission
	}{
		"unknown": {
			func(w *policy.Workload) { w.Known = false },
			policy.Permission{Min: 10, Max: 10, Limited: true, Reason: "demand is not known"},
		},
		"incomplete": {
			func(w *policy.Workload) { w.Complete = false },
			policy.Permission{Min: 10, Reason: "not all replicas report"},
		},
		"overload": {
			func(w *policy.Workload) { w.Overload = true },
			policy.Permission{Min: 10, Reason: "overloaded 0s ago, within the window of 5m0s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := seen(4)
			w := busy(10, 4)
			c.change(&w)
			v, _ := f.permit(w)
			assert.Equal(t, c.want, v[0])
			f.now = f.now.Add(time.Second)
			v, _ = f.permit(busy(10, 4))
			assert.Equal(t, 10, v[0].Min, "and the doubt lasts for the window")
		})
	}
}

// After an outage nothing is known of what was wanted meanwhile.
func TestOutageStartsTheWindowAnew(t *testing.T) {
	f := seen(4)
	f.permit(policy.Workload{Variants: busy(10, 0).Variants})
	f.now = f.now.Add(time.Minute)
	v, _ := f.permit(busy(10, 4))
	assert.Equal(t, 10, v[0].Min)
}

func TestLastReplicaStaysForItsGrace(t *testing.T) {
	f := seen(0)
	f.permit(busy(1, 1))
	idle := busy(1, 0)
	idle.Arrivals = false
	f.now = f.now.Add(f.native.ZeroGrace - time.Second)
	_, total := f.permit(idle)
	assert.Equal(t, 1, total.Min)
	f.now = f.now.Add(time.Second)
	_, total = f.permit(idle)
	assert.Equal(t, policy.Permission{}, total)
}

func TestMinIntervalDelaysRemovalsOnly(t *testing.T) {
	f := seen(4)
	f.native.MinInterval = time.Hour
	f.permit(busy(10, 4))
	f.now = f.now.Add(f.native.Window(0) + time.Minute)
	f.permit(busy(8, 4)) // changed just now
	f.now = f.now.Add(f.native.Window(0) + time.Minute)
	v, _ := f.permit(busy(8, 4))
	assert.Equal(t, policy.Permission{Min: 8, Reason: "changed 6m0s ago, less than the interval of 1h0m0s"}, v[0])
	v, _ = f.permit(busy(8, 9))
	assert.True(t, v[0].Allows(9))
}

// Variants are known by name, whatever their order.
func TestOrderOfVariantsDoesNotMatter(t *testing.T) {
	f := newFollower()
	a, b := policy.Variant{Name: "a", Current: 3, Wanted: 3}, policy.Variant{Name: "b", Current: 5, Wanted: 5}
	f.permit(policy.Workload{Known: true, Complete: true, Arrivals: true, Variants: []policy.Variant{a, b}})
	f.now = f.now.Add(4 * time.Minute)
	a.Wanted, b.Wanted = 0, 1
	f.history.Since = f.history.Since.Add(-time.Hour)
	v, _ := f.permit(policy.Workload{Known: true, Complete: true, Arrivals: true, Variants: []policy.Variant{b, a}})
	assert.Equal(t, 5, v[0].Min)
	assert.Equal(t, 3, v[1].Min)
}

func TestDeadBandIsBelowOnly(t *testing.T) {
	n := policy.DefaultNative()
	for _, c := range []struct{ expected, want float64 }{
		{100, 100}, {95, 100}, {94.9, 94.9}, {100.1, 100.1}, {0, 0},
	} {
		assert.InDelta(t, c.want, n.Demand(100, c.expected), 0)
	}
	assert.Zero(t, n.Demand(0, 0))
}

// Permit changes no history that it was given.
func TestHistoryIsAValue(t *testing.T) {
	f := seen(4)
	before := f.history
	wanted := before.Variants[0].Wanted.Clone()
	f.permit(busy(10, 3))
	assert.Equal(t, wanted, before.Variants[0].Wanted)
}

func TestValidateNamesEveryMistake(t *testing.T) {
	require.NoError(t, policy.DefaultNative().Validate())
	require.NoError(t, policy.Native{}.Validate())
	err := policy.Native{ScaleDownWindow: new(time.Duration(-1)), Tolerance: 0.6, ZeroGrace: 8 * 24 * time.Hour, MinInterval: 25 * time.Hour}.Validate()
	for _, path := range []string{"scaleDownWindow", "tolerance", "zeroGrace", "minInterval"} {
		assert.ErrorContains(t, err, path)
	}
}

// What was wanted while nobody looked is not known; what changed is.
func TestResumeObservesWindowsAnew(t *testing.T) {
	f := newFollower()
	f.native.MinInterval = time.Hour
	f.permit(busy(9, 9))
	f.now = f.now.Add(time.Second)
	f.permit(busy(10, 10))
	for _, jump := range []time.Duration{30 * time.Minute, -20 * time.Minute} {
		f.now = f.now.Add(jump)
		f.history = f.history.Resume(f.now)
		v, _ := f.permit(busy(10, 4))
		assert.Equal(t, "observed for 0s only, of the window of 5m0s", v[0].Reason)
		f.now = f.now.Add(f.native.Window(0))
		v, _ = f.permit(busy(10, 4))
		assert.Contains(t, v[0].Reason, "less than the interval of 1h0m0s")
	}
	f.now = f.now.Add(time.Hour)
	v, _ := f.permit(busy(10, 4))
	assert.Equal(t, policy.Permission{Min: 4}, v[0])
}

func TestGraceBeginsWhenDemandIsKnown(t *testing.T) {
	for name, doubt := range map[string]policy.Workload{
		"unknown":    {Variants: busy(1, 0).Variants},
		"incomplete": {Known: true, Variants: busy(1, 0).Variants},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFollower()
			f.native.ScaleDownWindow = new(time.Duration(0))
			f.permit(busy(1, 1))
			for range 10 {
				f.now = f.now.Add(time.Minute)
				f.permit(doubt)
			}
			idle := busy(1, 0)
			idle.Arrivals = false
			f.now = f.now.Add(time.Second)
			_, total := f.permit(idle)
			assert.Equal(t, 1, total.Min)
			f.now = f.now.Add(f.native.ZeroGrace)
			_, total = f.permit(idle)
			assert.Equal(t, 0, total.Min)
		})
	}
}

// A replica is kept idle as long as it takes to come back, unless somebody says for how long.
func TestWindowIsTheTimeToComeBack(t *testing.T) {
	n := policy.DefaultNative()
	assert.Equal(t, 5*time.Minute, n.Window(0), "not known")
	assert.Equal(t, time.Minute, n.Window(20*time.Second))
	assert.Equal(t, 4*time.Minute, n.Window(4*time.Minute))
	n.ScaleDownWindow = new(2 * time.Minute)
	assert.Equal(t, 2*time.Minute, n.Window(4*time.Minute))

	f := newFollower()
	w := busy(10, 4)
	w.Comeback = 90 * time.Second
	f.permit(busy(10, 10))
	f.now = f.now.Add(91 * time.Second)
	f.permit(w)
	f.now = f.now.Add(89 * time.Second)
	v, _ := f.permit(w)
	assert.Equal(t, policy.Permission{Min: 4}, v[0])
}
