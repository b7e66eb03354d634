package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/compact"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

const mixesAbout = `One model, requests of 60 shapes, four accelerators without limits, %g requests/s. Mélange (T. Griggs et al., 2024) cuts
the requests of each shape into %d slices, each served by one accelerator, which CBC solves as an integer program
with %d binaries, for %v at most. Ours routes fractions.`

const (
	mixRate   = 128
	mixSlices = 8
	mixes     = 5
	// mixLimit is for CBC, which seldom proves these.
	mixLimit = 10 * time.Second
)

// mixesSection compares routing by fractions with slices.
func mixesSection(ctx context.Context, o options) (*section, error) {
	s := &section{title: "Shape mixes", about: fmt.Sprintf(mixesAbout, float64(mixRate), mixSlices, 60*mixSlices*4, mixLimit)}
	cbc := peer.CBC()
	if _, installed := cbc.Version(ctx); !installed {
		s.about += "\n\nCBC was not installed in this run."
		return s, nil
	}
	t := table.Table{Title: "Shape mixes", Columns: table.Columns("mix", "ours, price", "ours, ms", "ours proven", "slices, price", "CBC, s", "CBC's answer", "ours dearer by %")}
	dearest, slowest := math.Inf(-1), 0.0
	for seed := range uint64(mixes) {
		problem := instance.Mix(mixRate, seed)
		ours, err := solve(problem, optimizer.Options{RelativeGap: relativeGap}, o.limit)
		if err != nil {
			return nil, err
		}
		price, sliced, err := solveSliced(ctx, cbc, problem)
		if err != nil {
			return nil, err
		}
		dearer := 100 * (ours.Objective/price - 1)
		dearest, slowest = math.Max(dearest, dearer), math.Max(slowest, milliseconds(ours.cpu))
		t.Add(fmt.Sprint(seed+1), fmt.Sprintf("%.3f", ours.Objective), format(milliseconds(ours.cpu)), ourStatus(ours.Solution),
			fmt.Sprintf("%.3f", price), format(sliced.CPU.Seconds()), sliced.Status.String(), fmt.Sprintf("%.3f", dearer))
	}
	s.tables = []table.Table{t}
	s.standings = []report.Standing{{
		What: "price of shape mixes, by how much ours is dearer, worst of all", Against: "Mélange's slices by CBC",
		Figure: fmt.Sprintf("%.3f %%", dearest), Verdict: report.Judge(1/(1+dearest/100), 1e-6),
	}}
	s.targets = []target{
		{name: "shape mixes: dearer than slices by CBC, worst of all", measured: dearest, bound: 0, unit: " %"},
		{name: "shape mixes: slowest of all", measured: slowest, bound: 20, unit: " ms"},
	}
	return s, nil
}

// solveSliced returns the price of the plan, +Inf if there is none.
func solveSliced(ctx context.Context, cbc peer.Solver, problem *optimizer.Problem) (float64, peer.Run, error) {
	program, err := compact.NewSliced(problem, mixSlices)
	if err != nil {
		return 0, peer.Run{}, err
	}
	r, err := cbc.Run(ctx, program, relativeGap, mixLimit)
	if err != nil || r.Status > peer.Feasible {
		return math.Inf(1), r, err
	}
	price := 0.0
	for j, v := range problem.Workloads[0].Variants {
		price += float64(r.Replicas[0][j][0]) * v.Placements[0].PricePerHour
	}
	return price, r, nil
}
