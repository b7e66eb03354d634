package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"-only", "policies", "--", "-grid", "azure"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []string{"policies"}, o.only)
	assert.Equal(t, []string{"-grid", "azure"}, o.arguments)
	for _, wrong := range [][]string{{"-only", "nothing"}, {"--", "-grid", "azure"}, {"-only", "solver,policies", "--", "-x"}, {"-nothing"}} {
		_, err := parse(wrong, io.Discard)
		assert.Error(t, err, wrong)
	}
}

func TestArgumentsOfParts(t *testing.T) {
	o := options{Places: command.Places{Data: "data", Docs: "docs", Problems: "problems"}, out: "out"}
	p := part{name: "x", places: []command.Place{command.Data, command.Docs, command.Problems}}
	join := func(o options) string { return strings.Join(p.arguments(&o), " ") }
	assert.Equal(t, "-report out/x.json -data data -problems problems -docs docs", join(o))
	o.quick = true
	assert.Equal(t, "-report out/x.json -data data -problems problems -quick", join(o))
	o.quick, o.arguments = false, []string{"-seeds", "1"}
	assert.Equal(t, "-report out/x.json -data data -problems problems -seeds 1", join(o), "a part of a page is none")
}

// A part that has left a report since all were asked for is left out on resuming.
func TestResume(t *testing.T) {
	o := options{out: t.TempDir(), resume: true}
	queueing := parts()[0]
	assert.True(t, o.wants(queueing))
	require.NoError(t, report.Write(o.file(queueing), &report.Report{}))
	assert.False(t, o.wants(queueing))
	o.resume = false
	assert.True(t, o.wants(queueing))
	require.NoError(t, o.forget())
	assert.NoFileExists(t, o.file(queueing))
	require.NoError(t, o.forget(), "nothing is left to forget")
	o.only = []string{"none"}
	assert.False(t, o.wants(queueing))
}

// What was measured before resuming is judged, too.
func TestResumedRatiosAreGuarded(t *testing.T) {
	o := options{out: t.TempDir(), quick: true, resume: true}
	for _, p := range parts() {
		require.NoError(t, report.Write(o.file(p), &report.Report{}), "without any ratio")
	}
	require.ErrorIs(t, run(t.Context(), o, io.Discard), command.ErrMissed)
}

// someReports has a part that is ahead, with a figure, and one that misses a target.
func someReports() map[string]*report.Report {
	rows := table.Table{Title: "Rows", Columns: table.Columns("a")}
	rows.Add("1")
	return map[string]*report.Report{
		"queueing": {
			Title: "Queueing", About: "About.", Tables: []table.Table{rows},
			Standings: []report.Standing{{What: "time", Against: "inferno", Figure: "11 ×", Verdict: report.Ahead}},
			Targets:   []report.Target{report.AtLeast("ratio", 11, 10, "")},
			Figures:   []report.Figure{{Name: "dots", Title: "Dots", SVG: "<svg/>"}},
			Run:       report.Run{Date: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Took: time.Minute, Machine: "a machine", Revision: "abc"},
		},
		"solver": {
			Title: "Solver", About: "Plans.", Page: "solver-benchmarks.md", Versions: []string{"CBC 2"},
			Standings: []report.Standing{{What: "objective", Against: "CBC", Figure: "0.1 %", Verdict: report.Behind}},
			Targets:   []report.Target{report.AtMost("time", 3, 2, " ms")},
			Run:       report.Run{Arguments: []string{"-largest=100"}},
		},
	}
}

func TestPageShowsWhatPartsHaveLeft(t *testing.T) {
	o := options{Places: command.Places{Docs: t.TempDir()}, out: t.TempDir(), only: []string{"none"}}
	for name, r := range someReports() {
		require.NoError(t, report.Write(filepath.Join(o.out, name+".json"), r))
	}
	require.NoError(t, run(t.Context(), o, io.Discard))
	text := read(t, filepath.Join(o.Docs, pageFile))
	for _, want := range []string{
		"| Queueing | time | inferno | 11 × | ahead |\n| Solver | objective | CBC | 0.1 % | **behind** |",
		"Targets of our own that are missed:", "| Solver | time | ≤ 2 ms | 3 ms |",
		"| Queueing | `make bench ARGS=\"-only queueing\"` | 2026-03-02 | 1m0s | abc | a machine |  | 0 of 1 |",
		"| Solver | `make bench ARGS=\"-only solver -- -largest=100\"`", "| CBC 2 | 1 of 1 |",
		"## Queueing\n\nAbout.", "![Dots](benchmarks/dots.svg)", "Rows:\n\n| a |", "[solver-benchmarks.md](solver-benchmarks.md)",
	} {
		assert.Contains(t, text, want)
	}
	assert.FileExists(t, filepath.Join(o.Docs, figuresFolder, "dots.svg"))
}

// One part is run again in another clone, where the others have left no report.
func TestPartsWithoutReportKeepWhatThePageHas(t *testing.T) {
	docs, all := t.TempDir(), someReports()
	require.NoError(t, writePage(docs, all))
	for name, r := range all {
		r.About += " Again."
		require.NoError(t, writePage(docs, map[string]*report.Report{name: r}))
	}
	again := read(t, filepath.Join(docs, pageFile))
	require.NoError(t, os.Remove(filepath.Join(docs, pageFile)))
	require.NoError(t, writePage(docs, all))
	assert.Equal(t, read(t, filepath.Join(docs, pageFile)), again)
	assert.Equal(t, len(all), strings.Count(again, " Again.\n"))
}

// leastRatios leaves reports in which all guarded ratios are as low as they may be.
func leastRatios(t *testing.T, o *options) {
	all, err := guardedRatios()
	require.NoError(t, err)
	for _, p := range parts() {
		assert.Equal(t, p.quick, all[p.name] != nil, "%s: a part that is quick, and only such a part, has guarded ratios", p.name)
		r := &report.Report{}
		for _, g := range all[p.name] {
			assert.Greater(t, g.Margin, 1.4, "%s: margins are wide", g.Ratio)
			r.Ratios = append(r.Ratios, report.Ratio{Name: g.Ratio, Value: g.Measured / g.Margin})
		}
		require.NoError(t, report.Write(o.file(p), r))
	}
}

// lower changes the first ratio of the first part.
func lower(t *testing.T, o *options, change func(*report.Ratio)) {
	file := o.file(parts()[0])
	r, err := report.Read(file)
	require.NoError(t, err)
	change(&r.Ratios[0])
	require.NoError(t, report.Write(file, r))
}

func TestRatiosAreGuarded(t *testing.T) {
	o := options{out: t.TempDir(), quick: true}
	leastRatios(t, &o)
	var b strings.Builder
	low, err := o.guard(&b)
	require.NoError(t, err)
	assert.Empty(t, low)
	assert.NotContains(t, b.String(), "too low")

	lower(t, &o, func(r *report.Ratio) { r.Value *= 0.99 })
	low, err = o.guard(&b)
	require.NoError(t, err)
	assert.Equal(t, []string{"queueing"}, low)
	assert.Contains(t, b.String(), "too low")

	lower(t, &o, func(r *report.Ratio) { r.Name = "renamed" })
	low, err = o.guard(&b)
	require.NoError(t, err)
	assert.Equal(t, []string{"queueing"}, low, "a ratio that is not measured")

	o.only = []string{"solver"}
	low, err = o.guard(&b)
	require.NoError(t, err)
	assert.Empty(t, low, "nobody asks for the part with that ratio")
}

// A part with a ratio that is too low is measured once more, and then it counts.
func TestLowRatiosAreMeasuredOnceMore(t *testing.T) {
	o := options{out: t.TempDir(), quick: true}
	leastRatios(t, &o)
	first := parts()[0]
	enough := read(t, o.file(first))
	lower(t, &o, func(r *report.Ratio) { r.Value *= 0.99 })
	require.NoError(t, os.Mkdir(filepath.Dir(o.program(first)), 0o700))
	count := filepath.Join(o.out, "count")
	program := func(then string) {
		//nolint:gosec // it is to be run
		require.NoError(t, os.WriteFile(o.program(first), []byte("#!/bin/sh\necho x >> "+count+"\n"+then+"\n"), 0o700))
	}

	program("")
	require.ErrorIs(t, o.judge(t.Context(), parts()[:2], io.Discard), command.ErrMissed, "it is as low again")
	assert.Equal(t, "x\n", read(t, count))

	again := filepath.Join(o.out, "again")
	require.NoError(t, os.WriteFile(again, []byte(enough), 0o600))
	program("cp " + again + " " + o.file(first))
	require.ErrorIs(t, o.judge(t.Context(), nil, io.Discard), command.ErrMissed, "what was not just measured is not measured again")
	assert.Equal(t, "x\n", read(t, count))
	require.NoError(t, o.judge(t.Context(), parts()[:2], io.Discard))
	assert.Equal(t, "x\nx\n", read(t, count))
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(filepath.Clean(file))
	require.NoError(t, err)
	return string(text)
}

func TestRatiosNeedWhatIsInstalled(t *testing.T) {
	g := guarded{Ratio: "x", Measured: 2, Margin: 2, Needs: "no-such-program"}
	_, verdict, ok := g.judge(&report.Report{})
	assert.True(t, ok)
	assert.Contains(t, verdict, "not installed")
	g.Needs = "go"
	_, _, ok = g.judge(&report.Report{})
	assert.False(t, ok)
}
