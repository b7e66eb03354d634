package main

import (
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/queueing"
)

const familyAbout = ` Beside it, on equal terms, are the service models of the inferno family (` + "`benchmarks/baseline`" + `, which package
` + "`queueing`" + ` equals to 1e-4), with ten waiting places for each in the batch: each is fitted to the same rows of low load in the same way, and
the constant overhead, which they don't know, is added to what they predict.`

// rival is a service model and the errors of its predictions.
type rival struct {
	name      string
	ttft, itl deviations
}

// rivals fits every service model to rows of low load, and judges it by all usable rows.
func rivals(rows []openLoopRow) ([]rival, error) {
	var all []rival
	for _, m := range []struct {
		name  string
		model queueing.ServiceModel
	}{{"ours", queueing.ContinuousBatching}, {"inferno V1", queueing.LLMDV1}, {"inferno V2", queueing.LLMDV2}, {"inferno V3", queueing.LLMDV3}} {
		x := rival{name: m.name}
		judged := slices.Clone(rows)
		for i := range judged {
			r := &judged[i]
			r.replica.Model = m.model
			if m.model != queueing.ContinuousBatching {
				r.replica.MaxQueue = queueing.Waiting{Limited: true, Places: 10 * r.replica.MaxBatch}
			}
			r.ttft.mean -= r.offset
			r.offset = 0
		}
		if _, err := judgeOpenLoop(judged, true); err != nil {
			return nil, err
		}
		for i := range judged {
			if rows[i].unusable() != "" {
				continue
			}
			p, offset := &judged[i].predicted, rows[i].offset
			x.ttft = append(x.ttft, relative(float64(p.TTFT.Mean())+offset, rows[i].ttft.mean))
			x.itl = append(x.itl, relative(float64(p.ITL.Mean()), rows[i].itl.mean))
		}
		all = append(all, x)
	}
	return all, nil
}

func rivalTable(all []rival) table.Table {
	t := table.Table{
		Title:   "Errors of the inferno family beside ours, %",
		Columns: table.Columns("model", "points", "ITL mean, median", "p90", "bias", "TTFT mean, median", "p90", "bias"),
	}
	for i := range all {
		x := &all[i]
		row := []string{x.name, count(len(x.itl))}
		for _, d := range []deviations{x.itl, x.ttft} {
			row = append(row, percent(d.quantile(0.5)), percent(d.quantile(0.9)), signedPercent(d.bias()))
		}
		t.Add(row...)
	}
	return t
}

// rivalStandings compare ours with the best of the others by each figure.
func rivalStandings(what string, all []rival) []report.Standing {
	var standings []report.Standing
	for _, x := range []struct {
		name string
		of   func(*rival) float64
	}{
		{"mean ITL, median", func(r *rival) float64 { return r.itl.quantile(0.5) }},
		{"mean ITL, p90", func(r *rival) float64 { return r.itl.quantile(0.9) }},
		{"mean TTFT, median", func(r *rival) float64 { return r.ttft.quantile(0.5) }},
		{"mean TTFT, p90", func(r *rival) float64 { return r.ttft.quantile(0.9) }},
	} {
		best := &all[1]
		for i := range all[1:] {
			if x.of(&all[1+i]) < x.of(best) {
				best = &all[1+i]
			}
		}
		standings = append(standings, report.Standing{
			What: "error of " + x.name + ", " + what, Against: best.name + ", the best of its family",
			Figure:  percent(x.of(&all[0])) + " % against " + percent(x.of(best)) + " %",
			Verdict: report.Judge(x.of(best)/x.of(&all[0]), 0.02),
		})
	}
	return standings
}
