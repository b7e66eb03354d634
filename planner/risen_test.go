package planner_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolwright/poolwright/planner"
)

// crowd is 10 requests/s on replicas that complete all of them, observed over a minute, until
// a cycle in which more come than are completed.
type crowd struct{ *loop }

func newCrowd(t *testing.T) crowd {
	t.Helper()
	c := crowd{newLoop(t, twoPools(0, declared("chat-a100", 1, 10)))}
	c.variant("prod/chat", "chat-a100").Startup = time.Minute
	for range 5 {
		c.see(calm())
	}
	return c
}

// calm is what is seen before the step, and step what is seen 15 s after one to 40/s that
// replicas complete 20/s of.
func calm() planner.Observation {
	return planner.Observation{
		Window: time.Minute, CompletionRate: rate(10), RecentCompletionRate: rate(10), Running: rate(40), Waiting: rate(0),
	}
}

func step() planner.Observation {
	return planner.Observation{
		Window: time.Minute, CompletionRate: rate(10 + 10*15/60.), RecentCompletionRate: rate(20), Running: rate(80), Waiting: rate(15*20 - 40),
	}
}

func (c crowd) see(o planner.Observation) planner.WorkloadPlan {
	c.t.Helper()
	d := c.cycle(chat(o))
	return d.Plans[0]
}

// A step is seen as soon as requests wait, however long the window is that rates are over, and
// whoever counts arrivals.
func TestStepIsSeenInTheFirstCycleWithAQueue(t *testing.T) {
	for _, arrivals := range []planner.Measurement{{}, rate(10 + 30*15/60.)} {
		o := step()
		o.ArrivalRate = arrivals
		p := newCrowd(t).see(o)
		assert.InDelta(t, 40, float64(p.Expected.Observed), 1e-9)
		assert.Empty(t, p.Conditions)
	}
}

// Where not all replicas tell what they complete, that says so still.
func TestStepWhereReplicasAreSilent(t *testing.T) {
	o := step()
	o.CompletionRate.State, o.RecentCompletionRate = planner.Incomplete, planner.Measurement{State: planner.Incomplete, Value: 5}
	p := newCrowd(t).see(o)
	assert.InDelta(t, 5+20, float64(p.Expected.Observed), 1e-9)
	require.Len(t, p.Conditions, 1)
	assert.Equal(t, planner.DemandIncomplete, p.Conditions[0].Type)
	assert.Contains(t, p.Conditions[0].Message, "completed, which does not show a backlog; 5/s completed, and +20/s inside, since the last cycle")
}

// What is seen of a step that goes on is the same in every cycle, while the window has not seen all of
// it: neither does the queue of the last cycle count again, nor what is about to serve it.
func TestStepIsAnsweredOnce(t *testing.T) {
	c := newCrowd(t)
	v := c.variant("prod/chat", "chat-a100")
	waiting, completed, asked := 0., []float64{10, 10, 10, 10}, 0
	for k := range 4 {
		completed = append(completed, 20)
		waiting += 15 * 20
		sum := 0.
		for _, n := range completed[len(completed)-4:] {
			sum += n / 4
		}
		p := c.see(planner.Observation{
			Window: time.Minute, CompletionRate: rate(sum), RecentCompletionRate: rate(20), Running: rate(40), Waiting: rate(waiting),
		})
		assert.InDelta(t, 40, float64(p.Expected.Observed), 1e-9, "cycle %d", k)
		assert.InDelta(t, 40, float64(p.Expected.Upper), 1e-9, "cycle %d", k)
		if k == 0 {
			asked = v.CurrentReplicas
		}
		assert.Equal(t, asked, v.CurrentReplicas, "cycle %d", k)
		v.StartingReplicas = v.CurrentReplicas - 2
	}
	assert.Greater(t, asked, 4)
}

// What is no growth of demand raises nothing.
func TestQueuesThatAreNoStep(t *testing.T) {
	for name, change := range map[string]func(*planner.Observation){
		"nothing waits": func(o *planner.Observation) { o.Running, o.Waiting = rate(40+15*20), rate(0) },
		"as many as chance makes": func(o *planner.Observation) {
			o.CompletionRate, o.RecentCompletionRate, o.Running, o.Waiting = rate(10), rate(10), rate(40), rate(25)
		},
		"a replica does not tell":                 func(o *planner.Observation) { o.Waiting.State = planner.Incomplete },
		"what waits is too old":                   func(o *planner.Observation) { o.Waiting.State = planner.Stale },
		"nobody knows what was completed of late": func(o *planner.Observation) { o.RecentCompletionRate = planner.Measurement{} },
		"a queue that is lost": func(o *planner.Observation) {
			o.RecentCompletionRate, o.Running, o.Waiting = rate(10), rate(0), rate(1)
		},
	} {
		c := newCrowd(t)
		o := step()
		change(&o)
		p := c.see(o)
		// The window sees as much at most.
		window := o.CompletionRate.Value + (max(0, o.Running.Value-40)+o.Waiting.Value)/60
		assert.LessOrEqual(t, float64(p.Expected.Observed), window+1e-9, name)
	}
}

// After a cycle in which a queue was not counted whole it begins anew: what a replica that was
// silent has is no growth.
func TestQueueOfAReplicaThatWasSilentIsNoStep(t *testing.T) {
	c := newCrowd(t)
	silent := calm()
	silent.Running, silent.Waiting = planner.Measurement{State: planner.Incomplete, Value: 20}, planner.Measurement{State: planner.Incomplete}
	c.see(silent)
	back := calm()
	back.Waiting = rate(300)
	assert.InDelta(t, 10, float64(c.see(back).Expected.Observed), 1e-9)
}

// Counts that are further apart than the cycles are of a longer time; those that are nearer, as
// others report them, are not taken for more. Where they are further apart than a window, the rate
// of the window holds.
func TestGrowthIsOfTheTimeBetweenCounts(t *testing.T) {
	for _, ages := range []struct {
		before, now time.Duration
		want        float64
	}{
		{15 * time.Second, 0, 30}, {10 * time.Second, 10 * time.Second, 40}, {0, 10 * time.Second, 40}, {46 * time.Second, 0, 12.5 + 300/60.},
	} {
		c := newCrowd(t)
		before, now := calm(), step()
		before.Age, now.Age = ages.before, ages.now
		c.see(before)
		assert.InDelta(t, ages.want, float64(c.see(now).Expected.Observed), 1e-9, "%v", ages)
	}
}

// A queue from which 40/s are completed, while 10/s arrive, is no step, however far apart its counts
// are, and where there is no new one yet.
func TestQueueThatIsDrainedIsNoStep(t *testing.T) {
	drained := calm()
	drained.ArrivalRate, drained.CompletionRate, drained.RecentCompletionRate = rate(10), rate(40), rate(40)
	for _, ages := range []struct {
		before, now time.Duration
		counted     float64
	}{
		{0, 0, 450}, {0, 10 * time.Second, 150}, {0, 15 * time.Second, 0}, {15 * time.Second, 0, 900}, {0, 20 * time.Second, 0},
	} {
		c := newCrowd(t)
		drained.Waiting, drained.Age = rate(3000), ages.before
		c.see(drained)
		drained.Waiting, drained.Age = rate(3000-ages.counted), ages.now
		assert.InDelta(t, 10, float64(c.see(drained).Expected.Observed), 1e-9, "%v", ages)
	}
}

// Whatever is counted, the demand is no less than that of the window.
func TestRecentCountsTakeNothingAway(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c, raised := newCrowd(t), 0
	const cycles = 500
	for range cycles {
		window := 20 * random.Float64()
		p := c.see(planner.Observation{
			Window: time.Minute, ArrivalRate: rate(window),
			CompletionRate: rate(20 * random.Float64()), RecentCompletionRate: rate(20 * random.Float64()),
			Running: rate(float64(random.IntN(80))), Waiting: rate(float64(random.IntN(3) * random.IntN(200))),
			Age: time.Duration(random.IntN(15)) * time.Second,
		})
		assert.GreaterOrEqual(t, float64(p.Expected.Observed), window)
		if float64(p.Expected.Observed) > window {
			raised++
		}
	}
	assert.Greater(t, raised, cycles/20)
}

// Poisson arrivals of a constant rate are hardly ever taken for a step, though some always
// wait.
func TestChanceIsNoStep(t *testing.T) {
	source := rand.NewPCG(3, 4)
	for _, mean := range []float64{0.2, 2, 20} {
		arrivals := distuv.Poisson{Lambda: 15 * mean, Src: source}
		l, risen := newCrowd(t), 0
		past := []float64{mean, mean, mean, mean}
		const cycles = 500
		for range cycles {
			// As many run and wait as ever: what arrives is completed.
			past = append(past[1:], arrivals.Rand()/15)
			p := l.see(planner.Observation{
				Window: time.Minute, ArrivalRate: rate((past[0] + past[1] + past[2] + past[3]) / 4),
				RecentCompletionRate: rate(past[3]), CompletionRate: rate(mean), Running: rate(40), Waiting: rate(5),
			})
			if float64(p.Expected.Observed) > (past[0]+past[1]+past[2]+past[3])/4+1e-9 {
				risen++
			}
		}
		assert.Less(t, risen, cycles/40, "%v/s", mean)
	}
}
