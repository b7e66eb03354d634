package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/internal/instance"
)

const growthAbout = `Growth is the slope of the logarithm of the median time over that of n·log n, with n workloads, fitted by least
squares from 100 workloads up: 1 grows as n·log n does, less more slowly. The dashed line of the figure is n·log n through
the median of tight problems of 1,000 workloads; every point is one problem. A problem that is not proven counts as one
that never is; kinds of which half of some size is not have no growth.`

// growthFrom is the size below which what is fixed hides growth.
const growthFrom = 100

// growthOf fits the growth of every kind.
func growthOf(cells []*cell) ([]target, table.Table) {
	t := table.Table{Title: "Growth in the number of workloads", Columns: table.Columns("kind", "slope over n·log n", "exponent of n")}
	var targets []target
	for _, s := range settings() {
		var n, work, times []float64
		for _, c := range cells {
			if c.name == s.name && c.workloads >= growthFrom {
				x := float64(c.workloads)
				n = append(n, math.Log(x))
				work = append(work, math.Log(x*math.Log(x)))
				times = append(times, math.Log(quantile(c.proofs, 0.5)))
			}
		}
		if len(n) < 2 {
			continue
		}
		if math.IsInf(slices.Max(times), 1) {
			t.Add(s.name, "-", "-")
			targets = append(targets, target{name: "growth, " + s.name + ", over n·log n", measured: math.NaN(), bound: 1})
			continue
		}
		_, slope := stat.LinearRegression(work, times, nil, false)
		_, exponent := stat.LinearRegression(n, times, nil, false)
		t.Add(s.name, fmt.Sprintf("%.2f", slope), fmt.Sprintf("%.2f", exponent))
		targets = append(targets, target{name: "growth, " + s.name + ", over n·log n", measured: slope, bound: 1})
	}
	return targets, t
}

// growthFigure shows every solve by size and kind.
func growthFigure(cells []*cell) figure {
	panel := chart.Panel{
		X: chart.Axis{Label: "workloads", Low: 10, High: 20_000, Log: true},
		Y: chart.Axis{Label: "ms", Low: 0.1, High: 10_000, Log: true},
	}
	for _, through := range find(cells, 1000, instance.Tight.String()) {
		scale := through.median() / (1000 * math.Log(1000))
		for n := panel.X.Low; n <= panel.X.High; n *= 2 {
			if y := scale * n * math.Log(n); y >= panel.Y.Low && y <= panel.Y.High {
				panel.Guide = append(panel.Guide, chart.Point{X: n, Y: y})
			}
		}
	}
	var panels []chart.Panel
	for _, s := range settings() {
		here := panel
		here.Title = s.name
		series := chart.Series{Name: "one problem"}
		for _, c := range cells {
			for _, ms := range c.times {
				if c.name == s.name {
					series.Points = append(series.Points, chart.Point{X: float64(c.workloads), Y: ms})
				}
			}
		}
		here.Series = []chart.Series{series}
		panels = append(panels, here)
	}
	return figure{"growth", chart.Figure{Title: "Time to a proven gap of 0.1 % by number of workloads; dashed: n·log n", Columns: 3, Panels: panels}}
}
