package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// knownProfile is what fits must find.
func knownProfile() queueing.Profile {
	return queueing.Profile{
		Alpha: 7e-3, Beta: 2e-5, Kappa: 6e-8, Gamma: 3e-4, Delta: 2.5e-5, Epsilon: 1e-9, TTFTOffset: 5e-3,
	}
}

// knownMeasurements are what the model says of the known profile.
func knownMeasurements(t *testing.T) []measurement {
	t.Helper()
	var ms []measurement
	for _, shape := range []queueing.Shape{
		{InputTokens: 128, OutputTokens: 128, ArrivalSCV: 1},
		{InputTokens: 1024, OutputTokens: 256, ArrivalSCV: 1},
		{InputTokens: 6000, OutputTokens: 200, ArrivalSCV: 1},
	} {
		c := condition{replica: queueing.Replica{MaxBatch: 128, MaxBatchedTokens: 2048}, shape: shape}
		s, err := c.station(knownProfile())
		require.NoError(t, err)
		for _, load := range []float64{0.1, 0.4, 0.7, 0.9} {
			c.rate = load * float64(s.SaturationRate())
			p := s.Evaluate(queueing.Rate(c.rate))
			ms = append(ms, measurement{
				condition: c, ttft: float64(p.TTFT.Mean()), itl: float64(p.ITL.Mean()),
				ttftTolerance: 0.03, itlTolerance: 0.01,
			})
		}
	}
	return ms
}

func TestFitFindsAProfileThatExplainsTheMeasurements(t *testing.T) {
	ms := knownMeasurements(t)
	p, loss, err := fitProfile(ms, knownProfile().TTFTOffset)
	require.NoError(t, err)
	assert.Less(t, loss, 1e-3)
	assert.InEpsilon(t, knownProfile().Alpha, p.Alpha, 0.01)
	assert.InEpsilon(t, knownProfile().Delta, p.Delta, 0.05)
	for i := range ms {
		s, err := ms[i].station(p)
		require.NoError(t, err)
		q := s.Evaluate(queueing.Rate(ms[i].rate))
		assert.InEpsilon(t, ms[i].itl, float64(q.ITL.Mean()), 0.005)
		assert.InEpsilon(t, ms[i].ttft, float64(q.TTFT.Mean()), 0.02)
	}
}

func TestFitHardlyFollowsAnOutlier(t *testing.T) {
	ms := knownMeasurements(t)
	ms[1].itl *= 2
	p, _, err := fitProfile(ms, knownProfile().TTFTOffset)
	require.NoError(t, err)
	s, err := ms[0].station(p)
	require.NoError(t, err)
	assert.InEpsilon(t, ms[0].itl, float64(s.Evaluate(queueing.Rate(ms[0].rate)).ITL.Mean()), 0.02)
}
