package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

//go:embed ratios.json
var ratios []byte

// guarded is a ratio that must not fall below a share of what was measured once.
type guarded struct {
	Ratio    string
	Measured float64
	// Margin divides Measured: what is below is a regression, and not how a busy machine measures.
	Margin float64
	// Needs is a program without which the ratio is not measured.
	Needs string
}

// guardedRatios reads them by the part that measures them.
func guardedRatios() (map[string][]guarded, error) {
	var all map[string][]guarded
	d := json.NewDecoder(strings.NewReader(string(ratios)))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("ratios.json: %w", err)
	}
	return all, nil
}

// guard shows the ratios of all parts that were asked for and have left a report, and returns the names of
// those of which one is too low or was not measured.
func (o *options) guard(w io.Writer) (low []string, err error) {
	all, err := guardedRatios()
	if err != nil {
		return nil, err
	}
	found, err := o.reports()
	if err != nil {
		return nil, err
	}
	t := table.Table{Title: "Ratios", Columns: table.Columns("part", "ratio", "measured", "least", "before", "")}
	for _, p := range parts() {
		r := found[p.name]
		if r == nil || !o.asks(p) {
			continue
		}
		enough := true
		for _, g := range all[p.name] {
			measured, verdict, ok := g.judge(r)
			t.Add(p.name, g.Ratio, measured, fmt.Sprintf("%.3g", g.Measured/g.Margin), fmt.Sprintf("%.3g", g.Measured), verdict)
			enough = enough && ok
		}
		if !enough {
			low = append(low, p.name)
		}
	}
	_, err = io.WriteString(w, t.Text())
	return low, err
}

// judge tells what a report has of a ratio, and whether that will do.
func (g *guarded) judge(r *report.Report) (measured, verdict string, ok bool) {
	for _, x := range r.Ratios {
		if x.Name != g.Ratio {
			continue
		}
		measured = fmt.Sprintf("%.3g", x.Value)
		if x.Value >= g.Measured/g.Margin {
			return measured, "", true
		}
		return measured, "too low", false
	}
	if g.Needs != "" {
		if _, err := exec.LookPath(g.Needs); err != nil {
			return "–", g.Needs + " is not installed", true
		}
	}
	return "–", "not measured", false
}
