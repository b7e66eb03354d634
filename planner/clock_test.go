package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// ahead is how far the clock was ahead of the time before it was set back: less than what makes
// a forecast begin anew.
const ahead = 20 * time.Minute

// Whatever the policy, replicas follow demand after a clock was set back as they do without, but for a
// minute: no window, limit or panic of a time that is yet to come holds them.
func TestReplicasFollowAfterAClockWasSetBack(t *testing.T) {
	all := policies()
	for name, p := range rates() {
		all[name+" by shares"] = p
	}
	for name, p := range all {
		t.Run(name, func(t *testing.T) {
			up, down := steps(t, p, 0)
			upLate, downLate := steps(t, p, ahead)
			assert.LessOrEqual(t, upLate, up+time.Minute)
			assert.LessOrEqual(t, downLate, down+time.Minute)
		})
	}
}

// steps sets the clock back when demand has just risen, and returns how long replicas take to
// follow when it rises again, and then falls.
func steps(t *testing.T, p planner.Policy, back time.Duration) (up, down time.Duration) {
	t.Helper()
	l := newLoop(t, one(4, p))
	follow := func(arrive float64) (taken time.Duration) {
		for from := l.now; l.variant("prod/chat", "h100").CurrentReplicas != int(arrive); taken = l.now.Sub(from) {
			require.Less(t, taken, ahead)
			l.cycle(chat(planner.Observation{ArrivalRate: rate(arrive)}))
		}
		return taken
	}
	for range 40 {
		l.cycle(chat(planner.Observation{ArrivalRate: rate(4)}))
	}
	follow(8)
	l.now = l.now.Add(-back)
	return follow(16), follow(3)
}

// What is predicted from samples of a time that is yet to come is no prediction: demand is what
// is measured, until the clock has caught up.
func TestDemandIsMeasuredWhileAClockCatchesUp(t *testing.T) {
	l := newLoop(t, one(4, planner.Policy{}))
	see := func(arrive float64) *planner.Expectation {
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(arrive)}))
		return d.Plans[0].Expected
	}
	for range 40 {
		see(4)
	}
	last := l.now.Add(-planner.DefaultCycle)
	l.now = l.now.Add(-ahead)
	for arrive := 5.0; !l.now.After(last); arrive += 0.1 {
		e := see(arrive)
		for _, rate := range []float64{float64(e.Observed), float64(e.Point), float64(e.Upper), float64(e.Lasting)} {
			require.InDelta(t, arrive, rate, 0, "%v before it has caught up", last.Sub(l.now))
		}
		require.Contains(t, e.Reason, "a clock was set back")
	}
	assert.Contains(t, see(20).Reason, "local trend")
}

// Replicas that seem to begin to start in a while have begun by now.
func TestReplicasStartAfterAClockWasSetBack(t *testing.T) {
	l := overloaded(t, 2, 0)
	l.cycle(waits(20, 100))
	l.variant("prod/chat", "chat-a100").StartingReplicas = 6
	l.cycle(waits(20, 280))
	l.now = l.now.Add(-ahead)
	d := l.cycle(waits(20, 460))
	assert.InDelta(t, 460+60*12-15*12, d.Plans[0].Expected.Queue, 1e-9, "a minute from now, as far as is known")
}
