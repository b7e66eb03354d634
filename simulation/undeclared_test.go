package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Whoever scales learns lengths that are not declared from what ends; all else is told.
func TestUndeclaredLengthsAreNotTold(t *testing.T) {
	config := simulation.Config{
		Fleet: chat(8, 1), Start: time.Unix(0, 0).UTC(), Requests: slices.Values([]trace.Request{}), Undeclared: []bool{true},
	}
	c, err := simulation.New(config)
	require.NoError(t, err)
	fleet, _, err := c.Fleet(t.Context())
	require.NoError(t, err)
	assert.Equal(t, queueing.Shape{ArrivalSCV: 1}, fleet.Workloads[0].Shape)
	assert.Equal(t, queueing.Tokens(256), config.Fleet.Workloads[0].Shape.OutputTokens, "the caller's fleet stays as it is")

	config.Undeclared = []bool{true, false}
	_, err = simulation.New(config)
	assert.ErrorContains(t, err, "undeclared: of 2 workloads for 1")
}
