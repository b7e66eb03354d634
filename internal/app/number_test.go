package app_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/app"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "-1.5": "-1.5", "8e9": "8e+09", "8B": "8e+09", "70b": "7e+10", "1.5T": "1.5e+12", "80G": "8e+10", "3k": "3000", "2M": "2e+06"} {
		var n app.Number
		assert.Empty(t, n.String(), "absent")
		require.NoError(t, n.Set(text), text)
		assert.Equal(t, want, n.String(), text)
	}
	for _, text := range []string{"", "B", "8X", "inf", "nan", "1e999", "8 B", "8BB"} {
		var n app.Number
		require.Error(t, n.Set(text), text)
		assert.Empty(t, n.String())
	}
}

func TestCount(t *testing.T) {
	var c app.Count
	assert.Empty(t, c.String(), "absent")
	require.NoError(t, c.Set("0"))
	assert.Equal(t, "0", c.String())
	for _, text := range []string{"", "1.5", "x", "3000000000"} {
		require.Error(t, c.Set(text), text)
	}
}

func TestChoice(t *testing.T) {
	c := app.Choice{Names: []string{"DECODE_POINT", "OPEN_LOOP"}}
	assert.Empty(t, c.String(), "absent")
	for _, text := range []string{"open-loop", "OPEN_LOOP", "Open-Loop"} {
		require.NoError(t, c.Set(text))
		assert.Equal(t, "open-loop", c.String())
	}
	require.EqualError(t, c.Set("half-open"), "must be one of decode-point, open-loop")
}
