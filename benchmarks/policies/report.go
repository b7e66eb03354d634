package main

import (
	"fmt"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

// report is what the page of all benchmarks says of this one.
func (p *page) report() *report.Report {
	r := &report.Report{
		Title: "Decision quality", Page: pageFile,
		About: "Poolwright's loop beside other autoscalers on equal days of traffic: attainment of the SLO, and cost as a multiple of the bound in hindsight.",
	}
	for _, t := range p.targets() {
		r.Targets = append(r.Targets, report.Target{Name: t.name, Wanted: t.bound, Measured: t.measured, Met: t.met})
	}
	for _, d := range p.days {
		if others := d.others(); len(others) > 1 {
			r.Standings = append(r.Standings, d.standing(others))
		}
		r.Tables = append(r.Tables, d.table())
	}
	return r
}

// standing compares with the cheapest setting of all others that attains as much as ours.
func (d *day) standing(others []kind) report.Standing {
	s := report.Standing{
		What: d.name + ": cost of the cheapest that attains as much in every class, over ours", Against: "other autoscalers, every setting",
		Figure: "nobody attains as much", Verdict: report.Ahead,
	}
	var best *outcome
	for i := range others {
		o := others[i].cheapest(func(o *outcome) bool { return o.reaches(d.ours()) })
		if o != nil && (best == nil || o.cost() < best.cost()) {
			best = o
		}
	}
	if best != nil {
		x := best.cost() / d.ours().cost()
		s.Figure, s.Verdict = fmt.Sprintf("%.3f (%s)", x, best.name), report.Judge(x, 0.005)
	}
	return s
}
