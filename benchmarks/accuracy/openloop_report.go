package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// openLoopStudy compares the model with an independent simulator.
func openLoopStudy(data string, lowOnly bool) (*study, error) {
	rows, err := readOpenLoop(data)
	if err != nil {
		return nil, err
	}
	fits, judged, err := judgeOpenLoop(rows, lowOnly)
	if err != nil {
		return nil, err
	}
	s := &study{
		title:   "Open loop, independent simulator",
		targets: openLoopTargets(judged),
	}
	s.details = []table{openLoopRows(judged)}
	s.tables = []table{openLoopProfiles(fits), openLoopErrors("Errors over usable rows", judged)}
	for _, set := range openLoopSets(judged) {
		part := slices.DeleteFunc(slices.Clone(judged), func(r judgedRow) bool { return r.set != set })
		s.tables = append(s.tables, openLoopErrors("Errors over usable rows of set "+set, part))
	}
	return s, nil
}

func openLoopSets(rows []judgedRow) []string {
	var sets []string
	for i := range rows {
		if !slices.Contains(sets, rows[i].set) {
			sets = append(sets, rows[i].set)
		}
	}
	return sets
}

func openLoopProfiles(fits []openLoopFit) table {
	t := table{
		title: "Fitted profiles, coefficients in µs per their unit (ε in ps)",
		columns: columns("machine", "shape judged", "rows", "loss",
			"!α", "!β", "!κ", "!γ", "!δ", "!ε", "!offset"),
	}
	micro := func(x float64) string { return fmt.Sprintf("%.4g", 1e6*x) }
	for i := range fits {
		f := &fits[i]
		shape := "all"
		if f.prompt > 0 {
			shape = strconv.Itoa(f.prompt)
		}
		p := f.profile
		t.add(f.machine, shape, strconv.Itoa(f.used), fmt.Sprintf("%.3f", f.loss),
			micro(p.Alpha), micro(p.Beta), micro(p.Kappa), micro(p.Gamma), micro(p.Delta),
			micro(1e6*p.Epsilon), micro(p.TTFTOffset))
	}
	return t
}

// openLoopRows lists every row, the unusable ones marked.
func openLoopRows(rows []judgedRow) table {
	t := table{
		title: "Every row: errors in %, † and reason where the mean is not judged",
		columns: columns("set", "in", "out", "ca²", "load", "!λ",
			"!ITL", "!pred", "ITL", "ITL p95", "!TTFT", "!±", "!pred", "TTFT",
			"p50", "!p95", "!pred", "p95", "p99", "!batch", "batch", "!rate", "rate", "unusable"),
	}
	for i := range rows {
		r := &rows[i]
		p := &r.predicted
		e := map[string]string{}
		for _, m := range openLoopMetrics() {
			e[m.name] = signedPercent(m.error(r))
		}
		note := r.unusable()
		if note != "" {
			note = "† " + note
		}
		t.add(r.set, format(float64(r.shape.InputTokens)), format(float64(r.shape.OutputTokens)),
			format(r.shape.ArrivalSCV), format(r.load), format(r.rate),
			milli(r.itl.mean), milli(float64(p.ITL.Mean())), e["ITL mean"], e["ITL p95"],
			milli(r.ttft.mean), milli(r.ttftInterval), milli(float64(p.TTFT.Mean())), e["TTFT mean"],
			e["TTFT p50"], milli(r.ttft.p95), milli(float64(p.TTFT.Quantile(0.95))), e["TTFT p95"], e["TTFT p99"],
			format(r.batch), e["batch"], format(r.capacity), e["rate"], note)
	}
	return t
}

// format writes a number with four digits at most.
func format(x float64) string { return fmt.Sprintf("%.4g", x) }

// usableErrors returns a metric's errors over usable rows.
func usableErrors(rows []judgedRow, m judgedMetric) deviations {
	var d deviations
	for i := range rows {
		if rows[i].unusable() == "" {
			d = append(d, m.error(&rows[i]))
		}
	}
	return d
}

func openLoopErrors(title string, rows []judgedRow) table {
	var names []string
	var all []deviations
	for _, m := range openLoopMetrics() {
		names = append(names, m.name)
		all = append(all, usableErrors(rows, m))
	}
	return errorTable(title, names, all)
}

// errorTable summarises errors, in per cent.
func errorTable(title string, names []string, all []deviations) table {
	t := table{title: title + ", %", columns: columns("metric", "points", "median", "p90", "largest", "bias")}
	for i, d := range all {
		t.add(names[i], strconv.Itoa(len(d)), percent(d.quantile(0.5)), percent(d.quantile(0.9)),
			percent(d.quantile(1)), signedPercent(d.bias()))
	}
	return t
}

// openLoopTargets are those of the design.
func openLoopTargets(rows []judgedRow) []target {
	errors := map[string]deviations{}
	for _, m := range openLoopMetrics() {
		errors[m.name] = usableErrors(rows, m)
	}
	return []target{
		{"ITL mean, median", errors["ITL mean"].quantile(0.5), 0.02},
		{"ITL mean, p90", errors["ITL mean"].quantile(0.9), 0.06},
		{"TTFT mean, median", errors["TTFT mean"].quantile(0.5), 0.06},
		{"TTFT mean, p90", errors["TTFT mean"].quantile(0.9), 0.20},
		{"TTFT p95, median", errors["TTFT p95"].quantile(0.5), 0.12},
		{"rate, median", errors["rate"].quantile(0.5), 0.02},
		{"rate, p90", errors["rate"].quantile(0.9), 0.08},
		{"rate, most optimistic row", mostOptimistic(rows), 0.10},
	}
}

// mostOptimistic returns the largest excess of the predicted sustainable rate over
// all rows below saturation, bursty ones included. Where a row's mean is uncertain
// its upper end counts: that is the TTFT it may have.
func mostOptimistic(rows []judgedRow) float64 {
	most := math.Inf(-1)
	for i := range rows {
		r := &rows[i]
		if r.load < 1 {
			most = max(most, r.optimism())
		}
	}
	return most
}

// optimism returns by how much the predicted sustainable rate exceeds the row's.
func (r *judgedRow) optimism() float64 {
	if r.unusable() == "" {
		return relative(r.capacity, r.rate)
	}
	return relative(r.capacityUpper, r.rate)
}
