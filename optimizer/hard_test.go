package optimizer_test

import (
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
