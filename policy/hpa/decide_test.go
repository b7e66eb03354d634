package hpa_test

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

	"github.com/poolwright/poolwright/policy/hpa"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// queue is an input in which replicas share a queue of so many requests.
func queue(now time.Time, replicas int32, requests int64) hpa.Input {
	pods := make([]hpa.Pod, replicas)
	for i := range pods {
		pods[i] = hpa.Pod{Name: fmt.Sprint("replica-", i), HasStarted: true, Ready: hpa.Ready}
	}
	return hpa.Input{
		Now: now, Replicas: replicas, Observed: replicas, Pods: pods,
		Readings: []hpa.Reading{{Values: []int64{1000 * requests}}},
	}
}

// ofQueue wants ten requests per replica.
func ofQueue() hpa.Config {
	c := hpa.DefaultConfig()
	c.MinReplicas, c.MaxReplicas = 1, 50
	c.Metrics = []hpa.Metric{{Source: hpa.External, Name: "waiting", Target: hpa.Target{Type: hpa.AverageValue, Value: 10_000}}}
	return c
}

func ExampleDecide() {
	c := ofQueue()
	var history hpa.History
	var decision hpa.Decision
	replicas := int32(4)
	for i, requests := range []int64{150, 150, 20, 20} {
		now := start.Add(time.Duration(i) * 15 * time.Second)
		decision, history = hpa.Decide(&c, history, queue(now, replicas, requests))
		fmt.Printf("%d requests: %d → %d, %v, %v\n", requests, replicas, decision.Replicas,
			decision.AbleToScale.Reason, decision.ScalingLimited.Reason)
		history = history.Scaled(&c, now, replicas, decision.Replicas)
		replicas = decision.Replicas
	}
	fmt.Println(decision.AbleToScale.Reason.Text())
	// Output:
	// 150 requests: 4 → 8, ReadyForNewScale, ScaleUpLimit
	// 150 requests: 8 → 15, ReadyForNewScale, DesiredWithinRange
	// 20 requests: 15 → 15, ScaleDownStabilized, DesiredWithinRange
	// 20 requests: 15 → 15, ScaleDownStabilized, DesiredWithinRange
	// recent recommendations were higher: replicas stay until the stabilization window agrees
}

func TestScaleDownEndsWithItsWindow(t *testing.T) {
	c := ofQueue()
	behavior := hpa.DefaultBehavior()
	for _, b := range []*hpa.Behavior{nil, &behavior} {
		c.Behavior = b
		var h hpa.History
		var d hpa.Decision
		replicas := int32(20)
		d, h = hpa.Decide(&c, h, queue(start, replicas, 200))
		require.Equal(t, replicas, d.Replicas)
		for age := 15 * time.Second; age < 5*time.Minute; age += 15 * time.Second {
			d, h = hpa.Decide(&c, h, queue(start.Add(age), replicas, 30))
			require.Equal(t, replicas, d.Replicas, age)
			require.Equal(t, hpa.ScaleDownStabilized, d.AbleToScale.Reason)
		}
		d, _ = hpa.Decide(&c, h, queue(start.Add(5*time.Minute+time.Second), replicas, 30))
		assert.EqualValues(t, 3, d.Replicas)
	}
}

func TestOnlyChangesThatWereMadeLimitTheNext(t *testing.T) {
	c := ofQueue()
	behavior := hpa.DefaultBehavior()
	c.Behavior = &behavior
	d, h := hpa.Decide(&c, hpa.History{}, queue(start, 4, 400))
	require.EqualValues(t, 8, d.Replicas)
	again, _ := hpa.Decide(&c, h, queue(start.Add(time.Second), 4, 400))
	assert.EqualValues(t, 8, again.Replicas, "nothing was done")

	done := h.Scaled(&c, start, 4, 8)
	blocked, _ := hpa.Decide(&c, done, queue(start.Add(14*time.Second), 8, 400))
	assert.EqualValues(t, 8, blocked.Replicas)
	assert.Equal(t, hpa.ScaleUpLimit, blocked.ScalingLimited.Reason)
	assert.True(t, blocked.ScalingLimited.True)
	free, _ := hpa.Decide(&c, done, queue(start.Add(15*time.Second), 8, 400))
	assert.EqualValues(t, 16, free.Replicas)
	assert.Empty(t, h.Ups, "the history before is as it was")
}

func TestPermitIsDecideWithoutMetrics(t *testing.T) {
	c := ofQueue()
	without := c
	without.Metrics = nil
	require.NoError(t, without.Validate())
	var asked, told hpa.History
	a := arbitrary{rand.New(rand.NewPCG(3, 1))}
	replicas := int32(3)
	for i := range 300 {
		now := start.Add(time.Duration(i) * 15 * time.Second)
		requests := a.Int64N(200)
		byMetrics, next := hpa.Decide(&c, asked, queue(now, replicas, requests))
		byPlan, nextTold := hpa.Permit(&without, told, now, replicas, byMetrics.Wanted)
		require.Equal(t, byMetrics.Replicas, byPlan.Replicas)
		require.Equal(t, byMetrics.ScalingLimited, byPlan.ScalingLimited)
		require.Equal(t, next, nextTold)
		asked, told, replicas = next, nextTold, byMetrics.Replicas
	}
	d, _ := hpa.Decide(&without, told, queue(start.Add(time.Hour), 5, 0))
	assert.EqualValues(t, 5, d.Replicas, "without metrics nothing is decided")
}

func TestDisabledDirectionStays(t *testing.T) {
	c := ofQueue()
	c.DownscaleStabilization = 0
	behavior := hpa.DefaultBehavior()
	behavior.ScaleDown.StabilizationWindow = 0
	behavior.ScaleUp.Select, behavior.ScaleDown.Select = hpa.Disabled, hpa.Disabled
	c.Behavior = &behavior
	seen := hpa.History{Recommendations: []hpa.Recommendation{{At: start.Add(-time.Hour), Replicas: 4}}}
	for requests, reason := range map[int64]hpa.Reason{400: hpa.ScaleUpLimit, 10: hpa.ScaleDownLimit} {
		d, _ := hpa.Decide(&c, seen, queue(start, 4, requests))
		assert.EqualValues(t, 4, d.Replicas)
		assert.Equal(t, reason, d.ScalingLimited.Reason)
	}
}

func TestExactlyOnTargetMissingPodsChangeNothing(t *testing.T) {
	c := valid()
	c.Metrics = []hpa.Metric{{Source: hpa.PodsMetric, Name: "running", Target: hpa.Target{Type: hpa.AverageValue, Value: 1000}}}
	in := queue(start, 4, 0)
	in.Readings = []hpa.Reading{{Samples: []hpa.Sample{{Pod: "replica-0", Value: 1000}, {Pod: "replica-1", Value: 1000}}}}
	d, _ := hpa.Decide(&c, hpa.History{}, in)
	assert.EqualValues(t, 4, d.Replicas)
}

// TestPendingPodsDoNotStopScalingDown is what users of Kubernetes met (issues 82285,
// 85506).
func TestPendingPodsDoNotStopScalingDown(t *testing.T) {
	c := valid()
	c.Behavior = nil
	c.DownscaleStabilization = 0
	c.Metrics = []hpa.Metric{{Source: hpa.PodsMetric, Name: "running", Target: hpa.Target{Type: hpa.AverageValue, Value: 10_000}}}
	in := queue(start, 10, 0)
	reading := hpa.Reading{}
	for i := range in.Pods {
		if i >= 6 {
			in.Pods[i].Phase, in.Pods[i].Ready = hpa.Pending, hpa.NoCondition
			continue
		}
		reading.Samples = append(reading.Samples, hpa.Sample{Pod: in.Pods[i].Name, Value: 5000})
	}
	in.Readings = []hpa.Reading{reading}
	seen := hpa.History{Recommendations: []hpa.Recommendation{{At: start.Add(-time.Hour), Replicas: 10}}}
	d, _ := hpa.Decide(&c, seen, in)
	assert.EqualValues(t, 3, d.Replicas)
}

func TestReasonsHaveNamesAndWords(t *testing.T) {
	for r := hpa.SucceededGetScale; r <= hpa.ScaleDownLimit; r++ {
		assert.NotContains(t, r.String(), "Reason(")
		assert.Contains(t, r.Text(), " ")
	}
	assert.Equal(t, "Reason(99)", hpa.Reason(99).Text())
}

// arbitrary draws anything that is valid, large numbers among it.
type arbitrary struct{ *rand.Rand }

func (a arbitrary) value() int64 {
	return []int64{0, a.Int64N(10), a.Int64N(5000), a.Int64(), -a.Int64(), math.MaxInt64, math.MinInt64}[a.IntN(7)]
}

func (a arbitrary) duration(longest time.Duration) time.Duration {
	return time.Duration(a.Int64N(int64(longest)))
}

func (a arbitrary) rules() hpa.Rules {
	r := hpa.Rules{
		StabilizationWindow: a.duration(time.Minute), Select: hpa.Select(a.IntN(3)), Tolerance: a.Float64(),
	}
	for range 1 + a.IntN(3) {
		r.Policies = append(r.Policies, hpa.Policy{
			Type: hpa.PolicyType(a.IntN(2)), Value: 1 + []int32{a.Int32N(5), a.Int32N(500), a.Int32N(math.MaxInt32)}[a.IntN(3)],
			Period: 1 + a.duration(time.Minute),
		})
	}
	return r
}

func (a arbitrary) config() hpa.Config {
	c := hpa.DefaultConfig()
	c.MinReplicas = a.Int32N(5)
	c.MaxReplicas = c.MinReplicas + 1 + []int32{a.Int32N(10), a.Int32N(math.MaxInt32 - 5)}[a.IntN(2)]
	c.Metrics = []hpa.Metric{{Source: hpa.External, Name: "waiting", Target: hpa.Target{Type: hpa.TargetType(1 + a.IntN(2)), Value: 1 + a.Int64N(5000)}}}
	for _, target := range []hpa.TargetType{hpa.Utilization, hpa.AverageValue} {
		c.Metrics = append(c.Metrics, hpa.Metric{
			Source: hpa.Resource, Name: []string{"cpu", "memory"}[a.IntN(2)], Target: hpa.Target{Type: target, Value: 1 + a.Int64N(200)},
		})
	}
	if a.IntN(3) > 0 {
		c.Behavior = &hpa.Behavior{ScaleUp: a.rules(), ScaleDown: a.rules()}
	}
	return c
}

func (a arbitrary) input(now time.Time, replicas int32, c *hpa.Config) hpa.Input {
	in := hpa.Input{Now: now, Replicas: replicas, Observed: replicas + a.Int32N(2)}
	for i := range a.IntN(8) {
		request := []hpa.Request{{Resource: "cpu", Value: max(0, a.value())}, {Resource: "memory", Value: 1000}}
		in.Pods = append(in.Pods, hpa.Pod{
			Name: fmt.Sprint("replica-", i), Deleting: a.IntN(9) == 0, Phase: hpa.Phase(a.IntN(5)), HasStarted: a.IntN(5) > 0,
			Started: now.Add(-a.duration(time.Hour)), Ready: hpa.Readiness(a.IntN(4)), ReadySince: now.Add(-a.duration(time.Hour)),
			Containers: []hpa.Container{{Name: "server", Requests: request}},
		})
	}
	for range c.Metrics {
		r := hpa.Reading{}
		if a.IntN(6) == 0 {
			r.Problem = "no answer"
		}
		for range a.IntN(3) {
			r.Values = append(r.Values, a.value())
		}
		for i := range a.IntN(10) {
			r.Samples = append(r.Samples, hpa.Sample{
				Pod: fmt.Sprint("replica-", i), Time: now.Add(-a.duration(time.Minute)), Window: a.duration(time.Minute),
				Containers: []hpa.Usage{{Name: "server", Measured: a.IntN(9) > 0, Value: a.value()}},
			})
		}

		in.Readings = append(in.Readings, r)
	}
	return in
}

// FuzzDecide runs an autoscaler that is valid for a while: replicas stay in bounds, the
// history goes on from its written form and is not changed by a decision, and the order
// of pods and samples does not matter.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, int32(1), int32(10), int32(3), int64(15e9), int64(60e9), 0.1)
	}
	f.Add(uint64(1), int32(-1), int32(math.MaxInt32), int32(math.MaxInt32), int64(-1), int64(math.MaxInt64), math.Inf(1))
	f.Fuzz(func(t *testing.T, seed uint64, least, most, value int32, period, window int64, tolerance float64) {
		a := arbitrary{rand.New(rand.NewPCG(seed, 1))}
		c := a.config()
		require.NoError(t, c.Validate())
		c.MinReplicas, c.MaxReplicas, c.Tolerance = least, most, tolerance
		c.DownscaleStabilization = time.Duration(window)
		if c.Behavior != nil {
			c.Behavior.ScaleUp.Policies[0].Value = value
			c.Behavior.ScaleDown.Policies[0].Period = time.Duration(period)
			c.Behavior.ScaleUp.StabilizationWindow = time.Duration(window)
			c.Behavior.ScaleDown.Tolerance = tolerance
		}
		if c.Validate() != nil {
			return
		}
		var h hpa.History
		replicas, now := a.Int32N(20), start
		for range 40 {
			now = now.Add(5*time.Second + a.duration(30*time.Second))
			in := a.input(now, replicas, &c)
			before := written(t, h)
			d, next := hpa.Decide(&c, h, in)
			require.Equal(t, before, written(t, h))

			a.Shuffle(len(in.Pods), func(i, k int) { in.Pods[i], in.Pods[k] = in.Pods[k], in.Pods[i] })
			for _, r := range in.Readings {
				slices.Reverse(r.Samples)
			}
			again, nextAgain := hpa.Decide(&c, read(t, before), in)
			require.Equal(t, d.Replicas, again.Replicas)
			require.Equal(t, next, nextAgain)

			if replicas != 0 || c.MinReplicas == 0 {
				require.GreaterOrEqual(t, d.Replicas, c.MinReplicas)
			}
			require.LessOrEqual(t, d.Replicas, c.MaxReplicas)
			h = next.Scaled(&c, now, replicas, d.Replicas)
			replicas = d.Replicas
		}
	})
}

// Changes that lie in the future, as a clock was set back, limit others no longer than if they
// were of now.
func TestResumedHistoryIsForgottenInTime(t *testing.T) {
	c, behavior := ofQueue(), hpa.DefaultBehavior()
	rules := []hpa.Policy{{Type: hpa.Pods, Value: 1, Period: time.Minute}}
	behavior.ScaleUp.Policies, behavior.ScaleDown = rules, hpa.Rules{Policies: rules}
	c.Behavior = &behavior
	for _, to := range []int32{9, 11} {
		d, h := hpa.Permit(&c, hpa.History{}, start.Add(time.Hour), 10, to)
		require.Equal(t, to, d.Replicas)
		h = h.Scaled(&c, start.Add(time.Hour), 10, to).Resume(start)
		next := to + to - 10
		d, h = hpa.Permit(&c, h, start, to, next)
		assert.Equal(t, to, d.Replicas, "a change within the period")
		d, _ = hpa.Permit(&c, h, start.Add(time.Minute), to, next)
		assert.Equal(t, next, d.Replicas)
	}
}

func TestHistoryStaysSmall(t *testing.T) {
	c := ofQueue()
	behavior := hpa.DefaultBehavior()
	behavior.ScaleDown.StabilizationWindow = 30 * time.Second
	c.Behavior = &behavior
	a := arbitrary{rand.New(rand.NewPCG(1, 1))}
	var h hpa.History
	var d hpa.Decision
	replicas := int32(1)
	for i := range 5000 {
		now := start.Add(time.Duration(i) * 5 * time.Second)
		d, h = hpa.Decide(&c, h, queue(now, replicas, 10+a.Int64N(400)))
		h = h.Scaled(&c, now, replicas, d.Replicas)
		replicas = d.Replicas
	}
	assert.LessOrEqual(t, len(h.Recommendations), 8, "one per cycle of the longest window, and one outdated")
	assert.LessOrEqual(t, len(h.Ups), 5)
	assert.LessOrEqual(t, len(h.Downs), 5)
	assert.NotEmpty(t, h.Ups)
	assert.NotEmpty(t, h.Downs)
}

func written(t *testing.T, h hpa.History) string {
	t.Helper()
	text, err := json.Marshal(h)
	require.NoError(t, err)
	return string(text)
}

func read(t *testing.T, text string) (h hpa.History) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &h))
	return h
}

func BenchmarkDecide(b *testing.B) {
	c := ofQueue()
	behavior := hpa.DefaultBehavior()
	c.Behavior = &behavior
	in := queue(start, 8, 80)
	var h hpa.History
	b.ReportAllocs()
	for b.Loop() {
		in.Now = in.Now.Add(15 * time.Second)
		_, h = hpa.Decide(&c, h, in)
	}
}
