package cluster

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page says of every kind why it is watched, and the numbers that count.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/cluster.md")
	require.NoError(t, err)
	for _, kind := range Kinds(nil) {
		plural := kind.Kind + "s"
		if stem, ok := strings.CutSuffix(kind.Kind, "y"); ok {
			plural = stem + "ies"
		}
		assert.True(t, bytes.Contains(page, []byte(plural)), plural)
	}
	for _, word := range []string{OwnershipConflict, TargetMissing, queueLabel} {
		assert.True(t, bytes.Contains(page, []byte("`"+word+"`")), "`"+word+"`")
	}
	assert.True(t, bytes.Contains(page, fmt.Appendf(nil, "looked for every %.0f s", DefaultRetry.Seconds())))
	assert.True(t, bytes.Contains(page, fmt.Appendf(nil, "the last view counts for %.0f s", DefaultMaxAge.Seconds())))
	assert.True(t, bytes.Contains(page, fmt.Appendf(nil, "%d conditions per cycle", mostEvents)))
}
