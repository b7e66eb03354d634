//go:build e2e && linux

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIncident12ScaledByHand: what people do to the objects of a fleet under load is noticed,
// and what is needed comes back.
func TestIncident12ScaledByHand(t *testing.T) { //nolint:tparallel // one change after the other
	w := newWorld(t, setup{}, "plain", "llmaz")
	w.offer(4*base, w.ways...)
	w.settle()
	before := w.witness.total()

	t.Run("a Deployment", func(*testing.T) {
		after := w.program.last()
		w.kubectl("scale", "-n", namespace, "deployment/chat-h100", "--replicas=0")
		w.until(func() bool { return w.noticed(after, "ExternalChange") }, "noticed: %v", printed{w})
		w.until(func() bool { return w.witness.total() >= before }, "scaled back: %v", printed{w.witness})
	})
	t.Run("over and over", func(t *testing.T) {
		for range 3 {
			w.kubectl("scale", "-n", namespace, "playground/code-h100", "--replicas=0")
			pass(t, w.pace.cycle)
		}
		w.until(func() bool { return w.witness.total() >= before }, "scaled back: %v", printed{w.witness})
	})
	w.witness.check(w.cluster)
	w.program.kill()
	w.program.replay()
}

// noticed tells whether a decision after one has a condition.
func (w *world) noticed(after uint64, condition string) bool {
	for _, d := range w.program.decided(after) {
		for _, plan := range d.GetPlan().GetWorkloads() {
			for _, c := range plan.GetConditions() {
				if c.GetType() == condition {
					return true
				}
			}
		}
	}
	return false
}

// TestLeaderIsKilled: another process takes over, writes nothing twice and takes nothing away
// before it has seen a whole window.
func TestLeaderIsKilled(t *testing.T) {
	w := newWorld(t, setup{}, "plain", "llmaz")
	w.offer(4*base, w.ways...)
	w.settle()
	second := w.start("second", w.pace, setup{})
	before, began := w.witness.total(), time.Now()

	w.offer(base, w.ways...) // less is needed from now on
	w.program.kill()
	w.until(func() bool { return second.decidedSince(began) }, "the second process decides")
	// A lease runs out, and the next attempt to get it succeeds.
	assert.Less(t, time.Since(began), w.pace.lease+2*w.pace.retry+w.pace.cycles(2))
	took := time.Now()
	w.until(func() bool { return w.witness.total() < before }, "fewer replicas")
	assert.GreaterOrEqual(t, time.Since(took), w.pace.scaleDown-w.pace.cycles(2))
	w.until(func() bool { return w.witness.total() == len(w.ways) }, "one replica each: %v", printed{w.witness})
	w.witness.check(w.cluster)
	second.kill()
	second.replay()
	w.program.replay()
}

// TestTargetIsDeleted: nothing is written to what is gone, and the rest of the fleet is
// served; what comes back is scaled again.
func TestTargetIsDeleted(t *testing.T) {
	w := newWorld(t, setup{}, "plain", "llmaz")
	w.offer(2*base, w.ways...)
	w.settle()
	w.kubectl("delete", "-n", namespace, "deployment/chat-h100", "deployment/chat-a100")
	w.offer(4*base, "llmaz")
	w.until(func() bool {
		return w.kubectl("get", "-n", namespace, "playground/code-h100", "-o", "jsonpath={.spec.replicas}") == "1"
	}, "the rest is served")
	require.True(t, w.program.runs())
	after := w.program.last()
	w.declare(w.pace, "plain")
	w.until(func() bool {
		for _, d := range w.program.decided(after) {
			if sees(d, len(w.ways)) {
				return true
			}
		}
		return false
	}, "it is measured again: %v", printed{w})
	w.witness.check(w.cluster)
	w.program.kill()
	w.program.replay()
}
