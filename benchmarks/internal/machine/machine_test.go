package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFixedWork(t *testing.T) { assert.Positive(t, FixedWork()) }

func TestPageFaults(t *testing.T) {
	before := PageFaults()
	took, err := FaultTime()
	assert.NoError(t, err)
	assert.Positive(t, took)
	assert.Greater(t, PageFaults(), before)
}
