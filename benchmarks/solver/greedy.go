package main

import (
	"context"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
)

// strategy is a greedy one.
type strategy struct {
	name string
	plan func(*optimizer.Problem) (*optimizer.Solution, error)
}

func strategies() []strategy {
	var all []strategy
	inferno := func(name string, o greedy.Options) {
		all = append(all, strategy{name, func(p *optimizer.Problem) (*optimizer.Solution, error) { return greedy.Inferno(p, o, nil) }})
	}
	for saturation := greedy.None; saturation <= greedy.RoundRobin; saturation++ {
		inferno(saturation.String(), greedy.Options{Saturation: saturation})
	}
	inferno("PriorityExhaustive, delayed", greedy.Options{Saturation: greedy.PriorityExhaustive, DelayedBestEffort: true})
	return append(all, strategy{"Kthena", func(p *optimizer.Problem) (*optimizer.Solution, error) {
		return greedy.Kthena(p, greedy.DefaultExpansionRate, nil)
	}})
}

const greedyAbout = `How far the plans of the greedy strategies of the inferno family, by their saturation policies, and of Kthena are
above the proven bound of the same problem, in per cent of it: median / worst. Objective is price + switching + penalty
for what is not served. † marks cells in which some plans leave out declared minimum replicas, which the optimum never
does.`

// greedySection compares greedy strategies with the bound, on problems whose
// objective says all.
func greedySection(_ context.Context, o options) (*section, error) {
	t := greedyTable("kind", "workloads")
	s := &section{title: "Greedy strategies beside the optimum", about: greedyAbout}
	for _, workloads := range sizes(min(o.largest, 1000)) {
		nearest := math.Inf(1)
		for _, kind := range settings() {
			if kind.Lexicographic {
				continue
			}
			var all comparison
			for seed := range o.instances {
				problem := kind.draw(workloads, seed)
				best, err := solve(problem, optimizer.Options{RelativeGap: relativeGap}, o.limit)
				if err != nil {
					return nil, err
				}
				if err := all.add(problem, best.Bound); err != nil {
					return nil, err
				}
			}
			t.Add(append([]string{kind.name, fmt.Sprint(workloads)}, all.row()...)...)
			for _, excess := range all.excess {
				nearest = min(nearest, quantile(excess, 0.5))
			}
		}
		s.standings = append(s.standings, greedyStanding(workloads, nearest))
	}
	s.tables = []table.Table{t}
	return s, nil
}

// greedyTable has a column for each strategy after those named.
func greedyTable(names ...string) table.Table {
	for _, s := range strategies() {
		names = append(names, s.name)
	}
	return table.Table{Title: "Greedy strategies, above the bound, %: median / worst", Columns: table.Columns(names...)}
}

// comparison is how far strategies are above the bounds of problems, in per cent.
type comparison struct {
	excess [][]float64
	// short: some plan of the strategy leaves out declared minimums.
	short []bool
}

func (c *comparison) add(problem *optimizer.Problem, bound float64) error {
	if c.excess == nil {
		c.excess, c.short = make([][]float64, len(strategies())), make([]bool, len(strategies()))
	}
	for k, strategy := range strategies() {
		plan, err := strategy.plan(problem)
		if err != nil {
			return fmt.Errorf("%s: %w", strategy.name, err)
		}
		c.excess[k] = append(c.excess[k], 100*(plan.Objective/bound-1))
		c.short[k] = c.short[k] || plan.Demand == optimizer.Infeasible
	}
	return nil
}

func (c *comparison) row() []string {
	row := make([]string, len(c.excess))
	for k := range c.excess {
		row[k] = fmt.Sprintf("%.1f / %.1f", quantile(c.excess[k], 0.5), quantile(c.excess[k], 1))
		if c.short[k] {
			row[k] += " †"
		}
	}
	return row
}
