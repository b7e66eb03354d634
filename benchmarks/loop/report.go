package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/test/scale"
)

// Targets, which are for 2,000 workloads and hold for fewer.
const (
	mostSeconds   = 5
	mostQueries   = 12
	mostMegabytes = 524.288
)

const about = `Cycles of ` + "`poolwright serve`" + ` over fleets of Deployments on a real Kubernetes control plane with simulated nodes, and a real Prometheus
that scrapes what their engines would report, all on this machine. Each workload has variants on three types of devices. The demand of a tenth
of the workloads triples, so that each needs another replica; figures are means over the cycles until all of it is served, but for the longest cycle, the first
one included, and for the memory, which is the most that the process held. Growth is the slope of the logarithm over that of the number of workloads, by
least squares: 0 does not grow, 1 grows as the number does. Requests are those to the API server; reading is by watches. Simulated nodes renew their leases
every 150 s in place of 10, as kubelets do that on machines of their own. Each size is measured once: there are no intervals. No peer can be asked
the same: none runs without containers.`

// newReport returns what was found, by size.
func newReport(all []*scale.Figures) *report.Report {
	largest := all[len(all)-1]
	where := fmt.Sprintf(", %d workloads", largest.Workloads)
	f := figure(all)
	return &report.Report{
		Title: "Loop", About: about, Versions: largest.Versions,
		Targets: []report.Target{
			report.AtMost("longest cycle"+where, largest.Longest, mostSeconds, " s"),
			report.AtMost("queries of a cycle"+where, largest.Queries, mostQueries, ""),
			report.AtMost("memory"+where, megabytes(largest), mostMegabytes, " MB"),
		},
		Tables:  []table.Table{cycleTable(all)},
		Figures: []report.Figure{report.Draw("loop", &f)},
	}
}

func megabytes(f *scale.Figures) float64 { return float64(f.PeakBytes) / 1e6 }

// column is a figure of a cycle.
type column struct {
	name string
	of   func(*scale.Figures) float64
}

func columns() []column {
	all := []column{
		{"cycle, s", func(f *scale.Figures) float64 { return f.Seconds }},
		{"longest, s", func(f *scale.Figures) float64 { return f.Longest }},
	}
	for _, stage := range []string{"read", "observe", "plan", "act", "record", "publish"} {
		all = append(all, column{stage + ", s", func(f *scale.Figures) float64 { return f.Stages[stage] }})
	}
	return append(all,
		column{"queries", func(f *scale.Figures) float64 { return f.Queries }},
		column{"requests", func(f *scale.Figures) float64 { return f.Requests }},
		column{"memory, MB", megabytes},
	)
}

// cycleTable has a row for each size, and the growth below them.
func cycleTable(all []*scale.Figures) table.Table {
	names := []string{"workloads", "cycles"}
	for _, c := range columns() {
		names = append(names, c.name)
	}
	t := table.Table{Title: "A cycle", Columns: table.Columns(names...)}
	for _, f := range all {
		row := []string{fmt.Sprint(f.Workloads), fmt.Sprintf("%.0f", f.Cycles)}
		for _, c := range columns() {
			row = append(row, fmt.Sprintf("%.3g", c.of(f)))
		}
		t.Add(row...)
	}
	row := []string{"growth", ""}
	for _, c := range columns() {
		row = append(row, growth(all, c.of))
	}
	t.Add(row...)
	return t
}

// growth is the exponent of a figure, "–" where it can't be fitted.
func growth(all []*scale.Figures, of func(*scale.Figures) float64) string {
	var sizes, values []float64
	for _, f := range all {
		if of(f) > 0 {
			sizes, values = append(sizes, math.Log(float64(f.Workloads))), append(values, math.Log(of(f)))
		}
	}
	if len(sizes) < 2 {
		return "–"
	}
	_, slope := stat.LinearRegression(sizes, values, nil, false)
	return fmt.Sprintf("%.2f", slope)
}

func figure(all []*scale.Figures) chart.Figure {
	workloads := chart.Axis{Label: "workloads", Low: 10, High: 3000, Log: true}
	times := chart.Panel{Title: "time", X: workloads, Y: chart.Axis{Label: "s", Low: 1e-4, High: 10, Log: true}}
	memory := chart.Panel{Title: "memory", X: workloads, Y: chart.Axis{Label: "MB", Low: 10, High: 1000, Log: true}}
	for _, c := range columns() {
		s := chart.Series{Name: c.name}
		for _, f := range all {
			s.Points = append(s.Points, chart.Point{X: float64(f.Workloads), Y: c.of(f)})
		}
		switch c.name {
		case "cycle, s", "longest, s", "observe, s", "plan, s", "act, s":
			times.Series = append(times.Series, s)
		case "memory, MB":
			memory.Series = append(memory.Series, s)
		}
	}
	return chart.Figure{Title: "A cycle by size of the fleet", Columns: 2, Panels: []chart.Panel{times, memory}}
}
