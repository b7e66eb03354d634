package optimizer_test

import (
	"strconv"
	"testing"

	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// A fleet whose pools of large replicas leave a gap that branching alone does not close in ten times the effort.
func TestRoundedRowsProveAHardFleet(t *testing.T) {
	p := instance.Generate(instance.Params{Kind: instance.Tight, Workloads: 60, Pools: 5, Seed: 37})
	s, err := optimizer.Solve(p, optimizer.Options{RelativeGap: 1e-3, Effort: 180_000})
	if err != nil || s.Proof != optimizer.Optimal {
		t.Errorf("error %v, proof %v, gap %v", err, s.Proof, s.Gap)
	}
}

// A fleet of thousands of workloads short of devices, served by priority: what remains of the gap of each level is
// a few large workloads, which only a linear program over all weighs against the many small ones.
func TestLargeFleetsAreProvenByPriority(t *testing.T) {
	p := instance.Generate(instance.Params{Kind: instance.Short, Workloads: 5000, Pools: 5, Lexicographic: true})
	s, err := optimizer.Solve(p, optimizer.Options{RelativeGap: 1e-3, Effort: 800_000})
	if err != nil || s.Proof != optimizer.Optimal {
		t.Errorf("error %v, proof %v, gap %v, levels %v", err, s.Proof, s.Gap, s.Levels)
	}
}

// A small fleet by priority that kept a gap of its levels for seconds: what splits have gained tells which ones to
// choose there, where costs tell little.
func TestPseudocostsProveAHardFleetByPriority(t *testing.T) {
	p := instance.Generate(instance.Params{Kind: instance.Short, Workloads: 60, Pools: 5, Seed: 4, Lexicographic: true})
	s, err := optimizer.Solve(p, optimizer.Options{RelativeGap: 1e-3, Effort: 500_000})
	if err != nil || s.Proof != optimizer.Optimal {
		t.Errorf("error %v, proof %v, gap %v, levels %v", err, s.Proof, s.Gap, s.Levels)
	}
}

// Quotas of four namespaces, each a quarter of every pool: the rows of quotas are rounded by the sizes of replicas as
// those of pools are.
func TestRoundedQuotasProveAHardFleet(t *testing.T) {
	p := instance.Generate(instance.Params{Kind: instance.Tight, Workloads: 60, Pools: 5, Seed: 7})
	for i := range p.Workloads {
		p.Workloads[i].Namespace = strconv.Itoa(i % 4)
	}
	for g := range p.Pools {
		for k := range 4 {
			p.Quotas = append(p.Quotas, optimizer.Quota{Namespace: strconv.Itoa(k), Pool: g, Capacity: p.Pools[g].Capacity / 4})
		}
	}
	s, err := optimizer.Solve(p, optimizer.Options{RelativeGap: 1e-3, Effort: 500_000})
	if err != nil || s.Proof != optimizer.Optimal {
		t.Errorf("error %v, proof %v, gap %v", err, s.Proof, s.Gap)
	}
}
