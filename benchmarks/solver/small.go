package main

import (
	"context"
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/optimizer"
)

// smallSection measures proofs of optimality.
func smallSection(_ context.Context, o options) (*section, error) {
	t := cellTable("Processor time to a proven optimum")
	slowest := 0.0
	proven := 1.0
	for _, workloads := range []int{10, 20, 30} {
		for _, s := range settings() {
			c, err := measureCell(s, workloads, optimizer.Options{}, o)
			if err != nil {
				return nil, err
			}
			c.addTo(&t)
			slowest = max(slowest, slices.Max(c.times))
			proven = min(proven, provenShare([]*cell{c}))
		}
	}
	return &section{
		title: "Proven optima of small fleets",
		about: "No gap at all: 3e-9, which is what the arithmetic can prove.",
		targets: []target{
			{name: "up to 30 workloads, proven optimal, slowest of all", measured: slowest, bound: 50, unit: " ms"},
			{name: "up to 30 workloads, proven optimal, least share of a kind and size", measured: 100 * proven, bound: 100, atLeast: true, unit: " %"},
		},
		tables: []table.Table{t},
	}, nil
}
