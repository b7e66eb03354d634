package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// page is what was found, as tables.
type page struct {
	targets   []target
	standings []report.Standing
	tables    []table.Table
}

// pageFile is its file in the folder of the documentation.
const pageFile = "forecast-accuracy.md"

// target is something measured that should be at most a bound.
type target struct {
	name            string
	measured, bound float64
}

const pageHead = `# How well demand is predicted

Written by ` + "`make bench-forecast`" + `, which fails when a target is missed. [forecast.md](forecast.md) says what the methods are.

Measured on two weeks of arrival rates of three models and a day of a fourth, per 10 minutes (ServeGen). They are
not part of this repository; this page shows errors of predictions only. Slots are 10 minutes, a horizon is the start-up
time and a cycle of 15 s, and what is predicted is the mean of the slot that the horizon ends in: start-up times of 2 and 5 minutes
are the same. Day before and week before are seasonal-naive predictions: demand is what it was at that time.

The series of one day counts in the coverage of all bands. On its own it says little: its bands are drawn from up to 140 errors.

`

func newPage(found []measurement) page {
	return page{
		targets: targets(found), standings: standings(found),
		tables: []table.Table{
			comparison("Mean absolute error in the second week, % of mean demand", found, func(m measurement) []float64 { return m.errors[:] }),
			comparison("Pinball loss at 0.9 from the ninth day on, bands drawn from each one's errors of the day before, % of mean demand",
				found, func(m measurement) []float64 { return m.losses[:] }),
			coverages(found),
		},
	}
}

// comparison has a row for each start-up time and series that is long enough.
func comparison(title string, found []measurement, numbers func(measurement) []float64) table.Table {
	names := []string{"series", "start-up"}
	for i := range predictors {
		names = append(names, predictorName(i))
	}
	t := table.Table{Title: title, Columns: table.Columns(names...)}
	for _, m := range found {
		row := []string{m.name, m.startUp.String()}
		for _, x := range numbers(m) {
			row = append(row, fmt.Sprintf("%.2f", 100*x))
		}
		if m.long() {
			t.Add(row...)
		}
	}
	return t
}

// coverages has a row for each series and start-up time, and one for all.
func coverages(found []measurement) table.Table {
	names := []string{"series", "start-up"}
	for _, q := range quantiles() {
		names = append(names, fmt.Sprintf("band %v", q))
	}
	t := table.Table{Title: "Share of outcomes within the band, %", Columns: table.Columns(names...)}
	for _, m := range found {
		row := []string{m.name, m.startUp.String()}
		for _, share := range m.covered {
			row = append(row, fmt.Sprintf("%.1f", 100*share))
		}
		t.Add(row...)
	}
	row := []string{"all", ""}
	for i := range quantiles() {
		row = append(row, fmt.Sprintf("%.1f", 100*overall(found, i)))
	}
	t.Add(row...)
	return t
}

// overall returns the share of all outcomes within the band of a quantile.
func overall(found []measurement, quantile int) float64 {
	covered := sum(found, func(m measurement) float64 { return m.covered[quantile] * m.outcomes })
	return covered / sum(found, func(m measurement) float64 { return m.outcomes })
}

// targets judges the worst case of each kind.
func targets(found []measurement) []target {
	ofDay, ofWeek, each, all := 0.0, 0.0, 0.0, 0.0
	for _, m := range found {
		if !m.long() {
			continue
		}
		ofDay, ofWeek = max(ofDay, m.ofDay), max(ofWeek, m.errors[chosen]/m.errors[weekBefore])
		for i, q := range quantiles() {
			each = max(each, math.Abs(m.covered[i]-q))
		}
	}
	for i, q := range quantiles() {
		all = max(all, math.Abs(overall(found, i)-q))
	}
	return []target{
		{"largest error from the second day on, of that of the day before", ofDay, 1},
		{"largest error in the second week, of that of the week before", ofWeek, 1},
		{"coverage of all bands of a quantile, largest distance from it", all, 0.05},
		{"coverage of the bands of one series of two weeks, largest distance from the quantile", each, 0.05},
	}
}

func (p *page) missed() bool {
	for _, t := range p.targets {
		if !(t.measured <= t.bound) {
			return true
		}
	}
	return false
}

// all returns the tables, that of targets first.
func (p *page) all() []table.Table {
	judged := table.Table{Title: "Targets, %", Columns: table.Columns("what", "measured", "target", "met")}
	for _, t := range p.targets {
		met := "yes"
		if !(t.measured <= t.bound) {
			met = "**no**"
		}
		judged.Add(t.name, fmt.Sprintf("%.1f", 100*t.measured), fmt.Sprintf("≤ %g", 100*t.bound), met)
	}
	return append([]table.Table{judged}, p.tables...)
}

func (p *page) text() string {
	var b strings.Builder
	for _, t := range p.all() {
		b.WriteString(t.Text())
	}
	return b.String()
}

func (p *page) markdown() string {
	parts := []string{}
	for _, t := range p.all() {
		parts = append(parts, t.Markdown())
	}
	return pageHead + strings.Join(parts, "\n")
}
