package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// judgedCase is a case with its points.
type judgedCase struct {
	oracleCase
	points []point
	// err says why the case could not be simulated or predicted.
	err error
}

// oracleStudy compares the model with the simulator of this repository, which has the
// very profile that the model is given: what is left is the error of the analysis.
func oracleStudy(o options) (*study, error) {
	cases, err := judgeOracle(o)
	if err != nil {
		return nil, err
	}
	var all []*point
	for i := range cases {
		all = append(all, cases[i].judged()...)
	}
	s := &study{
		title: "Simulated grid",
		about: fmt.Sprintf(oracleAbout, o.half, len(cases)),
		figures: []namedFigure{
			{"oracle-latency", scatterFigure("Predicted over observed latencies", oraclePoints(cases), pairedLatencies())},
			{"oracle-error", errorFigure("Errors by load", oraclePoints(cases),
				[]string{meanITL, meanTTFT, p95TTFT, highRate}, 80, 10)},
		},
		details: []table.Table{oracleRows(cases)},
		tables:  []table.Table{errorTable(fmt.Sprintf("Errors over the %s half of the grid", o.half), all)},
	}
	for _, g := range oracleGroups() {
		s.tables = append(s.tables, oracleGroupTable(g, cases))
	}
	s.tables = append(s.tables, blockingTable(cases))
	return s, nil
}

const oracleAbout = `Steady states of ` + "`simulation/replica`" + `, the simulator of this repository, which has the very profile that the model is
given: what is left is the error of the analysis. Cases are drawn at random, with a fixed seed, from six kinds of
profile, prompts of 16 to 16,000 and outputs of 1 to 2,000 tokens, an SCV of lengths of 0 to 2 and of
times between arrivals of 0 to 16, batch limits of 16 to 256, chunked and blocking prefill, token budgets, KV caches and queues
that limit, prefix hits and speculative decoding. A hash of a case's name splits the grid in two halves. Constants of the
model may be tuned on the one; errors are of the other. Here: the %s half, %d cases.

Loads are shares of the saturation rate that the simulator reaches. A point counts where the 95 %% interval of its mean TTFT is
within 5 %%.`

func oraclePoints(cases []judgedCase) []seriesPoint {
	var points []seriesPoint
	for i := range cases {
		for _, p := range cases[i].judged() {
			points = append(points, seriesPoint{cases[i].profile, p, false})
		}
	}
	return points
}

// judgeOracle simulates and predicts the cases of a half.
func judgeOracle(o options) ([]judgedCase, error) {
	size, e := 192, effort{2e5, 8e6}
	if o.quick {
		size, e = 48, effort{5e4, 1e6}
	}
	var cases []judgedCase
	for _, c := range oracleCases(size) {
		if c.tuning() == (o.half == tuningHalf) {
			cases = append(cases, judgedCase{oracleCase: c})
		}
	}
	parallel(len(cases), func(i int) { cases[i].judge(e) })
	var errs []error
	for i := range cases {
		if cases[i].err != nil {
			errs = append(errs, fmt.Errorf("case %s: %w", cases[i].name, cases[i].err))
		}
	}
	return cases, errors.Join(errs...)
}

func (c *judgedCase) judge(e effort) {
	saturation, err := oracleSaturation(&c.oracleCase)
	if err != nil {
		c.err = err
		return
	}
	for _, load := range oracleLoads(&c.oracleCase) {
		p, err := observe(&c.oracleCase, load*saturation, saturation, e)
		if err == nil {
			err = p.predict(c.replica.Profile)
		}
		if err != nil {
			c.err = err
			return
		}
		c.points = append(c.points, p)
	}
}

// judged returns the points that are judged by their means.
func (c *judgedCase) judged() []*point {
	var points []*point
	for i := range c.points {
		if p := &c.points[i]; p.precise() {
			points = append(points, p)
		}
	}
	return points
}

// oracleGroup splits points by what they have in common.
type oracleGroup struct {
	name  string
	label func(*judgedCase, *point) string
}

func oracleGroups() []oracleGroup {
	return []oracleGroup{
		{"profile", func(c *judgedCase, _ *point) string { return c.profile }},
		{"load", func(_ *judgedCase, p *point) string { return format(p.load) }},
		{"ca²", func(_ *judgedCase, p *point) string { return format(p.shape.ArrivalSCV) }},
		{"regime", func(_ *judgedCase, p *point) string { return regime(p) }},
	}
}

// regime names the first thing about a replica or its load that is out of the ordinary.
func regime(p *point) string {
	switch {
	case p.replica.MaxQueue.Limited:
		return "limited queue"
	case p.replica.KVCacheTokens > 0:
		return "limited KV cache"
	case p.replica.PrefillMode != 0:
		return "blocking prefill"
	case p.replica.AcceptedTokens > 0:
		return "speculative"
	case p.shape.PrefixHitRatio > 0:
		return "prefix hits"
	case p.shape.OutputTokens < 30:
		return "short outputs"
	}
	return "plain"
}

// oracleGroupTable shows median and p90 of the main errors by group.
func oracleGroupTable(g oracleGroup, cases []judgedCase) table.Table {
	groups := map[string][]*point{}
	var labels []string
	for i := range cases {
		c := &cases[i]
		for _, p := range c.judged() {
			label := g.label(c, p)
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
			groups[label] = append(groups[label], p)
		}
	}
	slices.SortFunc(labels, compareLabels)
	t := table.Table{
		Title: "Errors by " + g.name + ": median and p90, %",
		Columns: table.Columns(g.name, "points", "ITL", "p90", "ITL p95", "p90", "TTFT", "p90", "TTFT p95", "p90",
			"TTFT p99", "p90", "E2E", "p90", "rate, load ≥ 0.7", "p90"),
	}
	for _, label := range labels {
		errors := errorsOf(groups[label])
		row := []string{label, count(len(groups[label]))}
		for _, m := range []string{meanITL, "ITL p95", meanTTFT, p95TTFT, "TTFT p99", "E2E mean", highRate} {
			row = append(row, percent(errors[m].quantile(0.5)), percent(errors[m].quantile(0.9)))
		}
		t.Add(row...)
	}
	return t
}

// compareLabels orders numbers by value and names by the alphabet.
func compareLabels(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// blockingTable compares blocked shares, in points of a hundred.
func blockingTable(cases []judgedCase) table.Table {
	t := table.Table{
		Title:   "Limited queues: absolute error of the blocked share, percentage points",
		Columns: table.Columns("load", "points", "observed, mean", "median", "largest"),
	}
	for _, load := range []float64{0.7, 0.8, 0.9, 0.95, 1.2} {
		var d, blocked deviations
		for i := range cases {
			for _, p := range cases[i].judged() {
				if p.replica.MaxQueue.Limited && p.load == load {
					d = append(d, p.predicted.BlockedShare-p.blocked)
					blocked = append(blocked, p.blocked)
				}
			}
		}
		t.Add(format(load), count(len(d)), percent(blocked.mean()), percent(d.quantile(0.5)), percent(d.quantile(1)))
	}
	return t
}

func oracleRows(cases []judgedCase) table.Table {
	t := table.Table{
		Title: "Every point: errors in %, † where the mean is not judged",
		Columns: table.Columns("case", "load", "λ", "ITL", "pred", "error", "p95", "TTFT", "±%", "pred", "error",
			"p50", "p95", "p99", "E2E", "running", "pred", "error", "rate", "blocked", "pred", ""),
	}
	for i := range cases {
		for j := range cases[i].points {
			p := &cases[i].points[j]
			e := errorRow(p)
			note := ""
			if !p.precise() {
				note = "†"
			}
			t.Add(cases[i].name, format(p.load), format(p.rate),
				milli(p.itl.mean), milli(float64(p.predicted.ITL.Mean())), e[meanITL], e["ITL p95"],
				milli(p.ttft.mean), percent(p.ttft.interval/p.ttft.mean), milli(float64(p.predicted.TTFT.Mean())), e[meanTTFT],
				e["TTFT p50"], e[p95TTFT], e["TTFT p99"], e["E2E mean"],
				format(p.running), format(p.predicted.Running), e["running"], e[rate],
				percent(p.blocked), percent(p.predicted.BlockedShare), note)
		}
	}
	return t
}
