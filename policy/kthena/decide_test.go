package kthena_test

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

	"github.com/poolwright/poolwright/policy/kthena"
)

func ExampleDecide() {
	c := kthena.DefaultConfig()
	c.MinReplicas, c.MaxReplicas = 1, 20
	c.Metrics = []kthena.Metric{{Name: "num_requests_waiting", Target: 5}}
	var history kthena.History
	var decision kthena.Decision
	replicas := 2
	for i, waiting := range []float64{30, 12, 1} {
		values := slices.Repeat([]float64{waiting}, replicas)
		decision, history = kthena.Decide(&c, history, kthena.Input{
			Now: time.Unix(int64(15*i), 0), Replicas: replicas, Readings: []kthena.Reading{{Values: values}},
		})
		for _, step := range decision.Steps {
			fmt.Println(step)
		}
		replicas = decision.Replicas
	}
	// Output:
	// 2 → 12: metrics ask for it
	// 12 → 6: replicas may not grow further within the period
	// 6 → 15: metrics ask for it
	// 15 → 12: replicas may not grow further within the period
	// 12 → 3: metrics ask for it
	// 3 → 12: recent recommendations were higher
}

// record is a value at a time.
type record struct {
	at    time.Time
	value int
}

// everything is a second autoscaler that remembers all and looks at all of it. It is
// written from the description of the policy, without care for time or room.
type everything struct {
	recommended, decided []record
	causes               []time.Time
}

// recommendations returns those of a window.
func (e *everything) recommendations(now time.Time, window time.Duration) (values []int) {
	for _, r := range e.recommended {
		if window > 0 && now.Sub(r.at) <= window {
			values = append(values, r.value)
		}
	}
	return values
}

// decisions returns those that held at some time of a period.
func (e *everything) decisions(now time.Time, period time.Duration) (values []int) {
	for i, r := range e.decided {
		if i == len(e.decided)-1 || now.Sub(e.decided[i+1].at) <= period {
			values = append(values, r.value)
		}
	}
	return values
}

func (e *everything) panics(c *kthena.Config, now time.Time, current, recommended int) bool {
	if float64(recommended) >= float64(current)*float64(c.Panic.ThresholdPercent)/100 {
		e.causes = append(e.causes, now)
	}
	return c.Panic.Hold > 0 && slices.ContainsFunc(e.causes, func(at time.Time) bool { return now.Sub(at) <= c.Panic.Hold })
}

func (e *everything) decide(c *kthena.Config, now time.Time, current, recommended int) (int, bool) {
	panics := e.panics(c, now, current, recommended)
	v := current
	switch {
	case panics:
		v = recommended
		start := slices.Min(append(e.decisions(now, c.Panic.Period), current))
		if c.Panic.Period > 0 && start > 0 {
			v = min(v, start+int(math.Floor(float64(start)*float64(c.Panic.Percent)/100)))
		}
		v = max(v, current)
	case recommended < current:
		v = slices.Max(append(e.recommendations(now, c.ScaleDown.Window), recommended))
		start := slices.Max(append(e.decisions(now, c.ScaleDown.Period), current))
		a, b := start-c.ScaleDown.Instances, start-int(math.Floor(float64(start)*float64(c.ScaleDown.Percent)/100))
		switch {
		case c.ScaleDown.Period > 0 && c.ScaleDown.Select == kthena.Or:
			v = max(v, min(a, b))
		case c.ScaleDown.Period > 0 && c.ScaleDown.Select == kthena.And:
			v = max(v, a, b)
		}
		v = min(v, current)
	case recommended > current:
		v = slices.Min(append(e.recommendations(now, c.ScaleUp.Window), recommended))
		start := slices.Min(append(e.decisions(now, c.ScaleUp.Period), current))
		a, b := start+c.ScaleUp.Instances, start+int(math.Floor(float64(start)*float64(c.ScaleUp.Percent)/100))
		switch {
		case c.ScaleUp.Period > 0 && c.ScaleUp.Select == kthena.Or:
			v = min(v, max(a, b))
		case c.ScaleUp.Period > 0 && c.ScaleUp.Select == kthena.And:
			v = min(v, a, b)
		}
		v = max(v, current)
	}
	v = min(max(v, c.MinReplicas), c.MaxReplicas)
	e.recommended = append(e.recommended, record{now, recommended})
	e.decided = append(e.decided, record{now, v})
	return v, panics
}

// arbitrary draws anything that is valid.
type arbitrary struct{ *rand.Rand }

func (a arbitrary) duration() time.Duration {
	return []time.Duration{0, 15 * time.Second, time.Minute, time.Duration(a.Int64N(int64(3 * time.Minute)))}[a.IntN(4)]
}

func (a arbitrary) stable() kthena.Stable {
	return kthena.Stable{
		Window: a.duration(), Instances: a.IntN(5), Percent: []int{0, 33, 100, a.IntN(1001)}[a.IntN(4)],
		Period: a.duration(), Select: kthena.Select(a.IntN(3)),
	}
}

func (a arbitrary) config() kthena.Config {
	c := kthena.Config{
		MinReplicas: a.IntN(4), TolerancePercent: a.IntN(30), Readings: kthena.Readings(a.IntN(2)),
		Metrics: []kthena.Metric{{Name: "a", Target: 0.1 + 5*a.Float64()}, {Name: "b", Target: 0.1 + a.Float64()}},
		ScaleUp: a.stable(), ScaleDown: a.stable(),
		Panic: kthena.Panic{ThresholdPercent: 110 + a.IntN(300), Hold: a.duration(), Percent: a.IntN(1001), Period: a.duration()},
	}
	c.MaxReplicas = c.MinReplicas + 1 + a.IntN(40)
	return c
}

func (a arbitrary) value() float64 {
	if a.IntN(20) == 0 {
		return []float64{-1, math.NaN(), math.Inf(1), math.MaxFloat64, 1e-300}[a.IntN(5)]
	}
	return 8 * a.Float64()
}

func (a arbitrary) input(now time.Time, replicas int) kthena.Input {
	in := kthena.Input{Now: now, Replicas: replicas, Unready: a.IntN(3)}
	for range 2 {
		r := kthena.Reading{HasExternal: a.IntN(4) == 0, External: float64(replicas+1) * a.value(), Missing: a.IntN(2)}
		for range a.IntN(replicas + 2) {
			r.Values = append(r.Values, a.value())
		}
		in.Readings = append(in.Readings, r)
	}
	return in
}

// FuzzDecide runs an autoscaler that is valid for a while, beside one that remembers
// everything: both decide the same, replicas stay in bounds, the history goes on from
// its written form and is not changed by a decision, and the order of replicas does not
// matter.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, 1, 40, 10, int64(15e9), int64(60e9), 1.0)
	}
	f.Add(uint64(1), -1, math.MaxInt32, -1, int64(-1), int64(math.MaxInt64), math.NaN())
	f.Fuzz(func(t *testing.T, seed uint64, least, most, percent int, period, window int64, target float64) {
		a := arbitrary{rand.New(rand.NewPCG(seed, 1))}
		c := a.config()
		require.NoError(t, c.Validate())
		if a.IntN(2) == 0 {
			c.MinReplicas, c.MaxReplicas, c.ScaleUp.Percent = least, most, percent
			c.ScaleDown.Period, c.ScaleDown.Window = time.Duration(period), time.Duration(window)
			c.Metrics[0].Target = target
		}
		if c.Validate() != nil {
			return
		}
		var h kthena.History
		var oracle everything
		replicas, now := a.IntN(50), start
		for range 60 {
			now = now.Add(time.Duration(a.Int64N(int64(30 * time.Second))))
			in := a.input(now, replicas)
			before := written(t, h)
			d, next := kthena.Decide(&c, h, in)
			require.Equal(t, before, written(t, h))

			for _, r := range in.Readings {
				slices.Reverse(r.Values)
			}
			again, nextAgain := kthena.Decide(&c, read(t, before), in)
			require.Equal(t, d, again)
			require.Equal(t, next, nextAgain)
			if d.Skipped {
				require.Equal(t, replicas, d.Replicas)
				continue
			}
			byPlan, nextTold := kthena.Permit(&c, h, now, replicas, d.Recommended)
			require.Equal(t, d.Replicas, byPlan.Replicas)
			require.Equal(t, next, nextTold)
			want, panics := oracle.decide(&c, now, replicas, d.Recommended)
			require.Equal(t, want, d.Replicas)
			require.Equal(t, panics, d.Panicking)
			require.GreaterOrEqual(t, d.Replicas, c.MinReplicas)
			require.LessOrEqual(t, d.Replicas, c.MaxReplicas)
			require.Equal(t, d.Replicas, d.Steps[len(d.Steps)-1].After)
			h = next
			replicas = min(d.Replicas+a.IntN(2), 200)
		}
	})
}

func written(t *testing.T, h kthena.History) string {
	t.Helper()
	text, err := json.Marshal(h)
	require.NoError(t, err)
	return string(text)
}

func read(t *testing.T, text string) (h kthena.History) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	return h
}

// What lies in the future, as a clock was set back, counts no longer than if it were of now.
func TestResumedHistoryIsForgottenInTime(t *testing.T) {
	const longest = 5 * time.Minute
	c := kthena.DefaultConfig()
	c.MinReplicas, c.MaxReplicas = 1, 100
	c.Panic = kthena.Panic{Percent: 100, Period: longest, ThresholdPercent: 150, Hold: longest}
	c.ScaleUp = kthena.Stable{Instances: 1, Percent: 10, Period: longest, Select: kthena.And, Window: longest}
	c.ScaleDown = c.ScaleUp
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		var of, anew kthena.History
		for k := range 40 {
			_, of = kthena.Permit(&c, of, now.Add(time.Hour+time.Duration(k)*15*time.Second), 1+random.IntN(20), 1+random.IntN(20))
		}
		of = of.Resume(now, 8)
		wanted := []int{7, 13}[random.IntN(2)] // no cause of a panic
		for at := time.Duration(0); at <= 2*longest; at += 15 * time.Second {
			var got, want kthena.Decision
			got, of = kthena.Permit(&c, of, now.Add(at), 10, wanted)
			want, anew = kthena.Permit(&c, anew, now.Add(at), 10, wanted)
			require.NotEqual(t, 10, want.Replicas)
			if at > longest+30*time.Second {
				require.Equal(t, want, got, at)
			}
		}
	}
}

func TestHistoryStaysSmall(t *testing.T) {
	c := valid()
	a := arbitrary{rand.New(rand.NewPCG(1, 1))}
	var h kthena.History
	var d kthena.Decision
	replicas := 1
	for i := range 10_000 {
		values := slices.Repeat([]float64{10 * a.Float64()}, replicas)
		d, h = kthena.Decide(&c, h, each(start.Add(time.Duration(i)*5*time.Second), replicas, values...))
		replicas = d.Replicas
	}
	assert.LessOrEqual(t, len(h.Largest), 61)
	assert.LessOrEqual(t, len(h.Smallest)+len(h.Most)+len(h.Fewest), 3*13)
	assert.NotEmpty(t, h.Most)
}

func BenchmarkDecide(b *testing.B) {
	c := valid()
	in := each(start, 4, 5, 5, 5, 5)
	var h kthena.History
	b.ReportAllocs()
	for b.Loop() {
		in.Now = in.Now.Add(15 * time.Second)
		_, h = kthena.Decide(&c, h, in)
	}
}
