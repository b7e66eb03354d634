package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFixedWork(t *testing.T) { assert.Positive(t, FixedWork()) }

func TestPageFaults(t *testing.T) {
	before := PageFaults()
	took, err := FaultTime()
	require.NoError(t, err)
	assert.Positive(t, took)
	assert.Greater(t, PageFaults(), before)
}
