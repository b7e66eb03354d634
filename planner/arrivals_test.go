package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/planner"
)

// engines are seen once per cycle of 15 s: what they completed is a mean over a minute.
type engines struct {
	*loop
	completed []float64
}

func newEngines(t *testing.T) *engines {
	t.Helper()
	return &engines{loop: newLoop(t, twoPools(0, declared("chat-a100", 1, 10)))}
}

// see is a cycle at whose end some requests run and wait, and in which some completed, per
// second.
func (e *engines) see(completed, running, waiting float64) planner.WorkloadPlan {
	e.t.Helper()
	if e.completed == nil {
		e.completed = []float64{completed, completed, completed}
	}
	e.completed = append(e.completed, completed)
	sum := 0.
	for _, c := range e.completed[len(e.completed)-4:] {
		sum += c
	}
	d := e.cycle(chat(planner.Observation{
		Window: time.Minute, CompletionRate: rate(sum / 4), Running: rate(running), Waiting: rate(waiting),
	}))
	return d.Plans[0]
}

// 40/s arrive all the time and run for 30 s. Engines crash: what ran has not completed, and for
// 30 s nothing does.
func TestRequestsThatWereLostAreNotLessDemand(t *testing.T) {
	e := newEngines(t)
	for range 6 {
		e.see(40, 1200, 0)
	}
	for _, now := range []struct{ completed, running float64 }{
		{40, 0}, {0, 600}, {0, 1200}, {40, 1200}, {40, 1200}, {40, 1200}, {40, 1200}, {40, 1200},
	} {
		p := e.see(now.completed, now.running, 0)
		assert.InDelta(t, 40, float64(p.Expected.Observed), 1e-9, "%v", now)
		assert.Empty(t, p.Conditions)
	}
}

// Demand falls from 40/s to 10/s, and nothing is lost: that is seen when its requests have ended,
// and no later than by completions.
func TestDemandThatFallsIsSeenWhenItsRequestsHaveEnded(t *testing.T) {
	e := newEngines(t)
	for range 6 {
		e.see(40, 600, 0)
	}
	for k, completed := range []float64{40, 10, 10, 10, 10, 10} {
		p := e.see(completed, 150, 0)
		assert.InDelta(t, 10+30*max(0, float64(4-k))/4, float64(p.Expected.Observed), 1e-9, "cycle %d", k)
	}
}

// A queue of which more is gone than can have completed was lost, with nobody knows how many
// others: what completes arrives at least, and nothing is taken away.
func TestQueueThatWasLost(t *testing.T) {
	e := newEngines(t)
	for _, waiting := range []float64{0, 600, 1200, 1800, 2400, 3000} {
		e.see(20, 80, waiting)
	}
	before := e.variant("prod/chat", "chat-a100").CurrentReplicas
	p := e.see(10, 80, 0)
	assert.Contains(t, p.Conditions, planner.Condition{Type: planner.DemandIncomplete, Message: "completed, of more that do not wait any more"})
	assert.InDelta(t, (3*20+10)/4., float64(p.Expected.Observed), 1e-9)
	assert.GreaterOrEqual(t, e.variant("prod/chat", "chat-a100").CurrentReplicas, before)
}
