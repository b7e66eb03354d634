package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// Requests have become longer than those that have ended: replicas are believed to keep up
// with twice what they complete. While requests wait, they are seen to, and more are asked
// for; once nothing waits, that is forgotten in some minutes.
func TestReplicasThatCompleteLessThanTheyShould(t *testing.T) {
	l := newLoop(t, lengthless())
	see := func(arrive, complete, waiting float64) planner.Decision {
		return l.cycle(chat(planner.Observation{
			ArrivalRate: rate(arrive), CompletionRate: rate(complete), Running: rate(100), Waiting: rate(waiting),
			InputTokens: rate(512), OutputTokens: rate(256),
		}))
	}
	share := func() float64 { return l.memory.Workloads["prod/chat"].Efficiency.Share }
	d := see(1, 1, 0)
	saturation := float64(d.Plans[0].Variants[0].Size.Saturation)
	v := l.variant("prod/chat", "chat-a100")
	require.Equal(t, 1, v.CurrentReplicas)

	load := 0.6 * saturation
	waiting := 0.
	for range 4 {
		see(load, saturation/2, 0.4*saturation)
		v.CurrentReplicas = 1 // pending
		require.InDelta(t, 1, share(), 0, "a queue of less than a second shows nothing")
	}
	for range 6 {
		waiting += 15 * saturation * 0.5
		d = see(load, saturation/2, waiting)
		v.CurrentReplicas = 1 // pending
	}
	assert.InDelta(t, 0.5, share(), 0.02)
	assert.InDelta(t, saturation/2, float64(d.Plans[0].Variants[0].Size.Saturation), 0.02*saturation)
	assert.GreaterOrEqual(t, d.Plans[0].Variants[0].Total(), 2)

	// Those that have just become ready have not completed anything yet.
	v.CurrentReplicas = 2
	see(load, saturation/2, waiting)
	assert.InDelta(t, 0.5, share(), 0.02)

	for range int(10 * time.Minute / planner.DefaultCycle) {
		see(load, load, 0)
	}
	assert.InDelta(t, 1, share(), 0.01)
}
