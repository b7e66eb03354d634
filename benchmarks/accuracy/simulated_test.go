package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// The rows follow the analytic model, which simulated fleets agree with.
func TestSimulatedStudy(t *testing.T) {
	data := writeOpenLoop(t, openLoopText(t))
	s, err := simulatedStudy(options{Places: command.Places{Data: data}})
	require.NoError(t, err)
	assert.Len(t, s.listings[0].Rows, 16, "saturated rows and uncertain ones are left out")
	for _, x := range s.targets {
		assert.Less(t, x.measured, 0.10, x.name)
		assert.Positive(t, x.measured, x.name)
	}
}

func TestSummary(t *testing.T) {
	assert.Equal(t, observed{}, summarize(nil))
	o := summarize([]float64{4, 1, 3, 2})
	assert.Equal(t, observed{mean: 2.5, p50: 3, p95: 4, p99: 4}, o)
}
