package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/optimizer"
)

// fought is a duel that ours won by a ratio, at a worse objective.
func fought(name string, workloads int, ratio, worse float64) match {
	ours := measured{Solution: &optimizer.Solution{Objective: 1 + worse, Proof: optimizer.Optimal}, cpu: time.Second}
	return match{{
		setting: setting{name: name}, workloads: workloads, ours: ours, asLong: measured{Solution: &optimizer.Solution{Objective: 1}, cpu: time.Second},
		theirs: peer.Answer{Status: peer.Feasible, Objective: 1, CPU: time.Duration(ratio * float64(time.Second))},
	}}
}

func TestStandingsNameTheLeastAdvantage(t *testing.T) {
	all := matchStandings([]match{fought("loose", 10, 90, 0), fought("short", 10, 3, 0), fought("loose", 100, 0.5, 0.01)})
	require.Len(t, all, 4)
	assert.Contains(t, all[0].What, "10 workloads")
	assert.Contains(t, all[0].What, "(short)")
	assert.Equal(t, "3 ×", all[0].Figure)
	verdicts := []report.Verdict{all[0].Verdict, all[1].Verdict, all[2].Verdict, all[3].Verdict}
	assert.Equal(t, []report.Verdict{report.Ahead, report.Behind, report.Behind, report.Even}, verdicts, "faster, slower, dearer at the gap, and as good in time")
}

func TestRivalsAreCounted(t *testing.T) {
	r := rivals{name: "GLPK"}
	r.add(fought("loose", 10, 1, 0)[0])
	assert.Equal(t, report.Standing{
		What: "problems of 10 to 100 workloads that are proven in 5 s", Against: "GLPK", Figure: "1 against 0 of 1", Verdict: report.Ahead,
	}, r.standing())
}

func TestReportHasSummariesOnly(t *testing.T) {
	p := page{sections: []*section{
		{title: "A", tables: []table.Table{{Title: "Short"}}, summary: true, targets: []target{{name: "x", measured: 3, bound: 2}}},
		{title: "B", tables: []table.Table{{Title: "Long"}}, standings: []report.Standing{{What: "y"}}, ratios: []report.Ratio{{Name: "z", Value: 1}}},
	}}
	r := p.report(t.Context(), "The pace.\n")
	assert.True(t, strings.HasSuffix(r.About, " The pace."), r.About)
	require.Len(t, r.Tables, 1)
	assert.Equal(t, "Short", r.Tables[0].Title)
	assert.True(t, r.Missed())
	assert.Len(t, r.Standings, 1)
	assert.Len(t, r.Ratios, 1)
}

// A quick run makes the section of ratios, and no other run does.
func TestQuickRunsMeasureRatios(t *testing.T) {
	o := quick()
	o.quick, o.peerLimit = true, 2*time.Second
	o.Report = filepath.Join(t.TempDir(), "solver.json")
	parsed, err := parse([]string{"-quick", "-report", o.Report}, io.Discard)
	require.NoError(t, err)
	o.Places = parsed.Places
	require.NoError(t, run(t.Context(), o, io.Discard))
	r, err := report.Read(o.Report)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(r.Ratios), 2, "those of growth need no other solver")
	for _, x := range r.Ratios {
		assert.Positive(t, x.Value, x.Name)
	}
}
