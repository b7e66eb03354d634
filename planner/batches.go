package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
)

// inBatches tells whether the solver shares the replicas of workload i out in batches.
func (c *cycle) inBatches(i int) bool {
	return c.fleet.Workloads[i].ExpansionRate != nil && c.fleet.Objective.Strategy == Optimal
}

// batched is p, a problem of the workloads that are not held, in which those with an
// expansion rate have no more replicas of each variant than [greedy.Kthena] gives them. It
// plans for one workload as if the pools were its own; the solver then shares them out.
func (c *cycle) batched(p *optimizer.Problem) (*optimizer.Problem, error) {
	if !slices.ContainsFunc(c.planned, c.inBatches) {
		return p, nil
	}
	limited := *p
	limited.Workloads = slices.Clone(p.Workloads)
	for k, i := range c.planned {
		if !c.inBatches(i) {
			continue
		}
		alone := *p
		alone.Workloads = p.Workloads[k : k+1]
		plan, err := greedy.Kthena(&alone, *c.fleet.Workloads[i].ExpansionRate, c.stop)
		if err != nil {
			return nil, fmt.Errorf("planner: batches: %w", err)
		}
		w := &limited.Workloads[k]
		w.Variants = slices.Clone(w.Variants)
		for j, replicas := range plan.Allocations[0].Replicas {
			v := &w.Variants[j]
			v.MaxReplicas = optimizer.Bound{Limited: true, Value: max(sum(replicas), v.MinReplicas)}
		}
	}
	return &limited, nil
}

// explainBatches says to what batches limit the replicas of a batched problem.
func (c *cycle) explainBatches(p *optimizer.Problem) {
	for k, i := range c.planned {
		if !c.inBatches(i) {
			continue
		}
		var most []string
		for _, v := range p.Workloads[k].Variants {
			most = append(most, fmt.Sprintf("%d %s", v.MaxReplicas.Value, v.Name))
		}
		w := &c.fleet.Workloads[i]
		c.step(w.QualifiedName(), "", "at most "+strings.Join(most, ", "), fmt.Sprintf("batches of Kthena at %d %%", *w.ExpansionRate))
	}
}
