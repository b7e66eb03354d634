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

func start() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

func TestNothingObserved(t *testing.T) {
	p := forecast.Config{}.Predict(forecast.State{}, start())
	assert.Equal(t, forecast.None, p.Method)
	assert.Zero(t, p.Upper)
}

func TestLastValue(t *testing.T) {
	var c forecast.Config
	s := c.Observe(forecast.State{}, start(), 7, 2*time.Minute)
	p := c.Predict(s, start().Add(15*time.Second))
	assert.Equal(t, forecast.Prediction{
		For: start().Add(2*time.Minute + 15*time.Second), Observed: 7, Age: 15 * time.Second,
		Point: 7, Upper: 7, Method: forecast.LastValue,
	}, p)
}

func TestWhatIsNoSample(t *testing.T) {
	var c forecast.Config
	s := c.Observe(forecast.State{}, start(), 7, time.Minute)
	for _, rate := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		assert.Equal(t, s, c.Observe(s, start().Add(time.Minute), rate, time.Minute))
	}
	assert.Equal(t, s, c.Observe(s, start(), 9, time.Minute), "repeated")
	assert.Equal(t, s, c.Observe(s, start().Add(-time.Minute), 9, time.Minute), "out of order")
	assert.Equal(t, c.Observe(forecast.State{}, start().Add(-2*time.Hour), 9, time.Minute),
		c.Observe(s, start().Add(-2*time.Hour), 9, time.Minute), "set back")
}

func TestStateIsPlainData(t *testing.T) {
	var c forecast.Config
	var s forecast.State
	for i := range 3000 {
		s = c.Observe(s, start().Add(time.Duration(i)*307*time.Second), 1/float64(i+1), time.Minute)
	}
	text, err := json.Marshal(s)
	require.NoError(t, err)
	var restored forecast.State
	require.NoError(t, json.Unmarshal(text, &restored))
	assert.Equal(t, s, restored)
}

func TestConfigValidate(t *testing.T) {
	require.NoError(t, forecast.Config{}.Validate())
	err := forecast.Config{Slot: 7 * time.Minute, Days: 1, Quantile: 1}.Validate()
	assert.EqualError(t, err, `forecast: slot 7m0s is not a part of a day from 1m to 1h
forecast: days 1 is not from 2 to 28
forecast: quantile 1 is not from 0.5 to 0.999`)
}
