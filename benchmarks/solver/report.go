package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/optimizer"
)

// report is what the page of all benchmarks says of this one, with the pace of the machine.
func (p *page) report(ctx context.Context, pace string) *report.Report {
	r := &report.Report{
		Title: "Solver", Page: pageFile, Versions: versions(ctx),
		About: strings.TrimSpace("Plans of generated fleets, beside other solvers and greedy strategies on the same problems. Times are processor time to a proven gap of 0.1 %. " + pace),
	}
	for _, s := range p.sections {
		r.Standings, r.Ratios = append(r.Standings, s.standings...), append(r.Ratios, s.ratios...)
		for _, t := range s.targets {
			row := t.row()
			r.Targets = append(r.Targets, report.Target{Name: row[0], Wanted: row[1], Measured: row[2], Met: t.met()})
		}
		if s.summary {
			r.Tables = append(r.Tables, s.tables...)
		}
	}
	return r
}

// matchStandings say how much faster ours is than CBC, by size and where the advantage is
// least, and how plans compare.
func matchStandings(all []match) []report.Standing {
	var standings []report.Standing
	for _, r := range rounds(math.MaxInt) {
		least, kind := math.Inf(1), ""
		for _, m := range all {
			if ratio := quantile(m.each((*duel).ratio), 0.5); m[0].workloads == r.workloads && ratio < least {
				least, kind = ratio, m[0].name
			}
		}
		if kind == "" {
			continue
		}
		standings = append(standings, report.Standing{
			What: fmt.Sprintf("its time over ours, until it proves a plan or is stopped, %d workloads, median of the kind with the least advantage (%s)", r.workloads, kind), Against: "CBC",
			Figure: format(least) + " ×", Verdict: report.Judge(least, 0),
		})
	}
	atGap, inTime := 0.0, 0.0
	for _, m := range all {
		atGap, inTime = max(atGap, m.worst((*duel).atGap)), max(inTime, m.worst((*duel).inTime))
	}
	for _, x := range []struct {
		what  string
		worse float64
	}{{"at a gap of 0.1 % of both", atGap}, {"in as much time", inTime}} {
		standings = append(standings, report.Standing{
			What: "objective " + x.what + ", by how much ours is worse, worst of all", Against: "CBC",
			Figure: fmt.Sprintf("%.4f %%", 100*x.worse), Verdict: report.Judge(1/(1+x.worse), 1e-6),
		})
	}
	return standings
}

// rivals counts what another solver and ours prove of the same problems.
type rivals struct {
	name                   string
	problems, theirs, ours int
}

func (r *rivals) add(d *duel) {
	r.problems++
	if d.theirs.Status == peer.Optimal {
		r.theirs++
	}
	if d.ours.Proof == optimizer.Optimal {
		r.ours++
	}
}

func (r *rivals) standing() report.Standing {
	return report.Standing{
		What: "problems of 10 to 100 workloads that are proven in 5 s", Against: r.name,
		Figure: fmt.Sprintf("%d against %d of %d", r.ours, r.theirs, r.problems), Verdict: report.Judge(float64(r.ours)/float64(r.theirs), 0),
	}
}

// greedyStanding is of the least median excess of any strategy and kind, in per cent.
func greedyStanding(workloads int, least float64) report.Standing {
	return report.Standing{
		What:    fmt.Sprintf("objective above the proven bound, %d workloads, median of the nearest strategy on the kind that suits it best", workloads),
		Against: "greedy strategies", Figure: fmt.Sprintf("%.1f %%, ours 0.1 %% at most", least), Verdict: report.Judge((1+least/100)/(1+relativeGap), 0),
	}
}
