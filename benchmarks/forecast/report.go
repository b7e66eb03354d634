package main

import (
	"fmt"
	"math"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// report is what the page of all benchmarks says of this one.
func (p *page) report() *report.Report {
	r := &report.Report{
		Title: "Forecast", Page: pageFile,
		About:     "Predictions of demand on recorded arrival rates (ServeGen), beside what was a day and a week before.",
		Standings: p.standings,
		Tables:    []table.Table{p.tables[0]},
	}
	for _, t := range p.targets {
		r.Targets = append(r.Targets, report.AtMost(t.name, 100*t.measured, 100*t.bound, " %"))
	}
	return r
}

// standings compare with the better one of the seasonal-naive predictions, by start-up
// time, where ours does worst.
func standings(found []measurement) []report.Standing {
	var all []report.Standing
	for _, startUp := range startUps() {
		least := math.Inf(1)
		for _, m := range found {
			if m.long() && m.startUp == startUp {
				least = min(least, min(m.errors[dayBefore], m.errors[weekBefore])/m.errors[chosen])
			}
		}
		if math.IsInf(least, 1) {
			continue
		}
		all = append(all, report.Standing{
			What:    fmt.Sprintf("mean absolute error, start-up %v, their error over ours, worst series", startUp),
			Against: "the day or the week before, the better one", Figure: fmt.Sprintf("%.2f", least), Verdict: report.Judge(least, 0.02),
		})
	}
	return all
}
