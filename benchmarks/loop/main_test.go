package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/test/scale"
)

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"-sizes", "10,20"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []int{10, 20}, o.sizes)
	for _, wrong := range [][]string{{"-sizes", ""}, {"-sizes", "9"}, {"-sizes", "x"}, {"-nothing"}} {
		_, err := parse(wrong, io.Discard)
		assert.Error(t, err, wrong)
	}
}

// cycles grow as the number of workloads does, queries don't.
func cycles(_ context.Context, workloads int) (*scale.Figures, error) {
	return &scale.Figures{
		Workloads: workloads, Cycles: 3, Seconds: float64(workloads) / 1000, Longest: float64(workloads) / 100,
		Queries: 12, PeakBytes: 100e6, Stages: map[string]float64{"plan": 0.001},
	}, nil
}

func TestReport(t *testing.T) {
	o, err := parse([]string{"-sizes", "100,400", "-report", filepath.Join(t.TempDir(), "loop.json")}, io.Discard)
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), o, cycles, io.Discard))
	r, err := report.Read(o.Report)
	require.NoError(t, err)
	assert.Equal(t, []string{"400", "3", "0.4", "4", "0", "0", "0.001", "0", "0", "0", "12", "0", "100"}, r.Tables[0].Rows[1])
	assert.Equal(t, []string{"growth", "", "1.00", "1.00", "–", "–", "0.00", "–", "–", "–", "0.00", "–", "0.00"}, r.Tables[0].Rows[2])

	o.sizes = []int{1000}
	require.ErrorIs(t, run(t.Context(), o, cycles, io.Discard), command.ErrMissed, "a cycle of 10 s")
	broken := errors.New("broken")
	err = run(t.Context(), o, func(context.Context, int) (*scale.Figures, error) { return nil, broken }, io.Discard)
	assert.ErrorIs(t, err, broken)
}
