package planner_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
)

// overloaded is a loop over one variant of 4 requests/s per replica and a minute of
// start-up, which has replicas of which some are starting.
func overloaded(t *testing.T, replicas, starting int) *loop {
	t.Helper()
	l := newLoop(t, twoPools(0, declared("chat-a100", 1, 4)))
	v := l.variant("prod/chat", "chat-a100")
	v.CurrentReplicas, v.StartingReplicas, v.Startup = replicas, starting, time.Minute
	return l
}

func waits(arrivals, waiting float64) planner.Observation {
	return chat(planner.Observation{ArrivalRate: rate(arrivals), Waiting: rate(waiting)})
}

// What will wait when replicas asked for now are ready is planned for at once: waiting
// for it to be seen would have them ready too late.
func TestQueueOfTheTimeWhenReplicasAreReady(t *testing.T) {
	l := overloaded(t, 2, 0)
	d := l.cycle(waits(20, 100))
	assert.InDelta(t, 100+75*(20-8), d.Plans[0].Expected.Queue, 1e-9, "a minute and a cycle")
	assert.InDelta(t, 20+(100+75*12)/120., float64(d.Fleet.Workloads[0].ArrivalRate), 1e-9)
	assert.Equal(t, []string{"chat-a100 2→8"}, changes(&d))
}

// What starts is capacity from the time on at which it will be ready, and only once.
func TestStartingReplicasCountWhenReady(t *testing.T) {
	l := overloaded(t, 2, 0)
	l.cycle(waits(20, 100))
	v := l.variant("prod/chat", "chat-a100")
	v.StartingReplicas = 6
	waiting := 100.
	for _, left := range []float64{60, 45, 30, 15} {
		waiting += 15 * 12
		d := l.cycle(waits(20, waiting))
		// They were seen to start one cycle after they were asked for.
		assert.InDelta(t, waiting+left*12-(75-left)*12, d.Plans[0].Expected.Queue, 1e-9, "%v s before they are ready", left)
		assert.Empty(t, d.Changes, "%v s before they are ready", left)
	}
	// Those that are late are expected every moment.
	waiting += 15 * 12
	d := l.cycle(waits(20, waiting))
	assert.InDelta(t, waiting+15*12-60*12, d.Plans[0].Expected.Queue, 1e-9)
}

// The oldest become ready first.
func TestReplicasStartInTurn(t *testing.T) {
	l := overloaded(t, 2, 0)
	l.cycle(waits(8, 0))
	v := l.variant("prod/chat", "chat-a100")
	v.CurrentReplicas, v.StartingReplicas = 3, 1
	l.cycle(waits(8, 0)) // somebody else has added it
	l.cycle(waits(8, 0))
	v.CurrentReplicas, v.StartingReplicas = 4, 2
	l.cycle(waits(8, 0))
	v.StartingReplicas = 1
	d := l.cycle(waits(20, 100))
	assert.InDelta(t, 100+45*(20-12)+30*(20-16), d.Plans[0].Expected.Queue, 1e-9)
}

// Whoever takes over does not know since when replicas have been starting, and expects
// them every moment.
func TestReplicasThatStartedUnseen(t *testing.T) {
	l := overloaded(t, 6, 4)
	d := l.cycle(waits(20, 100))
	assert.InDelta(t, 100+15*(20-8)-60*(24-20), d.Plans[0].Expected.Queue, 1e-9)
}

// Where nothing waits, replicas keep up, whatever arrives in a moment; and where nobody
// knows how fast some are, nobody knows what will wait.
func TestNoQueueIsMadeUp(t *testing.T) {
	l := overloaded(t, 2, 0)
	assert.Zero(t, l.cycle(waits(20, 0)).Plans[0].Expected.Queue)

	f := twoPools(0, declared("chat-a100", 1, 4), declared("chat-h100", 0, 0))
	f.Workloads[0].Variants[1].CurrentReplicas = 1
	d := newLoop(t, f).cycle(waits(20, 100))
	assert.InDelta(t, 100, d.Plans[0].Expected.Queue, 0)
}

// A ledger has what is starting.
func TestCheckpointHasWhatIsStarting(t *testing.T) {
	l := overloaded(t, 2, 0)
	l.cycle(waits(20, 100))
	l.variant("prod/chat", "chat-a100").StartingReplicas = 6
	l.cycle(waits(20, 280))
	text, err := json.Marshal(l.memory.Checkpoint())
	require.NoError(t, err)
	var read planner.Checkpoint
	require.NoError(t, json.Unmarshal(text, &read))
	assert.Equal(t, []planner.Start{{At: l.now.Add(-planner.DefaultCycle), Replicas: 6}}, read.Workloads["prod/chat"].Variants[0].Starting)
}

// Replicas that are about to be ready are not given up for others of a mix that would drain
// queues a little sooner. For demand that goes unserved they are.
func TestBacklogMovesNoReplicasThatStart(t *testing.T) {
	f := twoPools(0, declared("h100", 0, 10), declared("a100", 1, 9))
	f.Pools[0].Capacity.Value, f.Pools[1].Capacity.Value = 3, 3
	code := f.Workloads[0]
	code.Name, code.Variants = "code", []planner.Variant{declared("h100", 0, 10), declared("a100", 1, 4)}
	f.Workloads = append(f.Workloads, code)
	cycle := func(chat, code planner.Observation) planner.Decision {
		l := newLoop(t, f)
		for _, v := range []struct {
			workload, variant string
			replicas, ready   int
		}{{"prod/chat", "h100", 2, 1}, {"prod/code", "h100", 1, 1}, {"prod/code", "a100", 3, 0}} {
			of := l.variant(v.workload, v.variant)
			of.CurrentReplicas, of.StartingReplicas, of.Startup = v.replicas, v.replicas-v.ready, time.Minute
		}
		code.Workload = "prod/code"
		return l.cycle(chat, code)
	}
	d := cycle(waits(16, 1200), waits(14, 2400))
	assert.Empty(t, d.Changes, "it would take 3 × a100 and 3 × h100")
	d = cycle(waits(26, 0), waits(28, 0))
	assert.NotEmpty(t, d.Changes)
}
