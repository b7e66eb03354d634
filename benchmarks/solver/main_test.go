package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// TestMain lets this test be the program that solves in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-probe" {
		if err := probe(os.Args[2], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"-only", "kinds,given", "-instances", "3", "-strict"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []string{"kinds", "given"}, o.only)
	assert.Equal(t, uint64(3), o.instances)
	assert.True(t, o.strict)
	for _, args := range [][]string{{"-only", "nothing"}, {"-docs", "docs", "-only", "kinds"}, {"-docs", "docs", "-largest", "100"}, {"-nothing"}} {
		_, err := parse(args, io.Discard)
		assert.Error(t, err, args)
	}
}

func quick(only ...string) options {
	return options{only: only, instances: 1, largest: 20, cores: 2, pace: &pace{}, limit: 200 * time.Millisecond, peerLimit: time.Second, Places: command.Places{Problems: "none"}}
}

func TestSectionsShowWhatTheyMeasure(t *testing.T) {
	for section, wanted := range map[string][]string{
		"kinds":     {"short, by priority", "20 workloads, slowest kind without priorities, quotas and zones, median", "20 workloads, slowest kind, median", "A fixed piece of work"},
		"footprint": {"Peak memory", "first solve, median, cores: 1", "later solve, median, cores: 2", "faults", "A fixed piece of work"},
		"greedy":    {"PriorityRoundRobin"},
		"given":     {"Given fleets"},
	} {
		var b strings.Builder
		require.NoError(t, run(t.Context(), quick(section), &b))
		for _, want := range wanted {
			assert.Contains(t, b.String(), want)
		}
		assert.NotContains(t, b.String(), "NaN")
	}
}

func TestPace(t *testing.T) {
	var p pace
	assert.Empty(t, p.line())
	for n := range 101 {
		p.took = append(p.took, float64(200-n))
	}
	assert.Contains(t, p.line(), "took 100.000 ms at least, 150.000 on the median, 195.000 at p95. Other times")
}

func TestMissedTargetsFailIfStrict(t *testing.T) {
	o := quick("kinds")
	o.limit = 0
	require.NoError(t, run(t.Context(), o, io.Discard))
	o.strict = true
	assert.ErrorIs(t, run(t.Context(), o, io.Discard), command.ErrMissed)
}

func TestTargets(t *testing.T) {
	for _, test := range []struct {
		target
		met bool
	}{
		{target{measured: 2, bound: 2}, true},
		{target{measured: 3, bound: 2}, false},
		{target{measured: 3, bound: 2, atLeast: true}, true},
		{target{measured: 1, bound: 2, atLeast: true}, false},
		{target{measured: math.NaN(), bound: 2}, false},
		{target{measured: math.NaN(), bound: 2, atLeast: true}, false},
	} {
		assert.Equal(t, test.met, test.target.met(), test.target)
	}
	assert.Equal(t, []string{"x", "≤ 2 ms", "3.25 ms", "**missed**"}, target{name: "x", measured: 3.25, bound: 2, unit: " ms"}.row())
}

func TestPageHasTargetsTablesAndFigures(t *testing.T) {
	o := quick()
	o.Docs = t.TempDir()
	rows := table.Table{Title: "Rows", Columns: table.Columns("a")}
	rows.Add("1")
	p := page{sections: []*section{{
		title: "Title", about: "About.", targets: []target{{name: "x", measured: 1, bound: 2}}, tables: []table.Table{rows},
		figures: []figure{{"dots", chart.Figure{Title: "Dots", Columns: 1}}},
	}}}
	require.NoError(t, p.write(t.Context(), o))
	text, err := os.ReadFile(filepath.Clean(filepath.Join(o.Docs, pageFile)))
	require.NoError(t, err)
	for _, want := range []string{"| x | ≤ 2 | 1 | met |", "## Title\n\nAbout.", "![Dots](solver-benchmarks/dots.svg)", "Rows:\n\n| a |", "at most 0.1 %, unless"} {
		assert.Contains(t, string(text), want)
	}
	assert.FileExists(t, filepath.Join(o.Docs, figuresFolder, "dots.svg"))
}

func TestQuantile(t *testing.T) {
	values := make([]float64, 20)
	for i := range values {
		values[i] = float64(20 - i)
	}
	assert.Equal(t, 10.0, quantile(values, 0.5))
	assert.Equal(t, 19.0, quantile(values, 0.95))
	assert.Equal(t, 20.0, quantile(values, 1))
	assert.True(t, math.IsNaN(quantile(nil, 0.5)))
}

func TestGrowthIsTheSlope(t *testing.T) {
	var cells []*cell
	for _, n := range []int{20, 100, 1000, 10_000} {
		x := float64(n)
		for _, s := range settings() {
			time := x * math.Log(x)
			if s.Kind == instance.Short {
				time = x * x
			}
			cells = append(cells, &cell{setting: s, workloads: n, times: []float64{time}, proofs: []float64{time}})
		}
	}
	targets, growth := growthOf(cells)
	require.Len(t, targets, len(settings()))
	assert.InDelta(t, 1, targets[0].measured, 1e-9)
	assert.Equal(t, []string{"short", "1.74", "2.00"}, growth.Rows[3])
	last := cells[len(cells)-1]
	last.proofs = []float64{last.times[0], last.times[0], math.Inf(1)}
	targets, _ = growthOf(cells)
	assert.InDelta(t, 1, targets[len(targets)-1].measured, 1e-9, "most are proven")
	last.proofs = []float64{last.times[0], math.Inf(1), math.Inf(1)}
	targets, growth = growthOf(cells)
	assert.True(t, math.IsNaN(targets[len(targets)-1].measured), "cut off")
	assert.Equal(t, []string{last.name, "-", "-"}, growth.Rows[len(growth.Rows)-1])
	f := growthFigure(cells)
	assert.Len(t, f.Panels, len(settings()))
	assert.Len(t, f.Panels[0].Series[0].Points, 4)
	assert.NotEmpty(t, f.Panels[0].Guide)
}

func TestProbeReports(t *testing.T) {
	description, err := json.Marshal(task{Params: instance.Params{Kind: instance.Tight, Workloads: 20, Pools: 3}, Limit: time.Second})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, probe(string(description), &b))
	var r took
	require.NoError(t, json.Unmarshal([]byte(b.String()), &r))
	assert.True(t, r.Feasible)
	assert.True(t, r.Proven)
	assert.Positive(t, r.CPU)
	assert.Greater(t, r.PeakMemory, int64(1<<20))
	require.Error(t, probe("{", io.Discard))
}

func TestDuels(t *testing.T) {
	plan := func(objective float64, proof optimizer.Proof) measured {
		return measured{Solution: &optimizer.Solution{Objective: objective, Proof: proof}, cpu: time.Second}
	}
	d := duel{ours: plan(11, optimizer.Optimal), theirs: peer.Answer{Objective: 10, CPU: 3 * time.Second, First: 2 * time.Second}}
	assert.InDelta(t, 3, d.ratio(), 1e-12)
	assert.InDelta(t, 0.1, d.atGap(), 1e-12)
	d.asLong = plan(10.5, optimizer.Optimal)
	assert.InDelta(t, 0.05, d.inTime(), 1e-12)
	assert.True(t, d.before())
	d.theirs.First = time.Second / 2
	assert.False(t, d.before())
	d.theirs.Status = peer.Nothing
	assert.True(t, d.before())
	assert.Zero(t, d.atGap(), "no plan, nothing to be worse than")
	d.ours = plan(11, optimizer.Feasible)
	assert.False(t, d.before())
	d.theirs = peer.Answer{Objective: 10, Levels: []peer.Level{{Priority: 1, Unmet: 2}}}
	assert.Zero(t, d.atGap(), "other demand is served")
	d.ours.Levels = []optimizer.Level{{Priority: 1, Unmet: 2}}
	assert.InDelta(t, 0.1, d.atGap(), 1e-12)
}

func TestMatchesAreJudgedBySize(t *testing.T) {
	made := func(workloads int, ratio float64, status peer.Status) match {
		ours := measured{Solution: &optimizer.Solution{Objective: 10}, cpu: time.Second}
		return match{{
			workloads: workloads, ours: ours, asLong: ours,
			theirs: peer.Answer{Status: status, Objective: 10, CPU: time.Duration(ratio * float64(time.Second)), First: 100 * time.Millisecond},
		}}
	}
	targets := matchTargets([]match{
		made(10, 2, peer.Optimal), made(100, 150, peer.Optimal), made(100, 5, peer.Feasible), made(1000, 9, peer.Nothing),
	})
	assert.Equal(t, []float64{2, 150, 100, 0}, []float64{targets[0].measured, targets[1].measured, targets[2].measured, targets[3].measured})
	dear := made(10, 2, peer.Optimal)
	dear[0].ours.Solution = &optimizer.Solution{Objective: 10.1}
	targets = matchTargets([]match{made(10, 2, peer.Optimal), dear})
	assert.InDelta(t, 1, targets[3].measured, 1e-9, "dearer at the same gap")
	assert.Zero(t, targets[4].measured, "no dearer in the same time")
	targets = matchTargets([]match{made(1000, 9, peer.Nothing), made(1000, 9, peer.Feasible)})
	assert.Zero(t, targets[2].measured, "a first plan before our proof")
	assert.False(t, targets[1].met(), "no kind that CBC proves")
}

func TestGivenFleetsAreRead(t *testing.T) {
	o := quick()
	o.Problems = t.TempDir()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(`{"pools": [{"accelerator": "L4", "pricePerHour": 0.5}], "workloads": [{"name": "w", "load": {"arrivalRate": 3},
		"variants": [{"name": "v", "accelerator": "L4", "devicesPerReplica": 1, "capacityRps": 2}]}]}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(filepath.Join(o.Problems, "tiny.json.gz"), b.Bytes(), 0o600))
	s, err := givenSection(t.Context(), o)
	require.NoError(t, err)
	assert.Len(t, s.targets, 2, "no optimum is known")
	assert.Equal(t, []string{"tiny", "1"}, s.tables[0].Rows[0][:2])
	assert.Equal(t, "0.0 / 0.0", s.tables[1].Rows[0][1], "the greedy finds it too")
}

func TestGivenFleetsNeedNoFolder(t *testing.T) {
	s, err := givenSection(t.Context(), quick())
	require.NoError(t, err)
	assert.Contains(t, s.about, "There was none")
	_, err = readProblem(filepath.Join(t.TempDir(), "none.json.gz"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
