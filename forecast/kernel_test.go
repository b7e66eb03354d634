package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSmallestIsThatOfSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		values := make([]float64, 1+random.IntN(40))
		for i := range values {
			values[i] = float64(random.IntN(12))
		}
		sorted := slices.Sorted(slices.Values(values))
		n, k := len(values), random.IntN(len(values))
		require.InDelta(t, sorted[k], smallest(slices.Clone(values), k), 0, "%v, %d", values, k)
		require.InDelta(t, (sorted[(n-1)/2]+sorted[n/2])/2, median(values), 0, "%v", sorted)
	}
}

func TestSlotsDivideDays(t *testing.T) {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for _, slot := range []time.Duration{time.Minute, 67500 * time.Millisecond, 5 * time.Minute, time.Hour} {
		first := slotOf(monday, slot)
		assert.Zero(t, first%perDay(slot))
		assert.Zero(t, first/perDay(slot)%7, "weeks begin on Monday")
		assert.Equal(t, first-1, slotOf(monday.Add(-1), slot))
		assert.Equal(t, first+17, slotOf(monday.Add(18*slot-1), slot))
		assert.Equal(t, first+18, slotOf(monday.Add(18*slot), slot))
	}
}

// One more error is below the k-th of n with probability k/(n+1).
func TestRankAmong(t *testing.T) {
	for n := 1; n < 300; n++ {
		for _, q := range []float64{0.5, 0.8, 0.9, 0.99, 0.999} {
			k := rankAmong(n, q)
			assert.GreaterOrEqual(t, float64(k)/float64(n+1), q-1e-12)
			assert.Less(t, float64(k-1)/float64(n+1), q, "no larger than it must be")
		}
	}
}

// periodic is a history of whole days with a profile of the day, up to a slot.
func periodic(slots int64) (State, func(int64) float64) {
	s := State{Slot: 30 * time.Minute, Lead: 1}
	rate := func(slot int64) float64 { return 10 + 4*math.Sin(2*math.Pi*float64(slot)/48) }
	for slot := range slots {
		s = s.put(slot, rate(slot), 5)
	}
	return s, rate
}

func TestSmoothingLearnsProfile(t *testing.T) {
	s, rate := periodic(2 * 48)
	last := int64(2*48 - 1)
	k := newSmoothing(&s, last, rate(last))
	for slot := last + 1; slot < 150*48; slot++ {
		k = k.next(slot, rate(slot), 1)
		last = slot
	}
	for ahead := range 48 {
		assert.InDelta(t, rate(last+int64(ahead)), k.predict(last, ahead), 0.02, "%d slots ahead", ahead)
	}
}

// A gap is bridged by trend and season; the level then follows as far as it would have
// without the gap.
func TestSmoothingBridgesGap(t *testing.T) {
	k := &Smoothing{Level: 10, Trend: 1, Daily: make([]float32, 48), Weekly: make([]float32, 168)}
	n := k.next(3, 20, 3)
	expected := 10 + 0.9 + 0.81 + 0.729
	assert.InDelta(t, expected+(1-0.7*0.7*0.7)*(20-expected), n.Level, 1e-9)
	assert.InDelta(t, 0.1*0.343*(20-expected), float64(n.Daily[3]), 1e-6)
	assert.Zero(t, k.Daily[3], "the state before is as it was")
}

func TestSeasonalMethodsAgreeOnPeriodicDemand(t *testing.T) {
	s, rate := periodic(3 * 48)
	last := int64(3*48 - 1)
	assert.InDelta(t, rate(last+4), s.level(last+4, 0), 1e-6)
	assert.InDelta(t, rate(last+4)-rate(last), s.change(last, 4), 1e-6)
}

func TestSeasonalMethodsWithoutHistory(t *testing.T) {
	s, _ := periodic(20)
	assert.InDelta(t, 7, s.level(22, 7), 0)
	assert.Zero(t, s.change(19, 2))
}

func TestErrorsAreThoseOfTheLastSlots(t *testing.T) {
	var k Models
	for i := range 10 {
		k.remember(float64(i), 4)
	}
	assert.ElementsMatch(t, []float32{6, 7, 8, 9}, k.Errors)
	for i := range 3 {
		k.remember(float64(10+i), 6)
	}
	assert.ElementsMatch(t, []float32{7, 8, 9, 10, 11, 12}, k.Errors, "room for more")
	k.remember(13, 2)
	k.remember(14, 2)
	assert.ElementsMatch(t, []float32{13, 14}, k.Errors, "room for fewer")
}

// With enough errors the band is the quantile of all.
func TestMarginOfEnoughErrors(t *testing.T) {
	s := State{Slot: 5 * time.Minute, Lead: 1}
	var k Models
	for i := range 29 {
		k.remember(float64(1+i*7%29), 288)
	}
	assert.InDelta(t, 27, k.margin(&s, 0.9), 0)
	assert.Equal(t, 27, k.mostRank(&s))
	assert.Equal(t, 27, rankAmong(len(k.Errors), 0.9), "the two largest are left out, and that is no loss")
}

// The variance is that of the noise, whatever demand does, and however samples are spaced.
func TestVarianceOfSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	deviation := func(step float64) float64 {
		ago := 400.0
		points := make([]point, mostRecent)
		for i := range points {
			ago -= 5 + float64(random.IntN(15))
			points[i] = point{ago, 100 - 0.3*ago + 2*random.NormFloat64()}
		}
		for i := 12; i < len(points); i++ {
			points[i].rate += step
		}
		return math.Sqrt(variance(points))
	}
	const rounds = 4000
	quiet, stepped := 0.0, 0.0
	for range rounds {
		quiet += deviation(0) / rounds
		stepped += deviation(500) / rounds
	}
	assert.InDelta(t, 2, quiet, 0.1)
	assert.InDelta(t, 2, stepped, 0.5, "a step is not noise")
}

// The fit is that of the normal equations.
func TestFitIsLeastSquares(t *testing.T) {
	w := fit([]point{{40, 3}, {30, 5}, {10, 4}, {0, 8}})
	l := w.line(2)
	assert.InDelta(t, 0.09, l.Slope, 1e-12)
	assert.InDelta(t, 5+0.09*20, l.Level, 1e-12)
	assert.InDelta(t, 14-90*0.09, w.restOfLine(), 1e-12)
	assert.Equal(t, Line{Level: l.Level, Slope: l.Slope, Span: 40, Centre: 20, Variance: 0.5, SlopeVariance: 2.0 / 1000}, l)
	assert.InDelta(t, math.Sqrt(0.5+0.002*30*30), l.deviation(10), 1e-12)
}

// Two levels explain a step, and the best place between them is found.
func TestRestOfStep(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		points := make([]point, 2+random.IntN(19))
		for i := range points {
			points[i].rate = 50 * random.Float64()
		}
		least := math.Inf(1)
		for split := 1; split < len(points); split++ {
			before, after := fit(points[:split]), fit(points[split:])
			least = min(least, before.rest+after.rest)
		}
		whole := fit(points)
		assert.InDelta(t, least, whole.restOfStep(points), 1e-9)
	}
	step := agreed([]point{{120, 39}, {105, 41}, {90, 38}, {75, 40}, {60, 39}, {45, 37.5}, {30, 43.8}, {15, 44.7}, {0, 45.8}})
	assert.Zero(t, step.Slope)
}
