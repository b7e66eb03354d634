package autoscaler_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// The page lists every kind by its name, with the size of its grid.
func TestDocumentedKinds(t *testing.T) {
	page, err := os.ReadFile("../../docs/autoscalers.md")
	require.NoError(t, err)
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| (\\d+) \\|$").FindAllSubmatch(page, -1) {
		listed = append(listed, fmt.Sprintf("%s: %s", row[1], row[2]))
	}
	var kinds []string
	for _, k := range autoscaler.Kinds() {
		kinds = append(kinds, fmt.Sprintf("%s: %d", k.Name(), len(k.Grid())))
	}
	assert.Equal(t, kinds, listed)
}
