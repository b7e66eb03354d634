package report_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

func TestVerdicts(t *testing.T) {
	assert.Equal(t, report.Ahead, report.Judge(1.06, 0.05))
	assert.Equal(t, report.Even, report.Judge(1.04, 0.05))
	assert.Equal(t, report.Even, report.Judge(1, 0))
	assert.Equal(t, report.Even, report.Judge(0.96, 0.05))
	assert.Equal(t, report.Behind, report.Judge(0.94, 0.05))
	assert.Equal(t, report.Behind, report.Judge(math.NaN(), 0.05))
}

func TestIntervalsAreJudgedWhole(t *testing.T) {
	assert.Equal(t, report.Ahead, report.JudgeInterval(sample.Summary{Median: 2, Low: 1.1, High: 3}))
	assert.Equal(t, report.Even, report.JudgeInterval(sample.Summary{Median: 2, Low: 0.9, High: 3}))
	assert.Equal(t, report.Behind, report.JudgeInterval(sample.Summary{Median: 0.5, Low: 0.4, High: 0.9}))
	assert.Equal(t, report.Even, report.JudgeInterval(sample.Summarize([]float64{2})), "one value says nothing")
}

func TestTargets(t *testing.T) {
	assert.Equal(t, report.Target{Name: "x", Wanted: "≤ 2 ms", Measured: "3.25 ms"}, report.AtMost("x", 3.25, 2, " ms"))
	assert.True(t, report.AtLeast("x", 2, 2, "").Met)
	assert.True(t, report.AtMost("x", 2, 2, "").Met)
	assert.False(t, report.AtLeast("x", math.NaN(), 2, "").Met)
	assert.Equal(t, "not measured", report.AtLeast("x", math.NaN(), 2, " ms").Measured)
	assert.False(t, report.AtMost("x", math.NaN(), 2, "").Met)
}

func TestReportsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out", "x.json")
	_, err := report.Read(file)
	require.ErrorIs(t, err, os.ErrNotExist)
	rows := table.Table{Title: "Rows", Columns: table.Columns("a", "!secret")}
	rows.Add("1", "2")
	r := &report.Report{Title: "Title", Tables: []table.Table{rows}, Targets: []report.Target{report.AtMost("x", 3, 2, "")}}
	require.NoError(t, report.Write(file, r))
	read, err := report.Read(file)
	require.NoError(t, err)
	assert.Equal(t, r, read)
	assert.True(t, read.Missed())
	assert.NotContains(t, read.Markdown("x"), "secret")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	_, err = report.Read(file)
	assert.ErrorContains(t, err, file)
}
