//go:build e2e && linux

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
)

// A real API server takes the Jobs of a sweep as they are, and knows every field of them.
func TestSweepIsAccepted(t *testing.T) {
	c := controlplane.New(t, controlplane.Config{})
	for _, arguments := range [][]string{{"-k", "../../deploy/sweep"}, {"-f", "../../deploy/sweep/merge.yaml"}} {
		for _, apply := range [][]string{{"apply"}, {"apply", "--server-side"}} {
			out, err := c.Kubectl(t.Context(), append(append(apply, "--dry-run=server", "--validate=strict"), arguments...)...)
			require.NoError(t, err)
			assert.Contains(t, out, "job.batch/")
			assert.NotContains(t, out, "Warning")
		}
	}
}
