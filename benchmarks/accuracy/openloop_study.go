package main

import (
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// openLoopStudy compares the model with an independent simulator.
func openLoopStudy(o options) (*study, error) {
	rows, err := readOpenLoop(o.Data)
	if err != nil {
		return nil, err
	}
	others := slices.Clone(rows)
	fits, err := judgeOpenLoop(rows, !o.otherShapes)
	if err != nil {
		return nil, err
	}
	if _, err := judgeOpenLoop(others, o.otherShapes); err != nil {
		return nil, err
	}
	beside, err := rivals(rows)
	if err != nil {
		return nil, err
	}
	s := &study{
		title:   "Open loop, independent simulator",
		about:   openLoopAbout + familyAbout,
		targets: openLoopTargets(rows), standings: rivalStandings("independent simulator", beside),
		figures: []namedFigure{{"open-loop", errorFigure("Errors by load; hollow: not judged by the mean",
			openLoopPoints(rows), []string{meanITL, meanTTFT, p95TTFT, rate}, 40, 10)}},
		listings: []table.Table{openLoopRows(rows)},
		tables: []table.Table{
			openLoopProfiles(fits),
			targetTable("The same with the other way to fit", openLoopTargets(others)),
			optimismTable(rows),
			rivalTable(beside),
			errorTable("Errors over usable rows", usable(rows)),
			errorTable("Errors over usable rows without those of low load that are fitted", unseen(rows)),
		},
	}
	for _, set := range openLoopSets(rows) {
		part := slices.DeleteFunc(slices.Clone(rows), func(r openLoopRow) bool { return r.set != set })
		if points := usable(part); len(points) > 0 {
			s.tables = append(s.tables, errorTable("Errors over usable rows of set "+set, points))
		}
	}
	return s, nil
}

const openLoopAbout = `Steady states of an independent iteration-level simulator, one replica under Poisson
and bursty arrivals. Sets ` + "`main` and `edge`" + ` are of one machine, ` + "`phys`, `edgephys` and `gamma`" + ` (bursty, ca² > 1) of
another; ` + "`dist`" + ` has exponential output lengths. One profile for each machine is
fitted to mean ITL and TTFT of its rows with a load of at most 0.25: what is predicted at higher loads, under bursts and
for random lengths no fit has seen. The other way to fit, with figures of its own, leaves out the shape that is judged and
takes rows of the other shapes at all loads beside those of low load. Bursty rows and those of random lengths
never identify a profile. The rate of a row is the highest one at which the predicted mean TTFT is at most the row's.

A row is judged by its mean where load < 1 and the 95 % interval of its mean TTFT is within 5 %; the others are marked †.
Optimism is the excess of the predicted rate over the row's, on all rows below saturation. Where a row is not judged by
its mean, it is the least excess that its interval allows, that at the lower end.`

// optimismTable compares what the ends of intervals say.
func optimismTable(rows []openLoopRow) table.Table {
	t := table.Table{
		Title:   "Most optimistic rate over rows below saturation, for TTFTs in their intervals, %",
		Columns: table.Columns("rows", "lower end", "mean", "upper end"),
	}
	for _, x := range []struct {
		name string
		of   func(*openLoopRow) bool
	}{
		{"judged by the mean", func(r *openLoopRow) bool { return r.precise() }},
		{"others", func(r *openLoopRow) bool { return !r.precise() }},
		{"bursty ones of both", func(r *openLoopRow) bool { return r.shape.ArrivalSCV > 1 }},
	} {
		part := slices.DeleteFunc(slices.Clone(rows), func(r openLoopRow) bool { return !x.of(&r) })
		t.Add(x.name,
			signedPercent(mostOptimistic(part, func(r *openLoopRow) float64 { return relative(r.capacityLower, r.rate) })),
			signedPercent(mostOptimistic(part, func(r *openLoopRow) float64 { return relative(r.capacity, r.rate) })),
			signedPercent(mostOptimistic(part, func(r *openLoopRow) float64 { return relative(r.capacityUpper, r.rate) })))
	}
	return t
}

func openLoopPoints(rows []openLoopRow) []seriesPoint {
	var points []seriesPoint
	for i := range rows {
		if r := &rows[i]; r.load < 1 {
			points = append(points, seriesPoint{r.set, &r.point, r.unusable() != ""})
		}
	}
	return points
}

// usable returns the points that are judged by their means.
func usable(rows []openLoopRow) []*point {
	var points []*point
	for i := range rows {
		if rows[i].unusable() == "" {
			points = append(points, &rows[i].point)
		}
	}
	return points
}

// unseen returns the usable points that identify no profile where only low loads do.
func unseen(rows []openLoopRow) []*point {
	return usable(slices.DeleteFunc(slices.Clone(rows), func(r openLoopRow) bool { return r.identifies(0, true) }))
}

func openLoopSets(rows []openLoopRow) []string {
	var sets []string
	for i := range rows {
		if !slices.Contains(sets, rows[i].set) {
			sets = append(sets, rows[i].set)
		}
	}
	return sets
}

func openLoopProfiles(fits []openLoopFit) table.Table {
	t := table.Table{
		Title: "Fitted profiles (loss: mean squared residual in tolerances; α…δ and offset in µs, ε in ps)",
		Columns: table.Columns("machine", "shape judged", "rows", "loss",
			"!α", "!β", "!κ", "!γ", "!δ", "!ε", "!offset"),
	}
	micro := func(x float64) string { return format(1e6 * x) }
	for i := range fits {
		f := &fits[i]
		shape := "all"
		if f.prompt > 0 {
			shape = count(f.prompt)
		}
		p := f.profile
		t.Add(f.machine, shape, count(f.used), fmt.Sprintf("%.3f", f.loss),
			micro(p.Alpha), micro(p.Beta), micro(p.Kappa), micro(p.Gamma), micro(p.Delta),
			micro(1e6*p.Epsilon), micro(p.TTFTOffset))
	}
	return t
}

// openLoopRows lists every row, the unusable ones marked.
func openLoopRows(rows []openLoopRow) table.Table {
	t := table.Table{
		Title: "Every row: errors in %, † and reason where the mean is not judged",
		Columns: table.Columns("set", "in", "out", "ca²", "load", "!λ",
			"!ITL", "!pred", "ITL", "ITL p95", "!TTFT", "!±", "!pred", "TTFT",
			"p50", "!p95", "!pred", "p95", "p99", "!batch", "batch", "!rate", "rate", "optimism", "unusable"),
	}
	for i := range rows {
		r := &rows[i]
		p := &r.predicted
		e := errorRow(&r.point)
		note := r.unusable()
		if note != "" {
			note = "† " + note
		}
		optimism := "–"
		if r.load < 1 {
			optimism = signedPercent(r.optimism())
		}
		t.Add(r.set, count(r.prompt), format(float64(r.shape.OutputTokens)),
			format(r.shape.ArrivalSCV), format(r.load), format(r.rate),
			milli(r.itl.mean), milli(float64(p.ITL.Mean())), e[meanITL], e["ITL p95"],
			milli(r.ttft.mean), milli(r.ttft.interval), milli(float64(p.TTFT.Mean())), e[meanTTFT],
			e["TTFT p50"], milli(r.ttft.p95), milli(float64(p.TTFT.Quantile(0.95))), e[p95TTFT], e["TTFT p99"],
			format(r.running), e["running"], format(r.capacity), e[rate], optimism, note)
	}
	return t
}

// openLoopTargets are those of the design.
func openLoopTargets(rows []openLoopRow) []target {
	errors := errorsOf(usable(rows))
	return []target{
		{"ITL mean, median", errors[meanITL].quantile(0.5), 0.02},
		{"ITL mean, p90", errors[meanITL].quantile(0.9), 0.06},
		{"TTFT mean, median", errors[meanTTFT].quantile(0.5), 0.06},
		{"TTFT mean, p90", errors[meanTTFT].quantile(0.9), 0.20},
		{"TTFT p95, median", errors[p95TTFT].quantile(0.5), 0.12},
		{"rate, median", errors[rate].quantile(0.5), 0.02},
		{"rate, p90", errors[rate].quantile(0.9), 0.08},
		{"rate, most optimistic row below saturation", mostOptimistic(rows, (*openLoopRow).optimism), 0.10},
	}
}
