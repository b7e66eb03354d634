package app_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/app"
)

// aMonth takes minutes to simulate.
const aMonth = `
duration: 744h
window: 1h
seeds: [1, 2, 3, 4]
fleet:
  pools: [{accelerator: H100, capacity: 64, pricePerHour: 3}]
  workloads:
  - name: chat
    load: {arrivalRate: 50, inputTokens: 500, outputTokens: 100}
    variants: [{name: v, accelerator: H100, profile: {alphaMs: 8, betaMs: 0.1, deltaMs: 0.03}, maxBatch: 64, currentReplicas: 3}]
`

// Being interrupted ends a simulation and a sweep soon, and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	for name, sweep := range map[string][]string{"simulation": nil, "sweep": {"pools.H100=60..64"}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(100*time.Millisecond, cancel)
			defer timer.Stop()
			folder := t.TempDir()
			r := app.NewSimulateRequest()
			r.File, r.Engine, r.To, r.Sweep = "-", "go", filepath.Join(folder, "result"), sweep
			var out, log bytes.Buffer
			began := time.Now()
			err := app.Simulate(ctx, r, strings.NewReader(aMonth), &out, &log)
			require.EqualError(t, err, "interrupted")
			assert.Less(t, time.Since(began), 20*time.Second)
			assert.Empty(t, out.String())
			left, err := os.ReadDir(folder)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// A result takes the place of an older one as a whole.
func TestResultReplacesAnOlderOne(t *testing.T) {
	folder := t.TempDir()
	r := app.NewSimulateRequest()
	r.File, r.Engine, r.To = "-", "go", filepath.Join(folder, "result")
	require.NoError(t, r.Output.Set("csv"))
	require.NoError(t, os.WriteFile(r.To, []byte(strings.Repeat("old\n", 10_000)), 0o600))
	short := strings.Replace(strings.Replace(aMonth, "744h", "10m", 1), "window: 1h", "window: 1m", 1)
	require.NoError(t, app.Simulate(t.Context(), r, strings.NewReader(short), &bytes.Buffer{}, &bytes.Buffer{}))
	text, err := os.ReadFile(r.To)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "autoscaler,"))
	assert.NotContains(t, string(text), "old")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, left, 1)
}
