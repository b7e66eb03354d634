package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnswersAreEqual(t *testing.T) {
	all, err := cells()
	require.NoError(t, err)
	require.Len(t, all, 36)
	for _, c := range all {
		require.NoError(t, c.different())
	}
}

// TestDifferentAnswersAreFound: a coefficient that is off by 1 % shows.
func TestDifferentAnswersAreFound(t *testing.T) {
	all, err := cells()
	require.NoError(t, err)
	for _, c := range all {
		c.baseline.Alpha *= 0.99
		require.ErrorContains(t, c.different(), "itl", c)
		require.ErrorContains(t, c.different(), "capacity", c)
	}
}

// TestRatios guards what is reached. The least ratios are about half of what is
// measured, so that a failure means that something became slower.
func TestRatios(t *testing.T) {
	results, err := study(effort{repeats: 25, turn: 200 * time.Microsecond})
	require.NoError(t, err)
	for _, r := range results {
		assert.Zero(t, r.allocations[evaluate], r.cell)
		assert.Zero(t, r.allocations[capacity], r.cell)
	}
	for _, guard := range []struct {
		batch, places      int
		evaluate, capacity float64
	}{
		{16, 128, 2.8, 12},
		{16, 160, 3.5, 15},
		{64, 128, 3.4, 18},
		{64, 640, 13, 68},
		{256, 128, 5.4, 29},
		{256, 2560, 46, 240},
	} {
		t.Run(fmt.Sprintf("B=%d/Q=%d", guard.batch, guard.places), func(t *testing.T) {
			guarded := 0
			for _, r := range results {
				if r.cell.batch == guard.batch && r.cell.places == guard.places {
					assert.GreaterOrEqual(t, r.contests[evaluate].undisturbed, guard.evaluate, "%s: Evaluate", r.cell)
					assert.GreaterOrEqual(t, r.contests[capacity].undisturbed, guard.capacity, "%s: Capacity", r.cell)
					guarded++
				}
			}
			assert.Equal(t, 6, guarded)
		})
	}
}

func TestReportSaysWhatIsMissed(t *testing.T) {
	c := &cell{model: "V1", shape: "chat", batch: 256, places: 128}
	r := result{cell: c, allocations: [kinds]float64{evaluate: 0, capacity: 3}}
	for k := range kinds {
		r.contests[k] = contest{theirs: 24 * time.Microsecond, ours: 2 * time.Microsecond, ratio: 12, least: 11, most: 13}
	}
	page := report([]result{r}, []own{{batch: 256, places: 128, evaluate: 1500, tailLimit: 25_000}}, effort{repeats: 1, turn: time.Millisecond})
	for _, line := range []string{
		"| Evaluate | B = 256 | ≥ 10 | 12 | reached |",
		"| Capacity | B = 256 | ≥ 50 | 12 | **missed** |",
		"| allocations of Evaluate | everywhere | 0 | 0 | reached |",
		"| allocations of Capacity | everywhere | 0 | 3 | **missed** |",
		"| time of Capacity, default model | B = 256 | ≤ 20 µs | 25 µs | **missed** |",
		"| 256 | 128 | V1 | chat | 24 µs | 2 µs | 12 | 11 | 13 | 3 |",
		"| 256 | 128 | 0 µs | 1.5 µs | 0 µs | 25 µs |",
	} {
		assert.Contains(t, page, line+"\n")
	}
}
