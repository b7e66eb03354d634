package app_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/app"
)

// The fleet in the documentation is a fleet: every question about it has an answer.
func TestDocumentedFleet(t *testing.T) {
	page, err := os.ReadFile("../../docs/fleet.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "```yaml\n")
	require.True(t, ok)
	fleet, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	for _, question := range []app.Question{app.Optimize, app.Capacity} {
		var out bytes.Buffer
		err := app.Ask(t.Context(), app.Request{Question: question, File: "-", Engine: "go"}, strings.NewReader(fleet), &out)
		require.NoError(t, err)
		assert.Contains(t, out.String(), "prod/chat")
		assert.Contains(t, out.String(), "batch-h100")
	}
	var out bytes.Buffer
	err = app.Ask(t.Context(), app.Request{Question: app.Evaluate, File: "-", Engine: "go"}, strings.NewReader(fleet), &out)
	require.ErrorIs(t, err, app.ErrUnmet, "no replica of batch-h100 runs")
	assert.Contains(t, out.String(), "no replica runs")
}
