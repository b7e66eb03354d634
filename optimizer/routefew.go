package optimizer

import (
	"cmp"
	"slices"
)

// running are the variants that have replicas.
func running(replicas []float64) []int {
	var some []int
	for v, n := range replicas {
		if n > 0 {
			some = append(some, v)
		}
	}
	return some
}

// balanceOne is balance where no variant but v has replicas.
func (r *routeProgram) balanceOne(v int) (shares [][]float64, served bool) {
	shares = r.shares(nil)
	if r.alone(v) > r.replicas[v]*(1+tolerance) {
		return shares, false
	}
	for s, load := range r.loads[v] {
		if load > 0 {
			shares[v][s] = 1
		}
	}
	return shares, true
}

// balanceTwo is balance where only variants a and b have replicas: the shapes go to a in the order of
// what they load it with relative to b, up to where both are as busy.
func (r *routeProgram) balanceTwo(a, b int) (shares [][]float64, served bool) {
	shares = r.shares(nil)
	busyA, busyB := 0.0, 0.0
	var either []int
	for s, rate := range r.rates {
		onA, onB := r.loads[a][s], r.loads[b][s]
		switch {
		case rate == 0:
		case onA == 0 && onB == 0:
			return shares, false
		case onA == 0:
			shares[b][s] = 1
		case onB == 0:
			shares[a][s] = 1
			busyA += onA / r.replicas[a]
		default:
			either = append(either, s)
		}
		if onB > 0 && shares[a][s] == 0 {
			busyB += onB / r.replicas[b]
		}
	}
	slices.SortStableFunc(either, func(s, t int) int {
		return cmp.Compare(r.loads[a][s]*r.loads[b][t], r.loads[a][t]*r.loads[b][s])
	})
	for _, s := range either {
		onA, onB := r.loads[a][s]/r.replicas[a], r.loads[b][s]/r.replicas[b]
		share := min(1, max(0, (busyB-busyA)/(onA+onB)))
		shares[a][s], shares[b][s] = share, 1-share
		busyA += share * onA
		busyB -= share * onB
	}
	return shares, max(busyA, busyB) <= 1+tolerance
}

// serveMostOne is serveMost where no variant but v has replicas: it takes the shapes first of which it
// serves most.
func (r *routeProgram) serveMostOne(v int, replicas float64) (unmet float64, shares [][]float64) {
	shares = r.shares(nil)
	var order []int
	for s, load := range r.loads[v] {
		if load > 0 {
			order = append(order, s)
		}
	}
	slices.SortStableFunc(order, func(s, t int) int {
		return cmp.Compare(r.loads[v][s]*r.rates[t], r.loads[v][t]*r.rates[s])
	})
	left := slices.Clone(r.rates)
	for _, s := range order {
		share := min(1, replicas/r.loads[v][s])
		replicas = max(0, replicas-r.loads[v][s])
		shares[v][s], left[s] = share, r.rates[s]*(1-share)
	}
	return sum(left), shares
}
