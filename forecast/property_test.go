package forecast_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/forecast"
)

// predictions feeds a course, three samples in each slot of 5 minutes, and returns what
// is predicted after each.
func predictions(c forecast.Config, rates []float64, horizon time.Duration) []forecast.Prediction {
	var s forecast.State
	all := make([]forecast.Prediction, 0, 3*len(rates))
	for i, rate := range rates {
		for j := range 3 {
			at := start().Add(time.Duration(i)*5*time.Minute + time.Duration(j)*100*time.Second)
			s = c.Observe(s, at, rate*(1+float64(j)/50), horizon)
			all = append(all, c.Predict(s, at))
		}
	}
	return all
}

// Where requests are so many that chance explains none of it, only proportions count.
func TestPredictionsScaleWithDemand(t *testing.T) {
	for _, k := range kinds() {
		rates := course(k, 4, 5, 5*time.Minute)
		for i := range rates {
			rates[i] *= 1 << 30
		}
		plain := predictions(forecast.Config{}, rates, 12*time.Minute)
		for factor, most := range map[float64]float64{
			0.125: 0, 1024: 0, // Exact in binary.
			60: 1e-6, 0.37: 1e-6, // History has seven digits.
		} {
			scaled := make([]float64, len(rates))
			for i, r := range rates {
				scaled[i] = factor * r
			}
			for i, p := range predictions(forecast.Config{}, scaled, 12*time.Minute) {
				q := plain[i]
				require.Equal(t, q.Method, p.Method, "%s ×%v, sample %d", k.name, factor, i)
				require.InDelta(t, factor*q.Point, p.Point, most*factor*300*(1<<30), "%s ×%v, sample %d", k.name, factor, i)
				require.InDelta(t, factor*q.Upper, p.Upper, most*factor*300*(1<<30), "%s ×%v, sample %d", k.name, factor, i)
			}
		}
	}
}

func TestBandGrowsWithQuantile(t *testing.T) {
	rates := course(crowds, 5, 5, 5*time.Minute)
	below := predictions(forecast.Config{Quantile: 0.5}, rates, 7*time.Minute)
	for _, quantile := range []float64{0.8, 0.9, 0.95, 0.99, 0.997, 0.999} {
		above := predictions(forecast.Config{Quantile: quantile}, rates, 7*time.Minute)
		for i := range above {
			require.Equal(t, below[i].Point, above[i].Point)
			require.LessOrEqual(t, below[i].Band, above[i].Band, "quantile %v, sample %d", quantile, i)
		}
		below = above
	}
}

func TestObserveLeavesStatesAsTheyWere(t *testing.T) {
	c := forecast.Config{Slot: time.Hour}
	var s forecast.State
	var states []forecast.State
	var texts []string
	for i, rate := range course(noisyDay, 6, 9, time.Hour) {
		s = c.Observe(s, start().Add(time.Duration(i)*time.Hour), rate, time.Duration(i%5)*time.Hour)
		text, err := json.Marshal(s)
		require.NoError(t, err)
		states, texts = append(states, s), append(texts, string(text))
	}
	for i, s := range states {
		text, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, texts[i], string(text), "state %d", i)
	}
}

func TestRestoredStateGoesOnAlike(t *testing.T) {
	var c forecast.Config
	var s, restored forecast.State
	for i, rate := range course(smoothDay, 7, 8, 5*time.Minute) {
		if i%500 == 499 {
			text, err := json.Marshal(s)
			require.NoError(t, err)
			restored = forecast.State{}
			require.NoError(t, json.Unmarshal(text, &restored))
			require.Equal(t, s, restored)
		}
		at := start().Add(time.Duration(i) * 5 * time.Minute)
		s, restored = c.Observe(s, at, rate, time.Minute), c.Observe(restored, at, rate, time.Minute)
	}
	assert.Equal(t, s, restored)
}

// invariants are what holds for any state and prediction.
func invariants(t *testing.T, c forecast.Config, s forecast.State, now time.Time) {
	t.Helper()
	p := c.Predict(s, now)
	for _, v := range []float64{p.Observed, p.Point, p.Band, p.Now, p.Upper, p.Coverage} {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v < 0, "%+v", p)
	}
	require.GreaterOrEqual(t, p.Band, p.Point)
	require.GreaterOrEqual(t, p.Upper, p.Band)
	require.GreaterOrEqual(t, p.Upper, p.Now)
	require.GreaterOrEqual(t, p.Age, time.Duration(0))
	require.NotEmpty(t, p.Reason())
	if k := s.Models; k != nil {
		require.LessOrEqual(t, len(k.Pending), s.Lead)
		require.LessOrEqual(t, len(k.Errors), 1440)
	}
	require.LessOrEqual(t, len(s.Days), 28)
}

func FuzzObserve(f *testing.F) {
	f.Add([]byte{10, 10, 200, 0, 10, 10, 255, 255}, uint8(1), uint8(0))
	f.Add([]byte("days with gaps and many horizons, one after another"), uint8(60), uint8(2))
	f.Fuzz(func(t *testing.T, steps []byte, horizon, shape uint8) {
		slots := []time.Duration{time.Minute, 5 * time.Minute, time.Hour}
		c := forecast.Config{Slot: slots[int(shape)%len(slots)], Quantile: 0.5 + float64(shape%50)/101}
		require.NoError(t, c.Validate())
		rates := []float64{0, 1e-300, 1e-9, 1, 7, 1e6, 1e30, 1e31, -1, math.NaN(), math.Inf(1)}
		var s forecast.State
		at := start()
		for i, step := range steps {
			// Every fourth step lasts up to 5 days, the others up to 10 minutes; some go back.
			length := time.Duration(int(step)-20) * 2500 * time.Millisecond
			if step%4 == 3 {
				length *= 700
			}
			at = at.Add(length)
			rate := rates[(int(step)+i)%len(rates)]
			for range 1 + int(step%8)*30 {
				at = at.Add(c.Slot / 2)
				s = c.Observe(s, at, rate*(1+float64(i%3)/4), time.Duration(int(horizon)*(i%7))*time.Minute)
			}
			invariants(t, c, s, at)
		}
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var restored forecast.State
		require.NoError(t, json.Unmarshal(text, &restored))
		require.Equal(t, s, restored)
	})
}
