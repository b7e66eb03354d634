package main

import (
	"context"
	"fmt"

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
		all = append(all, strategy{name, func(p *optimizer.Problem) (*optimizer.Solution, error) { return greedy.Inferno(p, o) }})
	}
	for saturation := greedy.None; saturation <= greedy.RoundRobin; saturation++ {
		inferno(saturation.String(), greedy.Options{Saturation: saturation})
	}
	inferno("PriorityExhaustive, delayed", greedy.Options{Saturation: greedy.PriorityExhaustive, DelayedBestEffort: true})
	return append(all, strategy{"Kthena", func(p *optimizer.Problem) (*optimizer.Solution, error) {
		return greedy.Kthena(p, greedy.DefaultExpansionRate)
	}})
}

const greedyAbout = `How far the plans of the greedy strategies of the inferno family, by their saturation policies, and of Kthena are
above the proven bound of the same problem, in per cent of it: median / worst. Objective is price + switching + penalty
for what is not served. † marks cells in which some plans leave out declared minimum replicas, which the optimum never
does.`

// greedySection compares greedy strategies with the bound, on problems whose
// objective says all.
func greedySection(_ context.Context, o options) (*section, error) {
	names := []string{"kind", "workloads"}
	for _, s := range strategies() {
		names = append(names, s.name)
	}
	t := table.Table{Title: "Above the bound, %: median / worst", Columns: table.Columns(names...)}
	for _, workloads := range sizes(min(o.largest, 1000)) {
		for _, s := range settings() {
			if s.Lexicographic {
				continue
			}
			row, err := greedyRow(s, workloads, o)
			if err != nil {
				return nil, err
			}
			t.Add(append([]string{s.name, fmt.Sprint(workloads)}, row...)...)
		}
	}
	return &section{title: "Greedy strategies beside the optimum", about: greedyAbout, tables: []table.Table{t}}, nil
}

func greedyRow(s setting, workloads int, o options) ([]string, error) {
	excess := make([][]float64, len(strategies()))
	marks := make([]string, len(strategies()))
	for seed := range o.instances {
		problem := s.draw(workloads, seed)
		best, err := solve(problem, optimizer.Options{RelativeGap: relativeGap}, o.limit)
		if err != nil {
			return nil, err
		}
		for k, strategy := range strategies() {
			plan, err := strategy.plan(problem)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strategy.name, err)
			}
			excess[k] = append(excess[k], 100*(plan.Objective/best.Bound-1))
			if plan.Demand == optimizer.Infeasible {
				marks[k] = " †"
			}
		}
	}
	row := make([]string, len(excess))
	for k := range excess {
		row[k] = fmt.Sprintf("%s / %s%s", format(quantile(excess[k], 0.5)), format(quantile(excess[k], 1)), marks[k])
	}
	return row, nil
}
