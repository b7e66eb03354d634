package optimizer

import (
	"math"
	"slices"
	"sort"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// Cover tells how many replicas serve the demand of a workload. It remembers what it
// worked out, so that many questions about one workload take little longer than one.
// The workload must be part of a valid problem and must not change meanwhile.
type Cover struct {
	workload *Workload
	// route and the rest are nil where traffic is not routed.
	route  *routeProgram
	solver lp.Solver
}

// NewCover returns the cover of a workload.
func NewCover(w *Workload) *Cover {
	c := &Cover{workload: w}
	if w.Demand > 0 && w.routed() {
		c.route = newRouteProgram(w, make([]int, len(w.Variants)))
		// Without a solver no number of replicas is found to serve.
		c.solver, _ = lp.Simplex().New(c.route.covering())
	}
	return c
}

// Needed is the least number of further replicas of variant j that serve all demand
// beside counts, the replicas of each variant, as [Workload.Unmet] counts it. ok is
// false where no number up to 2^24 does.
func (c *Cover) Needed(counts []int, j int) (n int, ok bool) {
	if c.route != nil {
		return c.neededRouted(counts, j)
	}
	all := slices.Clone(counts)
	n = sort.Search(maxReplicas+1, func(n int) bool {
		all[j] = counts[j] + n
		return c.workload.Unmet(all) == 0
	})
	return n, n <= maxReplicas
}

// neededRouted is Needed for traffic that is routed. Of the redundant replicas some
// fail among the others, at a corner of what may fail there, and the rest fail of
// variant j. Where the linear programs are too near to a whole number to tell, Unmet
// decides.
func (c *Cover) neededRouted(counts []int, j int) (int, bool) {
	v := slices.Index(c.route.variants, j)
	others := make([]int32, len(counts))
	for i, from := range c.route.variants {
		others[i] = int32(counts[from])
	}
	others[v] = 0
	low, high := 0.0, 0.0
	for failing := range c.workload.Redundancy + 1 {
		failures(others, failing, func(left []float64) {
			x, failed := c.amount(left, v), float64(c.workload.Redundancy-failing)
			if near := uncertainty(x); x > near {
				low = max(low, math.Ceil(x-near)+failed)
			}
			if x > 0 {
				high = max(high, math.Ceil(x+uncertainty(x))+failed)
			}
		})
	}
	if high > maxReplicas {
		return maxReplicas, false
	}
	all := slices.Clone(counts)
	for n := max(0, int(low)-counts[j]); ; n++ {
		all[j] = counts[j] + n
		if all[j] >= int(high) || c.workload.Unmet(all) == 0 {
			return n, true
		}
	}
}

// uncertainty is the accuracy of a number of replicas that a linear program finds.
func uncertainty(x float64) float64 { return 1e-7 + 2*tolerance*x }

// amount is the least of variant v with which what there is of the others serves all;
// +Inf where nothing does.
func (c *Cover) amount(others []float64, v int) float64 {
	if slices.Max(others) == 0 {
		return c.route.alone(v)
	}
	if c.solver == nil {
		return math.Inf(1)
	}
	r := c.route
	shares := len(r.replicas) * len(r.rates)
	for i, n := range others {
		upper := 0.0
		if i == v {
			n, upper = 0, math.Inf(1)
		}
		c.solver.SetRow(2*len(r.rates)+i, math.Inf(-1), n)
		c.solver.SetBounds(shares+i, 0, upper)
	}
	s := c.solver.Solve(0)
	if s.Status != lp.Optimal {
		return math.Inf(1)
	}
	return s.X[shares+v]
}

// covering is the program of the least further replicas that serve all: after the
// columns of the shares it has one of each variant.
func (r *routeProgram) covering() *lp.Problem {
	some := slices.Repeat([]float64{maxReplicas}, len(r.replicas)) // opens the columns of the shares
	p := r.linear(some)
	for s, rate := range r.rates {
		if rate == 0 {
			p.RowLower[s] = 0
		}
	}
	for v := range r.replicas {
		p.Columns = append(p.Columns, lp.Column{
			Cost: 1, Upper: math.Inf(1), Rows: []int32{int32(2*len(r.rates) + v)}, Values: []float64{-1},
		})
	}
	return p
}

// alone is the amount of variant v that serves all by itself; +Inf where it can't.
func (r *routeProgram) alone(v int) float64 {
	if r.phases[v] != Whole {
		return math.Inf(1)
	}
	for s, load := range r.loads[v] {
		if load == 0 && r.rates[s] > 0 {
			return math.Inf(1)
		}
	}
	return sum(r.loads[v])
}
