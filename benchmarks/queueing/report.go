package main

import (
	"fmt"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// target is a lowest ratio that package queueing is meant to reach.
type target struct {
	kind  kind
	ratio float64
	where string
	match func(*cell) bool
}

func targets() []target {
	everywhere := func(*cell) bool { return true }
	return []target{
		{evaluate, 10, "B = 256", largest},
		{capacity, 50, "B = 256", largest},
		{evaluate, 1, "everywhere", everywhere},
		{capacity, 1, "everywhere", everywhere},
		{newEvaluate, 1, "everywhere", everywhere},
		{newCapacity, 1, "everywhere", everywhere},
	}
}

// largest tells whether a cell has the largest batch.
func largest(c *cell) bool { return c.batch == 256 }

const about = `The time of package ` + "`queueing`" + ` beside that of the formulation that it replaces,
` + "`benchmarks/baseline`" + `: the queueing algorithm of the llm-d/inferno family, written anew, which walks
over all B+Q states and sizes by bisection until the latency is within 1e-6 of its target or, where single precision
can't come that close, a hundred evaluations are spent. Both get equal questions, and answer them equally to 1e-4; only
then are they timed, in turn, in one process, by its processor time. A ratio is the baseline's time over ours, over %d turns of %v
each. Above 1 we are faster.

B is the batch limit, Q the number of waiting places. V1, V2 and V3 are the family's service models. A chat
request has 512 input and 256 output tokens, a summary 4096 and 64. Evaluate is asked for 16 rates from light load to
0.9989 of saturation, Capacity for four objectives, each of a mean TTFT and a mean ITL.
"NewStation +" prepares the replica anew for each question, on both sides; otherwise it is prepared once and the
time of that is not counted. The default model has no counterpart: it answers for quantiles, bursts and varying lengths as
well. Its times are for a chat request with variation, with limits that are reached at 0.9 of saturation.`

// newReport returns what was found.
func newReport(results []result, owns []own, e effort) *report.Report {
	r := &report.Report{
		Title: "Queueing", About: fmt.Sprintf(about, e.repeats, e.turn),
		Targets: append(judge(results), longest(owns)),
		Tables:  []table.Table{worstTable(results), ownTable(owns)},
	}
	f := timeFigure(results)
	r.Figures = []report.Figure{report.Draw("queueing", &f)}
	for k := range kinds {
		w := worst(results, k, largest)
		r.Standings = append(r.Standings, report.Standing{
			What: fmt.Sprintf("its time over ours, %s, B = 256, worst of all", k), Against: "inferno queueing",
			Figure: w.ratio.Text(" ×"), Verdict: report.JudgeInterval(w.ratio),
		})
		r.Tables = append(r.Tables, cellTable(results, k))
	}
	for _, batch := range batches() {
		for _, places := range queues(batch) {
			for _, k := range []kind{evaluate, capacity} {
				r.Ratios = append(r.Ratios, report.Ratio{
					Name:  fmt.Sprintf("baseline's time over that of %s, B = %d, Q = %d, worst", k, batch, places),
					Value: worst(results, k, at(batch, places)).undisturbed,
				})
			}
		}
	}
	return r
}

// at tells whether a cell has a size.
func at(batch, places int) func(*cell) bool {
	return func(c *cell) bool { return c.batch == batch && c.places == places }
}

// judge judges ratios and allocations.
func judge(results []result) []report.Target {
	var all []report.Target
	for _, t := range targets() {
		all = append(all, report.AtLeast(fmt.Sprintf("%s, %s, worst", t.kind, t.where), worst(results, t.kind, t.match).ratio.Median, t.ratio, ""))
	}
	for _, k := range []kind{evaluate, capacity} {
		most := 0.0
		for _, r := range results {
			most = max(most, r.allocations[k])
		}
		all = append(all, report.AtMost(fmt.Sprintf("allocations of %s, everywhere", k), most, 0, ""))
	}
	return all
}

// longest judges the time of the default model.
func longest(owns []own) report.Target {
	var slowest time.Duration
	for _, o := range owns {
		if o.batch == 256 {
			slowest = max(slowest, o.meanLimits, o.tailLimit)
		}
	}
	return report.AtMost("time of Capacity, default model, B = 256", float64(slowest)/float64(time.Microsecond), 20, " µs")
}

func worstTable(results []result) table.Table {
	names := []string{"B", "Q"}
	for k := range kinds {
		names = append(names, k.String())
	}
	t := table.Table{Title: "Worst ratio over models and shapes", Columns: table.Columns(names...)}
	for _, batch := range batches() {
		for _, places := range queues(batch) {
			row := []string{fmt.Sprint(batch), fmt.Sprint(places)}
			for k := range kinds {
				row = append(row, worst(results, k, at(batch, places)).ratio.Text(""))
			}
			t.Add(row...)
		}
	}
	return t
}

func cellTable(results []result, k kind) table.Table {
	t := table.Table{Title: k.String(), Columns: table.Columns("B", "Q", "model", "shape", "baseline", "ours", "ratio", "our allocations")}
	for _, r := range results {
		c, x := r.cell, r.contests[k]
		t.Add(fmt.Sprint(c.batch), fmt.Sprint(c.places), c.model, c.shape,
			microseconds(x.theirs), microseconds(x.ours), x.ratio.Text(""), fmt.Sprint(r.allocations[k]))
	}
	return t
}

// timeFigure shows the times of both sides by the number of states that the baseline walks over.
func timeFigure(results []result) chart.Figure {
	f := chart.Figure{Title: "Time of a question by the states of the replica, B + Q", Columns: 2}
	for _, k := range []kind{evaluate, capacity} {
		theirs, ours := chart.Series{Name: "baseline"}, chart.Series{Name: "ours"}
		for _, r := range results {
			states := float64(r.cell.batch + r.cell.places)
			theirs.Points = append(theirs.Points, chart.Point{X: states, Y: float64(r.contests[k].theirs) / float64(time.Microsecond)})
			ours.Points = append(ours.Points, chart.Point{X: states, Y: float64(r.contests[k].ours) / float64(time.Microsecond)})
		}
		f.Panels = append(f.Panels, chart.Panel{
			Title: k.String(), Series: []chart.Series{theirs, ours},
			X: chart.Axis{Label: "B + Q", Low: 100, High: 5000, Log: true}, Y: chart.Axis{Label: "µs", Low: 0.1, High: 10_000, Log: true},
		})
	}
	return f
}

func ownTable(owns []own) table.Table {
	t := table.Table{
		Title:   "The default model",
		Columns: table.Columns("B", "Q", "NewStation", "Evaluate", "Capacity, mean TTFT and ITL", "Capacity, p95 of TTFT"),
	}
	for _, o := range owns {
		t.Add(fmt.Sprint(o.batch), fmt.Sprint(o.places),
			microseconds(o.prepare), microseconds(o.evaluate), microseconds(o.meanLimits), microseconds(o.tailLimit))
	}
	return t
}

func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
}
