package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

func TestASmallerGridIsTheBeginningOfALargerOne(t *testing.T) {
	small, large := oracleCases(24), oracleCases(192)
	assert.Equal(t, small, large[:24])
	names := map[string]bool{}
	tuning := 0
	for i := range large {
		names[large[i].name] = true
		if large[i].tuning() {
			tuning++
		}
	}
	assert.Len(t, names, 192)
	assert.InDelta(t, 96, tuning, 20, "two halves")
}

func TestEveryCaseIsServable(t *testing.T) {
	for _, c := range oracleCases(192) {
		s, err := queueing.NewStation(c.replica, c.shape)
		require.NoError(t, err, c.name)
		assert.Positive(t, float64(s.SaturationRate()), c.name)
	}
}

// plainCase is a replica that hardly does more than decode.
func plainCase() oracleCase {
	return oracleCase{
		name: "plain", profile: "plain", seed: 1,
		replica: queueing.Replica{
			Profile:  queueing.Profile{Alpha: 10e-3, Beta: 1e-4, TTFTOffset: 5e-3},
			MaxBatch: 64,
		},
		shape: queueing.Shape{InputTokens: 100, OutputTokens: 100, ArrivalSCV: 1},
	}
}

func TestSimulatedPlainReplicaIsPredicted(t *testing.T) {
	c := judgedCase{oracleCase: plainCase()}
	c.judge(effort{5e4, 5e5})
	require.NoError(t, c.err)
	require.Len(t, c.points, 7)
	assert.NotEmpty(t, c.judged())
	for _, p := range c.points {
		assert.InDelta(t, p.load, p.rate*100*(10e-3+64*1e-4)/64, 0.05, "the load is a share of saturation")
		if p.load <= 0.7 {
			assert.InEpsilon(t, p.itl.mean, float64(p.predicted.ITL.Mean()), 0.05)
			assert.InEpsilon(t, p.running, p.predicted.Running, 0.05)
		}
	}
}

func TestSimulationRepeats(t *testing.T) {
	c := plainCase()
	first, err := observe(&c, 20, 40, effort{1e4, 1e5})
	require.NoError(t, err)
	second, err := observe(&c, 20, 40, effort{1e4, 1e5})
	require.NoError(t, err)
	assert.Equal(t, first, second)
}

func TestGroupsAreOrdered(t *testing.T) {
	labels := []string{"16", "0.5", "plain", "4", "limited queue"}
	assert.Negative(t, compareLabels(labels[1], labels[0]))
	assert.Positive(t, compareLabels(labels[0], labels[3]))
	assert.Positive(t, compareLabels(labels[2], labels[4]))
}
