package trace_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/trace"
)

func TestShapesAreThoseOfWindows(t *testing.T) {
	w := trace.Workload{Name: "chat", Source: trace.List{
		{At: 0, Input: 10, Output: 1},
		{At: 9, Input: 30, Output: 1},
		{At: 20, Input: 5, Output: 7},
		{At: 29, Input: 5, Output: 7},
		{At: 31, Input: 1, Output: 1},
	}}
	shapes, err := trace.Shapes(w, 1, 10, 3)
	require.NoError(t, err)
	assert.Equal(t, []queueing.Shape{
		{InputTokens: 20, OutputTokens: 1, InputSCV: 0.25},
		{},
		{InputTokens: 5, OutputTokens: 7},
	}, shapes)

	_, err = trace.Shapes(w, 1, 0, 3)
	assert.Error(t, err)
}
