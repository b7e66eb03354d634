package main

import (
	"context"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// Demands move as they do from one cycle of a loop to the next: those of a share of the workloads,
// by a factor whose logarithm has a standard deviation.
const (
	movedShare  = 0.05
	movedSpread = 0.2
)

// warmSection measures solves that begin with the plan before demands moved.
func warmSection(_ context.Context, o options) (*section, error) {
	t := cellTable("Processor time to a gap of 0.1 %, from the plan before")
	var targets []target
	for _, workloads := range sizes(o.largest) {
		for _, kind := range []instance.Kind{instance.Tight, instance.Short} {
			c, err := measureWarm(ofKind(kind), workloads, o)
			if err != nil {
				return nil, err
			}
			c.addTo(&t)
			if kind == instance.Tight && workloads == 10_000 {
				targets = append(targets, target{name: "10,000 × 5 tight after 5 % of demands moved, median", measured: c.median(), bound: 60, unit: " ms"})
			}
		}
	}
	return &section{
		title:   "From the plan before",
		about:   "The demands of 5 % of the workloads have moved by some 20 % since a plan was made, as in a loop.",
		tables:  []table.Table{t},
		targets: targets,
	}, nil
}

func measureWarm(s setting, workloads int, o options) (*cell, error) {
	c := &cell{setting: s, workloads: workloads}
	for seed := range o.instances {
		before := s.draw(workloads, seed)
		first, err := optimizer.Solve(before, optimizer.Options{RelativeGap: relativeGap})
		if err != nil {
			return nil, err
		}
		start := &optimizer.Start{Problem: before, Solution: first}
		err = c.measure(instance.MoveDemand(before, movedShare, movedSpread, seed), optimizer.Options{RelativeGap: relativeGap, Start: start}, o)
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}
