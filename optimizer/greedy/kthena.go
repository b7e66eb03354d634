package greedy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// DefaultExpansionRate is Kthena's default of costExpansionRatePercent.
const DefaultExpansionRate = 200

// Target is a deployment that shares a number of replicas with others.
type Target struct {
	// Cost of one replica, relative to the other targets.
	Cost float64
	// MinReplicas ≤ MaxReplicas; between them replicas are shared out.
	MinReplicas, MaxReplicas int
}

// Distribute shares a number of replicas out as Kthena does for a heterogeneous
// target, and returns those of each target. The number is first brought into
// [Σ min, Σ max].
//
// Every target gets its minimum. The rest of each is cut into batches that grow by
// the expansion rate in percent: 1, 2, 4, … replicas for 200. All batches are then
// filled in the order of their cost, which is that of all replicas in a batch; among
// batches of equal cost the target that comes first goes first. At a rate of 100 or
// less the cheapest target is filled up first.
func Distribute(targets []Target, total, expansionRate int) []int {
	replicas := make([]int, len(targets))
	for t := range targets {
		replicas[t] = targets[t].MinReplicas
		total -= targets[t].MinReplicas
	}
	for _, b := range batches(targets, expansionRate) {
		n := max(0, min(total, b.replicas))
		replicas[b.target] += n
		total -= n
	}
	return replicas
}

// batch is a number of replicas of one target that are filled together.
type batch struct {
	target, replicas int
	cost             float64
}

// batches are those of all targets, in the order in which they are filled.
func batches(targets []Target, expansionRate int) []batch {
	var all []batch
	for t, target := range targets {
		left := target.MaxReplicas - target.MinReplicas
		if left > 0 && expansionRate <= 100 {
			all = append(all, batch{target: t, replicas: left, cost: target.Cost})
			continue
		}
		for size := 1.0; left > 0; size = size * float64(expansionRate) / 100 {
			n := min(left, int(size))
			all = append(all, batch{target: t, replicas: n, cost: target.Cost * float64(n)})
			left -= n
		}
	}
	slices.SortFunc(all, func(a, b batch) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.target, b.target))
	})
	return all
}

// Kthena plans each workload by the batches of [Distribute] at the expansion rate in
// percent, which is ≥ 0. It ends early as [Inferno] does. It returns an error only if
// the problem or the rate is not valid.
func Kthena(p *optimizer.Problem, expansionRate int, stop func() bool) (*optimizer.Solution, error) {
	if expansionRate < 0 {
		return nil, fmt.Errorf("greedy: expansion rate %d < 0", expansionRate)
	}
	m, err := newPlan(p, stop)
	if err != nil {
		return nil, err
	}
	for _, i := range m.order {
		if m.ends() {
			break
		}
		m.fill(i, expansionRate)
	}
	return m.solution()
}

// fill takes batches of workload i, replica by replica, until it has what it needs.
func (m *plan) fill(i, expansionRate int) {
	variants := m.variants(i)
	targets := make([]Target, len(variants))
	for t, j := range variants {
		targets[t] = m.target(i, j)
	}
	for _, b := range batches(targets, expansionRate) {
		j := variants[b.target]
		n, ok := m.wanted(i, j)
		if ok && n == 0 {
			return
		}
		m.spread(i, j, min(n, b.replicas))
	}
}

// target is variant j of workload i.
func (m *plan) target(i, j int) Target {
	v := &m.problem.Workloads[i].Variants[j]
	t := Target{
		Cost:        v.Placements[m.placements(i, j)[0]].PricePerHour,
		MinReplicas: v.MinReplicas, MaxReplicas: v.MaxReplicas.Value,
	}
	if !v.MaxReplicas.Limited {
		n, _ := m.wanted(i, j)
		t.MaxReplicas = t.MinReplicas + n
	}
	return t
}
