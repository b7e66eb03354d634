package command_test

import (
	"flag"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

func flags() *flag.FlagSet {
	set := flag.NewFlagSet("x", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return set
}

// A report says with what arguments it was made, but not where things were read and written.
func TestReportsHaveArgumentsWithoutPlaces(t *testing.T) {
	var p command.Places
	set := flags()
	p.Flags(set, command.Data, command.Docs, command.Problems, command.Report)
	set.Int("seeds", 3, "")
	file := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, set.Parse([]string{"-data", "/a", "-docs", "/b", "-problems", "/c", "-report", file, "-seeds", "1"}))
	assert.Equal(t, []string{"/a", "/b", "/c"}, []string{p.Data, p.Docs, p.Problems})
	require.NoError(t, p.Leave(&report.Report{Title: "X"}, time.Now()))
	r, err := report.Read(file)
	require.NoError(t, err)
	assert.Equal(t, []string{"-seeds=1"}, r.Run.Arguments)
}

func TestNoReportIsLeftUnlessAskedFor(t *testing.T) {
	var p command.Places
	p.Flags(flags(), command.Report)
	require.NoError(t, p.Leave(&report.Report{}, time.Now()))
}

func TestSizes(t *testing.T) {
	sizes := []int{1, 20}
	set := flags()
	command.Sizes(set, &sizes, 10, "sizes", "numbers")
	assert.Equal(t, "numbers; 1,20 by default", set.Lookup("sizes").Usage)
	require.NoError(t, set.Parse([]string{"-sizes", "10,200"}))
	assert.Equal(t, []int{10, 200}, sizes)
	for _, wrong := range []string{"", "9", "10,", "x"} {
		assert.Error(t, set.Parse([]string{"-sizes", wrong}), wrong)
	}
}
