package knative_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/knative"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// run records so many seconds of load, decides after each, and follows.
func run(c *knative.Config, h knative.History, now time.Time, replicas, seconds int, load float64) (knative.Decision, knative.History) {
	var d knative.Decision
	for s := range seconds {
		at := now.Add(time.Duration(s) * time.Second)
		h.Record(c, at, load)
		d, h = knative.Decide(c, h, at, replicas)
		replicas = d.Replicas
	}
	return d, h
}

func ExampleDecide() {
	c := knative.DefaultConfig()
	c.Target = 10
	var history knative.History
	var decision knative.Decision
	now, replicas := start, 1
	for _, part := range []struct {
		seconds int
		load    float64
	}{{60, 15}, {6, 100}, {30, 20}, {60, 20}} {
		decision, history = run(&c, history, now, replicas, part.seconds, part.load)
		now, replicas = now.Add(time.Duration(part.seconds)*time.Second), decision.Replicas
		fmt.Println(part.load, "requests, panic:", decision.Panicking)
		for _, step := range decision.Steps {
			fmt.Println(" ", step)
		}
	}
	// Output:
	// 15 requests, panic: true
	//   2 → 2: it is what the mean of the stable window asks for
	// 100 requests, panic: true
	//   9 → 3: it is what the mean of the stable window asks for
	//   3 → 10: the mean of the panic window asks for more
	// 20 requests, panic: true
	//   10 → 3: it is what the mean of the stable window asks for
	//   3 → 5: replicas may not shrink further at once
	//   5 → 10: a panic never shrinks
	// 20 requests, panic: false
	//   2 → 2: it is what the mean of the stable window asks for
}

func TestPermitTakesAPlanForTheLoadSinceTheLast(t *testing.T) {
	c := knative.DefaultConfig()
	var asked, told knative.History
	var byPlan, byLoad knative.Decision
	replicas := 1
	for i := range 400 {
		now := start.Add(time.Duration(i) * 15 * time.Second)
		wanted := 3 + 10*(i/20%2)
		if i == 200 {
			told, asked = knative.History{}, knative.History{}
		}
		before, given := written(t, told), told
		byPlan, told = knative.Permit(&c, given, now, replicas, wanted)
		require.Equal(t, before, written(t, given))
		for s := range 15 {
			if i%200 > 0 || s == 14 {
				asked.Record(&c, now.Add(time.Duration(s-14)*time.Second), float64(wanted)*c.Target)
			}
		}
		byLoad, asked = knative.Decide(&c, asked, now, replicas)
		require.Equal(t, byLoad, byPlan)
		require.Equal(t, asked, told)
		replicas = byPlan.Replicas
		if i%20 >= 10 {
			require.Equal(t, wanted, replicas)
		}
	}
	_, again := knative.Permit(&c, told, start.Add(399*15*time.Second), replicas, 50)
	assert.Equal(t, told.Stable, again.Stable, "a second has one plan")
}

func TestNoLoadHolds(t *testing.T) {
	c := knative.DefaultConfig()
	d, h := knative.Decide(&c, knative.History{}, start, 3)
	assert.False(t, d.Known)
	assert.Equal(t, []knative.Step{{Reason: knative.NoLoad, Before: 3, After: 3}}, d.Steps)

	h.Record(&c, start, 1)
	for _, known := range []bool{true, false} {
		age := c.StableWindow
		if known {
			age -= time.Second
		}
		d, _ = knative.Decide(&c, h, start.Add(age), 3)
		assert.Equal(t, known, d.Known)
	}
}

func TestWhatIsNoLoadIsLeftOut(t *testing.T) {
	c := knative.DefaultConfig()
	var h knative.History
	for _, load := range []float64{math.NaN(), -1, math.Inf(1), 1e10} {
		h.Record(&c, start, load)
	}
	assert.Zero(t, h)
}

func TestSeveralReplicasStartInPanic(t *testing.T) {
	c := knative.DefaultConfig()
	d, _ := run(&c, knative.History{}, start, 8, 60, 70)
	assert.Equal(t, 8, d.Replicas)
	d, _ = run(&c, knative.History{}, start, 8, 63, 70)
	assert.Equal(t, 2, d.Replicas, "8 → 4 → 2")
	d, _ = run(&c, knative.History{}, start, 1, 1, 0)
	assert.Equal(t, 0, d.Replicas)
}

// second is the load of a time.
type second struct {
	at   int64
	load float64
}

// every is a second window. It keeps all that was recorded since it was last empty,
// and is written from the description of Knative's buckets.
type every struct {
	length int64
	loads  []second
}

func (e *every) last() int64 {
	last := int64(math.MinInt64)
	for _, s := range e.loads {
		last = max(last, s.at)
	}
	return last
}

func (e *every) record(at int64, load float64) {
	switch {
	case len(e.loads) > 0 && at <= e.last()-e.length:
		return
	case len(e.loads) == 0 || at >= e.last()+e.length:
		e.loads = nil
	}
	e.loads = append(e.loads, second{at, load})
}

// average is over the seconds of the window that lie between the first and the last
// load, to six decimals.
func (e *every) average(now int64) (float64, bool) {
	if len(e.loads) == 0 || now >= e.last()+e.length {
		return 0, false
	}
	from := max(now, e.last()) - e.length + 1
	first := e.last()
	sum := 0.0
	for _, s := range e.loads {
		first = min(first, s.at)
		if s.at >= from {
			sum += s.load
		}
	}
	mean := sum / float64(e.last()-max(first, from)+1)
	return math.Round(mean*1e6) / 1e6, true
}

// dumb is a second autoscaler, written from Knative's description: it decides by all that
// happened.
type dumb struct {
	stable, alarm every
	decided       bool
	panicking     bool
	excess        time.Time
	most          float64
}

func (o *dumb) decide(c *knative.Config, now time.Time, ready int) (int, bool) {
	if !o.decided && ready > 1 {
		o.panicking, o.excess, o.most = true, now, float64(ready)
	}
	o.decided = true
	stable, known := o.stable.average(now.Unix())
	if !known {
		return ready, false
	}
	alarm, _ := o.alarm.average(now.Unix())
	r := math.Max(1, float64(ready))
	limit := func(load float64) float64 {
		return math.Min(math.Max(math.Ceil(load/c.Target), math.Floor(r/c.MaxScaleDownRate)), math.Ceil(c.MaxScaleUpRate*r))
	}
	over := math.Ceil(alarm/c.Target)/r >= c.PanicThresholdPercent/100
	switch {
	case over:
		o.panicking, o.excess = true, now
	case o.panicking && now.Sub(o.excess) > c.StableWindow:
		o.panicking, o.most = false, 0
	}
	desired := limit(stable)
	if o.panicking {
		o.most = math.Max(o.most, math.Max(desired, limit(alarm)))
		desired = o.most
	}
	desired = math.Max(desired, float64(c.MinReplicas))
	if c.MaxReplicas > 0 {
		desired = math.Min(desired, float64(c.MaxReplicas))
	}
	return int(desired), true
}

// FuzzDecide runs an autoscaler beside a dumb one: both decide the same, replicas stay in
// bounds, the history goes on from its written form, and a decision leaves the windows
// as they are. Loads are multiples of 1/64, so that sums are exact in any order.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, 0, 30, 7.0, int64(60e9), 10.0, 200.0, 1000.0, 2.0)
	}
	f.Add(uint64(1), -1, -1, math.NaN(), int64(-1), 0.0, 1e9, math.Inf(1), 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, least, most int, target float64, window int64, share, threshold, up, down float64) {
		random := rand.New(rand.NewPCG(seed, 1))
		c := knative.Config{
			MinReplicas: least, MaxReplicas: most, Target: target, StableWindow: time.Duration(window), PanicWindowPercent: share,
			PanicThresholdPercent: threshold, MaxScaleUpRate: up, MaxScaleDownRate: down,
		}
		if c.Validate() != nil || c.MinReplicas > 1000 {
			return
		}
		seconds := c.StableWindow.Seconds()
		oracle := dumb{
			stable: every{length: int64(seconds)},
			alarm:  every{length: max(1, int64(math.Round(seconds*c.PanicWindowPercent/100)))},
		}
		var h knative.History
		replicas, now := random.IntN(20), start.Add(-time.Duration(random.Int64N(1e18)))
		gaps := []int{1, 1, 1, 2, 3, int(seconds), 2 * int(seconds)}
		for range 150 {
			now = now.Add(time.Duration(random.IntN(gaps[random.IntN(len(gaps))]*1000)) * time.Millisecond)
			for range random.IntN(3) {
				at := now.Add(-time.Duration(max(0, random.IntN(8)-4)) * time.Second)
				load := float64(random.IntN(64*(1+random.IntN(200)))) / 64
				h.Record(&c, at, load)
				oracle.stable.record(at.Unix(), load)
				oracle.alarm.record(at.Unix(), load)
			}
			before := written(t, h)
			d, next := knative.Decide(&c, h, now, replicas)
			require.Equal(t, before, written(t, h))
			again, nextAgain := knative.Decide(&c, read(t, before), now, replicas)
			require.Equal(t, d, again)
			require.Equal(t, next, nextAgain)

			want, known := oracle.decide(&c, now, replicas)
			require.Equal(t, known, d.Known)
			require.Equal(t, want, d.Replicas)
			h = next
			replicas = min(d.Replicas, 1000)
			if d.Known {
				require.GreaterOrEqual(t, d.Replicas, c.MinReplicas)
				require.True(t, c.MaxReplicas == 0 || d.Replicas <= c.MaxReplicas)
			}
		}
	})
}

// TestWindowIsThatOfASumOverAll compares averages, of any load.
func TestWindowIsThatOfASumOverAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := knative.DefaultConfig()
	var h knative.History
	oracle := every{length: 60}
	at := start
	for range 5000 {
		at = at.Add(time.Duration(random.IntN(2500)) * time.Millisecond)
		load := math.Exp(20 * random.Float64())
		h.Record(&c, at, load)
		oracle.record(at.Unix(), load)
		if len(oracle.loads) > 400 {
			oracle.loads = slices.Clone(oracle.loads[300:])
		}
		later := at.Add(time.Duration(random.IntN(70)) * time.Second)
		d, _ := knative.Decide(&c, h, later, 1)
		want, known := oracle.average(later.Unix())
		require.Equal(t, known, d.Known)
		require.InDelta(t, want, d.StableLoad, 1e-5)
	}
	assert.Len(t, h.Stable.Seconds, 60)
	assert.Len(t, h.Panic.Seconds, 6)
}

func TestCloneSharesNothing(t *testing.T) {
	c := knative.DefaultConfig()
	var h knative.History
	h.Record(&c, start, 5)
	before := written(t, h)
	other := h.Clone()
	other.Record(&c, start, 6)
	assert.Equal(t, before, written(t, h))
}

func written(t *testing.T, h knative.History) string {
	t.Helper()
	text, err := json.Marshal(h)
	require.NoError(t, err)
	return string(text)
}

func read(t *testing.T, text string) (h knative.History) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	return h
}

// BenchmarkRecord shows that the time of a record does not depend on the length of the
// window.
func BenchmarkRecord(b *testing.B) {
	for _, window := range []time.Duration{time.Minute, time.Hour} {
		b.Run(window.String(), func(b *testing.B) {
			c := knative.DefaultConfig()
			c.StableWindow, c.PanicWindowPercent = window, 1
			var h knative.History
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				h.Record(&c, start.Add(time.Duration(i)*time.Second), float64(i%100))
			}
		})
	}
}
