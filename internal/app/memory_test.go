package app

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The garbage collector aims below the limit of the container, or at what it is told to.
func TestMemoryOfTheContainer(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	require.NoError(t, os.Unsetenv("GOMEMLIMIT"))
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	require.NoError(t, heedMemory())
	assert.Equal(t, before, debug.SetMemoryLimit(-1), "nobody says how much there is")

	t.Setenv(memoryLimit, "1073741824")
	require.NoError(t, heedMemory())
	assert.EqualValues(t, 966367641, debug.SetMemoryLimit(-1))

	t.Setenv(memoryLimit, "1Gi")
	require.EqualError(t, heedMemory(), "MEMORY_LIMIT=1Gi: expected a number of bytes")
	t.Setenv("GOMEMLIMIT", "2GiB")
	require.NoError(t, heedMemory())
	assert.EqualValues(t, 966367641, debug.SetMemoryLimit(-1))
}
