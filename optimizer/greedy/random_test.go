package greedy

import (
	"fmt"
	"math/rand/v2"

	"github.com/poolwright/poolwright/optimizer"
)

// randomProblem draws a small problem with every kind of limit now and then, and
// prices and demands that often tie.
func randomProblem(r *rand.Rand) *optimizer.Problem {
	p := &optimizer.Problem{}
	chance := func(probability float64) bool { return r.Float64() < probability }
	for g := range 1 + r.IntN(3) {
		pool := optimizer.Pool{Name: fmt.Sprint("g", g), Limited: chance(0.9), Capacity: r.IntN(16)}
		if chance(0.3) {
			pool.DevicesPerNode = []int{2, 4, 8}[r.IntN(3)]
		}
		p.Pools = append(p.Pools, pool)
		if chance(0.3) {
			p.Quotas = append(p.Quotas, optimizer.Quota{Namespace: "a", Pool: g, Capacity: r.IntN(10)})
		}
	}
	if chance(0.3) {
		p.BudgetPerHour = float64(5+r.IntN(300)) / 10
	}
	penalized := chance(0.5)
	for i := range 1 + r.IntN(5) {
		w := optimizer.Workload{
			Name: fmt.Sprint("w", i), Namespace: []string{"a", "b"}[r.IntN(2)], Priority: 1 + r.IntN(3),
			Demand: float64(r.IntN(8)), Penalized: penalized, UnmetPenalty: float64(r.IntN(60)) / 10,
		}
		if chance(0.3) {
			w.Mixing = optimizer.Single
		}
		if chance(0.2) {
			w.Redundancy = 1 + r.IntN(2)
		}
		if chance(0.2) {
			w.MinReplicas = r.IntN(4)
		}
		if chance(0.2) {
			w.MaxReplicas = optimizer.Bound{Limited: true, Value: w.MinReplicas + r.IntN(4)}
		}
		for j := range 1 + r.IntN(3) {
			w.Variants = append(w.Variants, randomVariant(r, len(p.Pools), j))
		}
		p.Workloads = append(p.Workloads, w)
	}
	return p
}

func randomVariant(r *rand.Rand, pools, j int) optimizer.Variant {
	chance := func(probability float64) bool { return r.Float64() < probability }
	v := optimizer.Variant{
		Name: fmt.Sprint("v", j), Capacity: float64(r.IntN(4)), DevicesPerReplica: []int{0, 1, 1, 2, 3, 8}[r.IntN(6)],
		NodesPerReplica: r.IntN(3),
	}
	if chance(0.2) {
		v.MinReplicas = r.IntN(3)
	}
	if chance(0.2) {
		v.MaxReplicas = optimizer.Bound{Limited: true, Value: v.MinReplicas + r.IntN(3)}
	}
	if chance(0.4) {
		v.CurrentReplicas = r.IntN(4)
	}
	if chance(0.2) {
		v.SwitchUp, v.SwitchDown = float64(r.IntN(3)), float64(r.IntN(3))
	}
	for _, g := range r.Perm(pools)[:1+r.IntN(pools)] {
		v.Placements = append(v.Placements, optimizer.Placement{Pool: g, PricePerHour: float64(r.IntN(40)) / 10})
	}
	return v
}

// reordered is the same problem, written in another order.
func reordered(r *rand.Rand, p *optimizer.Problem) *optimizer.Problem {
	q := &optimizer.Problem{BudgetPerHour: p.BudgetPerHour}
	at := make([]int, len(p.Pools))
	for to, from := range r.Perm(len(p.Pools)) {
		at[from] = to
		q.Pools = append(q.Pools, p.Pools[from])
	}
	for _, i := range r.Perm(len(p.Quotas)) {
		quota := p.Quotas[i]
		quota.Pool = at[quota.Pool]
		q.Quotas = append(q.Quotas, quota)
	}
	for _, i := range r.Perm(len(p.Workloads)) {
		w := p.Workloads[i]
		variants := w.Variants
		w.Variants = nil
		for _, j := range r.Perm(len(variants)) {
			v := variants[j]
			places := v.Placements
			v.Placements = nil
			for _, k := range r.Perm(len(places)) {
				v.Placements = append(v.Placements, optimizer.Placement{Pool: at[places[k].Pool], PricePerHour: places[k].PricePerHour})
			}
			w.Variants = append(w.Variants, v)
		}
		q.Workloads = append(q.Workloads, w)
	}
	return q
}
