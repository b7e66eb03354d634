package optimizer

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// routed says whether the traffic of a workload is routed by shape or phase.
func (w *Workload) routed() bool {
	for j := range w.Variants {
		if w.Variants[j].Phase != Whole {
			return true
		}
	}
	return len(w.Shapes) > 0
}

// route is what given replicas of a workload with shapes or phases leave unserved, in
// requests/s, when its redundant replicas fail, and the shares by variant and shape in
// which traffic is best routed while none fails: those of the least utilization of the
// busiest variant where all is served, and otherwise those that serve most.
//
// It solves the routing as it is defined, as a program in the shares; the search for a
// plan goes by its dual. What the engine finds no routing for counts as unserved.
func (w *Workload) route(counts []int) (unmet float64, shares [][]float64) {
	r := newRouteProgram(w, counts)
	if slices.Max(r.replicas) == 0 {
		return w.Demand, r.restore(r.shares(nil))
	}
	shares, served := r.balance()
	if !served {
		unmet, shares = r.serveMost(r.replicas)
	}
	if w.Redundancy > 0 {
		running := make([]int32, len(r.replicas))
		for v, n := range r.replicas {
			running[v] = int32(n)
		}
		failures(running, w.Redundancy, func(left []float64) {
			after, _ := r.serveMost(left)
			unmet = max(unmet, after)
		})
	}
	return unmet, r.restore(shares)
}

// routeProgram is a workload in an order that depends on its content alone, so that
// equal problems in any order have equal answers to the last bit.
type routeProgram struct {
	workload         *Workload
	variants, shapes []int
	replicas         []float64
	rates            []float64
	// loads[v][s] are the replicas of a variant that all traffic of a shape takes; 0
	// where it can't serve the shape.
	loads  [][]float64
	phases []Phase
	paired bool
}

func newRouteProgram(w *Workload, counts []int) *routeProgram {
	r := &routeProgram{workload: w}
	colours := make([]uint64, len(w.Variants))
	w.variantColours(colours, func(j int) uint64 { return uint64(counts[j]) })
	r.variants = orderBy(colours, func(j int) string { return w.Variants[j].Name })
	r.shapes = w.shapeOrder(r.variants)
	rates := w.shapeRates()
	for _, s := range r.shapes {
		r.rates = append(r.rates, rates[s])
	}
	for _, j := range r.variants {
		v := &w.Variants[j]
		loads := make([]float64, len(r.shapes))
		for k, s := range r.shapes {
			if c := w.shapeCapacity(v, s); c > 0 && rates[s]/c < endless {
				loads[k] = rates[s] / c
			}
		}
		r.loads = append(r.loads, loads)
		r.replicas = append(r.replicas, float64(counts[j]))
		r.phases = append(r.phases, v.Phase)
		r.paired = r.paired || v.Phase != Whole
	}
	return r
}

// restore maps shares back to the order of the workload.
func (r *routeProgram) restore(shares [][]float64) [][]float64 {
	out := make([][]float64, len(r.variants))
	for v, j := range r.variants {
		out[j] = make([]float64, len(r.shapes))
		for k, s := range r.shapes {
			out[j][s] = shares[v][k]
		}
	}
	return out
}

// grain is the share of the traffic of a shape that one replica of a variant serves at
// most; 0 where it can't serve the shape.
func (r *routeProgram) grain(v, s int) float64 {
	if load := r.loads[v][s]; load > 0 {
		return min(1, 1/load)
	}
	return 0
}

// linear is the program without its objective: a row per shape, one more that pairs
// its phases, and one per variant; a column per variant and shape, in that order. The
// columns are in grains, so that the largest load of a variant does not hide the others.
// What all replicas can't serve more than a trace of is left out.
func (r *routeProgram) linear(replicas []float64) *lp.Problem {
	p := &lp.Problem{}
	addRows := func(n int, lower, upper float64) {
		for range n {
			p.RowLower, p.RowUpper = append(p.RowLower, lower), append(p.RowUpper, upper)
		}
	}
	addRows(len(r.rates), 1, 1)
	addRows(len(r.rates), 0, 0)
	shapes := int32(len(r.rates))
	for v, n := range replicas {
		addRows(1, math.Inf(-1), n)
		for s, load := range r.loads[v] {
			c, grain := lp.Column{}, r.grain(v, s)
			if grain > 0 && n > exact*load {
				c.Upper = 1 / grain
			}
			if r.phases[v] != Decode {
				c.Rows, c.Values = append(c.Rows, int32(s)), append(c.Values, grain)
			}
			switch r.phases[v] {
			case Prefill:
				c.Rows, c.Values = append(c.Rows, shapes+int32(s)), append(c.Values, grain)
			case Decode:
				c.Rows, c.Values = append(c.Rows, shapes+int32(s)), append(c.Values, -grain)
			}
			c.Rows, c.Values = append(c.Rows, 2*shapes+int32(v)), append(c.Values, min(1, load))
			p.Columns = append(p.Columns, c)
		}
	}
	return p
}

// solve returns nil where there is no routing.
func (r *routeProgram) solve(p *lp.Problem) []float64 {
	solver, err := lp.Simplex().New(p)
	if err != nil {
		return nil
	}
	defer solver.Close()
	s := solver.Solve(0)
	if s.Status != lp.Optimal {
		return nil
	}
	return s.X
}

// balance serves everything at the least utilization of the busiest variant. served is
// false if that is above 1.
func (r *routeProgram) balance() (shares [][]float64, served bool) {
	if few := running(r.replicas); !r.paired && len(few) == 1 {
		return r.balanceOne(few[0])
	} else if !r.paired && len(few) == 2 {
		return r.balanceTwo(few[0], few[1])
	}
	p := r.linear(r.replicas)
	shapes := len(r.rates)
	utilization := lp.Column{Cost: 1, Upper: 1 + tolerance}
	for v, n := range r.replicas {
		p.RowUpper[2*shapes+v] = 0
		if n > 0 {
			utilization.Rows = append(utilization.Rows, int32(2*shapes+v))
			utilization.Values = append(utilization.Values, -n)
		}
	}
	p.Columns = append(p.Columns, utilization)
	x := r.solve(p)
	return r.shares(x), x != nil
}

// serveMost leaves the least unserved.
func (r *routeProgram) serveMost(replicas []float64) (unmet float64, shares [][]float64) {
	if few := running(replicas); !r.paired && len(few) == 1 {
		return r.serveMostOne(few[0], replicas[few[0]])
	}
	p := r.linear(replicas)
	first := len(p.Columns)
	for s, rate := range r.rates {
		p.Columns = append(p.Columns, lp.Column{Cost: rate / r.workload.Demand, Upper: 1, Rows: []int32{int32(s)}, Values: []float64{1}})
	}
	x := r.solve(p)
	if x == nil {
		return r.workload.Demand, r.shares(nil)
	}
	var left []float64
	for k, rate := range r.rates {
		left = append(left, rate*min(1, max(0, x[first+k])))
	}
	return sum(left), r.shares(x)
}

// shares are the values of the columns by variant and shape; 0 without a routing.
func (r *routeProgram) shares(x []float64) [][]float64 {
	shares := make([][]float64, len(r.variants))
	for v := range shares {
		shares[v] = make([]float64, len(r.rates))
		for s := range shares[v] {
			if x != nil {
				shares[v][s] = min(1, max(0, x[v*len(r.rates)+s]*r.grain(v, s)))
			}
		}
	}
	return shares
}

// variantColours fills in hashes of the variants by what their traffic depends on, without
// regard to the order of variants and shapes: those of a shape by its capacities, and
// of a variant by its shapes in turn. extra is the part that is not about shapes.
func (w *Workload) variantColours(colours []uint64, extra func(j int) uint64) {
	for j := range w.Variants {
		colours[j] = hashOf(15, uint64(w.Variants[j].Phase), math.Float64bits(w.Variants[j].Capacity), extra(j))
	}
	if len(w.Shapes) == 0 {
		return
	}
	next := make([]uint64, len(colours))
	for range 3 {
		copy(next, colours)
		for s := range w.Shapes {
			shape := hashOf(16, math.Float64bits(w.Shapes[s].Share))
			for j := range w.Variants {
				shape += hashOf(17, colours[j], math.Float64bits(w.Variants[j].ShapeCapacities[s]))
			}
			for j := range w.Variants {
				next[j] += hashOf(18, shape, math.Float64bits(w.Variants[j].ShapeCapacities[s]))
			}
		}
		copy(colours, next)
	}
}

// shapeOrder sorts the shapes by share and by their capacities on the variants in the
// given order; of those that are left all are alike. It has one shape where the
// workload has none.
func (w *Workload) shapeOrder(variants []int) []int {
	order := make([]int, max(1, len(w.Shapes)))
	for s := range order {
		order[s] = s
	}
	if len(w.Shapes) == 0 {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if d := sign(w.Shapes[a].Share - w.Shapes[b].Share); d != 0 {
			return d
		}
		for _, j := range variants {
			c := w.Variants[j].ShapeCapacities
			if d := sign(c[a] - c[b]); d != 0 {
				return d
			}
		}
		return 0
	})
	return order
}
