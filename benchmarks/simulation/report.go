package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/poolwright/poolwright/benchmarks/internal/chart"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

const about = `Requests of 512/256 tokens arrive at 0.7 of what the replicas sustain; chunks have 2,048 tokens. Speed is in requests per second of
processor time, over %d repetitions in turn, each in a process of its own, whose memory is the most that it held (VmHWM). "Of a replica alone" is the
speed over that of package ` + "`simulation/replica`" + ` with nothing around it. Growth is the slope of the logarithm of processor time, or
of memory, over that of the number of replicas or of requests, by least squares: 0 does not grow, 1 grows as the number does.`

// newReport returns what was found.
func newReport(all []measured) *report.Report {
	r := &report.Report{
		Title: "Simulator", About: fmt.Sprintf(about, len(all[0].all)),
		Tables: []table.Table{speedTable(all), growthTable(all)},
	}
	alone := fastest(&all[0])
	for i := range all {
		m := &all[i]
		name := fmt.Sprintf("%s (%d)", m.name, m.replicas)
		if m.rate > 0 {
			r.Targets = append(r.Targets, report.AtLeast(name, sample.Summarize(m.rates()).Median, m.rate, " requests/s"))
		}
		if m.megabytes > 0 {
			r.Targets = append(r.Targets, report.AtMost(name+": memory", m.memory(), m.megabytes, " MB"))
		}
		if i > 0 && m.name != byRequests {
			r.Ratios = append(r.Ratios, report.Ratio{Name: "speed over that of a replica alone: " + name, Value: fastest(m) / alone})
		}
	}
	f := speedFigure(all)
	r.Figures = []report.Figure{report.Draw("simulation", &f)}
	return r
}

// fastest is the highest speed: whatever else the machine does can only lower it.
func fastest(m *measured) float64 {
	highest := 0.0
	for _, rate := range m.rates() {
		highest = max(highest, rate)
	}
	return highest
}

func speedTable(all []measured) table.Table {
	t := table.Table{Title: "Speed and memory", Columns: table.Columns("what", "replicas", "requests", "requests/s", "of a replica alone", "memory, MB")}
	for i := range all {
		m := &all[i]
		ratios := make([]float64, len(m.all))
		for k, rate := range m.rates() {
			ratios[k] = rate / all[0].rates()[k]
		}
		t.Add(m.name, fmt.Sprint(m.replicas), fmt.Sprint(m.all[0].Requests), sample.Summarize(m.rates()).Text(""),
			sample.Summarize(ratios).Text(""), fmt.Sprintf("%.0f", m.memory()))
	}
	return t
}

// growth fits exponents of time and memory to the cases of a name.
func growth(all []measured, name string, size func(*measured) float64) (time, memory float64) {
	var sizes, times, memories []float64
	for i := range all {
		if m := &all[i]; m.name == name {
			sizes = append(sizes, math.Log(size(m)))
			times = append(times, math.Log(sample.Summarize(m.each(func(x measurement) float64 { return x.Processor.Seconds() })).Median))
			memories = append(memories, math.Log(m.memory()))
		}
	}
	_, time = stat.LinearRegression(sizes, times, nil, false)
	_, memory = stat.LinearRegression(sizes, memories, nil, false)
	return time, memory
}

func growthTable(all []measured) table.Table {
	t := table.Table{Title: "Growth", Columns: table.Columns("in", "exponent of processor time", "exponent of memory")}
	for _, x := range []struct {
		in, name string
		size     func(*measured) float64
	}{
		{"replicas, as many requests", byReplicas, func(m *measured) float64 { return float64(m.replicas) }},
		{"requests, as many replicas", byRequests, func(m *measured) float64 { return m.requests }},
	} {
		time, memory := growth(all, x.name, x.size)
		t.Add(x.in, fmt.Sprintf("%.2f", time), fmt.Sprintf("%.2f", memory))
	}
	return t
}

func speedFigure(all []measured) chart.Figure {
	speeds := chart.Series{Name: "requests per second of processor time"}
	memory := chart.Series{Name: "memory, MB"}
	for i := range all {
		m := &all[i]
		if m.name != byReplicas {
			continue
		}
		for k, rate := range m.rates() {
			x := float64(m.replicas)
			speeds.Points = append(speeds.Points, chart.Point{X: x, Y: rate})
			memory.Points = append(memory.Points, chart.Point{X: x, Y: float64(m.all[k].Memory) / 1e6})
		}
	}
	replicas := chart.Axis{Label: "replicas", Low: 0.8, High: 1500, Log: true}
	return chart.Figure{Title: "Speed and memory of simulations by size of the fleet", Columns: 2, Panels: []chart.Panel{
		{Title: "speed", X: replicas, Y: chart.Axis{Label: "requests/s", Low: 1e5, High: 1e7, Log: true}, Series: []chart.Series{speeds}},
		{Title: "memory", X: replicas, Y: chart.Axis{Label: "MB", Low: 1, High: 1000, Log: true}, Series: []chart.Series{memory}},
	}}
}
