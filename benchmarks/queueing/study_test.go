package main

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
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

// Answering allocates nothing. Times are guarded by the ratios of the suite.
func TestNothingIsAllocated(t *testing.T) {
	all, err := cells()
	require.NoError(t, err)
	for _, c := range all {
		tasks, err := c.tasks()
		require.NoError(t, err)
		for _, k := range []kind{evaluate, capacity} {
			allocated, err := tasks[k].allocations()
			require.NoError(t, err)
			assert.Zero(t, allocated, "%s: %s", c, k)
		}
	}
}

func TestReportSaysWhatIsMissed(t *testing.T) {
	c := &cell{model: "V1", shape: "chat", batch: 256, places: 128}
	r := result{cell: c, allocations: [kinds]float64{evaluate: 0, capacity: 3}}
	for k := range kinds {
		r.contests[k] = contest{
			theirs: 24 * time.Microsecond, ours: 2 * time.Microsecond, ratio: sample.Summary{Median: 12, Low: 11, High: 13}, undisturbed: 14,
		}
	}
	found := newReport([]result{r}, []own{{batch: 256, places: 128, evaluate: 1500, tailLimit: 25_000}}, effort{repeats: 1, turn: time.Millisecond})
	page := found.Markdown("benchmarks")
	for _, line := range []string{
		"| Evaluate, B = 256, worst | ≥ 10 | 12 | yes |",
		"| Capacity, B = 256, worst | ≥ 50 | 12 | **no** |",
		"| allocations of Evaluate, everywhere | ≤ 0 | 0 | yes |",
		"| allocations of Capacity, everywhere | ≤ 0 | 3 | **no** |",
		"| time of Capacity, default model, B = 256 | ≤ 20 µs | 25 µs | **no** |",
		"| 256 | 128 | V1 | chat | 24 µs | 2 µs | 12 (11–13) | 3 |",
		"| 256 | 128 | 0 µs | 1.5 µs | 0 µs | 25 µs |",
	} {
		assert.Contains(t, page, line+"\n")
	}
	assert.Equal(t, report.Standing{
		What: "its time over ours, Evaluate, B = 256, worst of all", Against: "inferno queueing", Figure: "12 × (11–13)", Verdict: report.Ahead,
	}, found.Standings[0])
}

func TestReportIsLeft(t *testing.T) {
	o, err := parse([]string{"-quick", "-report", filepath.Join(t.TempDir(), "out", "queueing.json")}, io.Discard)
	require.NoError(t, err)
	o.effort = effort{repeats: 1, turn: time.Microsecond}
	require.NoError(t, run(o, io.Discard))
	r, err := report.Read(o.Report)
	require.NoError(t, err)
	assert.Len(t, r.Ratios, 12)
	assert.NotEmpty(t, r.Run.Machine)
}
