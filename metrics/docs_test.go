package metrics

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocsNameEveryMetric reads the page that says what is read.
func TestDocsNameEveryMetric(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	require.NoError(t, err)
	for _, e := range engines() {
		assert.True(t, strings.Contains(string(page), "| `"+string(e.name)+"`") || e.name == gateway, "%s is not in docs/metrics.md", e.name)
		for _, m := range slices.Concat(e.demand, e.work) {
			for _, name := range m.names {
				histogram := strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
				assert.True(t, strings.Contains(string(page), "`"+name+"`") || strings.Contains(string(page), "`"+histogram+"`"),
					"%s of %s is not in docs/metrics.md", name, e.name)
			}
		}
	}
}
