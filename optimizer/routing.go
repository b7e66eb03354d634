package optimizer

import (
	"math"
	"slices"
)

// routing is the demand of a workload whose requests differ in shape or pass
// through phases. How much of it given replicas leave unmet is a linear program:
// the traffic λ_s of shape s takes paths, each one variant or a pair of a prefill and
// a decode variant, and uses λ_s/c_sv replicas of the variants on it. By duality
//
//	u(x) = max over μ ≥ 0 of  Σ_s λ_s·min(1, cheapest path of s at μ) − Σ_v μ_v·x_v
//
// where a path costs the sum of μ_v/c_sv of its variants. So each μ is a covering
// row Σ μ·x + u ≥ need that holds for any replicas at any prices (J. F. Benders,
// Partitioning procedures for solving mixed-variables programming problems, 1962).
// The rows found are kept for all prices and nodes.
//
// The maximum is found by cutting planes (J. E. Kelley, The cutting-plane method for
// solving convex programs, 1960): all shapes on their cheapest paths at one μ bound
// the value at every other, so that the program has only one variable per variant.
type routing struct {
	demand float64
	// waived is the part of it, in requests/s, that need not be served.
	waived float64
	// rates are requests/s by shape.
	rates []float64
	// loads[v][s] are the replicas of a variant that all traffic of a shape takes,
	// +Inf where it can't serve the shape.
	loads  [][]float64
	phases []Phase
	// full are the replicas of a variant that serve all traffic it can serve, and
	// dearest is a weight, relative to the demand, at which it serves none.
	full, dearest []float64

	// planes are the cutting planes found so far, and dual the program of the next μ.
	planes []plane
	dual   covering
	// rows are the covering rows that a search has met.
	rows []coveringRow
	// row is that of the last answer of unmet, worst that of unmetAfter.
	row, worst    coveringRow
	weights, load []float64 // scratch
}

// plane bounds the value at μ: what it leaves unserved and μ times its loads, all
// relative to the demand and to full.
type plane struct {
	loads    []float64
	unserved float64
}

// coveringRow is Σ weights·x + unmet ≥ need, in requests/s.
type coveringRow struct {
	weights []float64
	need    float64
}

func (r coveringRow) clone() coveringRow {
	return coveringRow{weights: slices.Clone(r.weights), need: r.need}
}

// endless is a number of replicas of which no plan has a share that matters.
const endless = float64(unlimited) / (tolerance / 100)

// newRouting returns nil for a workload whose requests are all alike.
func newRouting(w *Workload) *routing {
	if len(w.Variants) == 0 || !w.routed() {
		return nil
	}
	r := &routing{demand: w.Demand, waived: w.waived, rates: w.shapeRates()}
	for j := range w.Variants {
		v := &w.Variants[j]
		loads, full, fastest := make([]float64, len(r.rates)), 0.0, 0.0
		for s, rate := range r.rates {
			loads[s] = math.Inf(1)
			if c := w.shapeCapacity(v, s); c > 0 && rate/c < endless {
				loads[s] = rate / c
				full += loads[s]
				fastest = max(fastest, c)
			}
		}
		r.dearest = append(r.dearest, fastest*full/w.Demand)
		r.loads, r.full, r.phases = append(r.loads, loads), append(r.full, full), append(r.phases, v.Phase)
	}
	r.row.weights, r.worst.weights = make([]float64, len(r.full)), make([]float64, len(r.full))
	r.weights, r.load = make([]float64, len(r.full)), make([]float64, len(r.full))
	return r
}

// shapeRates are the requests/s of each shape; of one where all are alike.
func (w *Workload) shapeRates() []float64 {
	if len(w.Shapes) == 0 {
		return []float64{w.Demand}
	}
	rates, total := make([]float64, len(w.Shapes)), w.totalShare()
	for s := range w.Shapes {
		rates[s] = w.Demand * (w.Shapes[s].Share / total)
	}
	return rates
}

// totalShare is 1 but for rounding.
func (w *Workload) totalShare() float64 {
	shares := make([]float64, len(w.Shapes))
	for s := range shares {
		shares[s] = w.Shapes[s].Share
	}
	return sum(shares)
}

// MixCapacity is what one replica of variant j sustains of the demand, in requests/s:
// its Capacity, or where the workload has shapes that of their mix. Shapes that the
// variant can't serve count as if they took no time, so that demand/MixCapacity
// replicas serve all that it can.
func (w *Workload) MixCapacity(j int) float64 {
	v := &w.Variants[j]
	if len(w.Shapes) == 0 {
		return v.Capacity
	}
	time := 0.0
	for s, shape := range w.Shapes {
		if c := v.ShapeCapacities[s]; c > 0 && shape.Share > 0 {
			time += shape.Share / c
		}
	}
	if time == 0 {
		return 0
	}
	return w.totalShare() / time
}

// waive frees requests/s of the demand from being served.
func (w *Workload) waive(unmet float64) {
	if w.routed() {
		w.waived += unmet
	} else {
		w.Demand = max(0, w.Demand-unmet)
	}
}

// servable is the share of requests whose shape variant j can serve.
func (w *Workload) servable(j int) float64 {
	if len(w.Shapes) == 0 {
		return 1
	}
	var share exactSum
	for s, shape := range w.Shapes {
		if w.Variants[j].ShapeCapacities[s] > 0 {
			share.add(shape.Share)
		}
	}
	return share.total()
}

// shapeCapacity is what a replica sustains of shape s alone.
func (w *Workload) shapeCapacity(v *Variant, s int) float64 {
	if len(w.Shapes) == 0 {
		return v.Capacity
	}
	return v.ShapeCapacities[s]
}

// exact is the accuracy of unmet demand, relative to the demand.
const exact = 1e-12

// mostPlanes is the number of planes at which the older half is dropped.
const mostPlanes = 120

// unmet is the least demand that x replicas by variant leave unmet beyond what is
// waived, in requests/s; row then proves it. x need not be whole.
func (r *routing) unmet(x []float64) float64 {
	r.prepare(x)
	best := r.waived
	clear(r.row.weights)
	r.row.need = 0
	for {
		value, _ := r.dual.solve(math.Inf(1))
		for v := range x {
			r.weights[v] = 0
			if y := r.dual.y[v]; y > exact/10 {
				r.weights[v] = y * r.demand / r.full[v]
			}
		}
		need, unserved := r.cover(r.weights)
		left := need
		for v := range x {
			left -= r.weights[v] * x[v]
		}
		if left > best {
			best, r.row.need = left, need-r.waived
			copy(r.row.weights, r.weights)
		}
		if -value-left/r.demand <= exact || !r.add(unserved) {
			return best - r.waived
		}
	}
}

// unmetAfter is unmet when those of the replicas fail, up to a number, whose failure
// matters the most; worst then proves it.
func (r *routing) unmetAfter(counts []int32, failing int32) float64 {
	most := -1.0
	failures(counts, int(failing), func(left []float64) {
		if unmet := r.unmet(left); unmet > most {
			most, r.worst.need = unmet, r.row.need
			copy(r.worst.weights, r.row.weights)
		}
	})
	return most
}

// mostRows is the number of covering rows at which the older half is dropped.
const mostRows = 100

// forget drops old rows where there are too many to look through.
func (r *routing) forget() {
	if len(r.rows) > mostRows {
		r.rows = slices.Clone(r.rows[len(r.rows)/2:])
	}
}

// prepare writes the program of μ, relative to the demand and to full: its variables
// are those of the variants and the value that the planes bound.
func (r *routing) prepare(x []float64) {
	d, n := &r.dual, len(x)
	d.reset(n+1, exact/10)
	for v := range x {
		d.cost[v], d.lower[v], d.upper[v] = 0, 0, 0
		if r.full[v] > 0 {
			// More replicas than twice all that the variant can serve change nothing.
			d.cost[v], d.upper[v] = min(x[v]/r.full[v], 2), r.dearest[v]
		}
	}
	d.cost[n], d.lower[n], d.upper[n] = -1, 0, 1
	if len(r.planes) > mostPlanes {
		r.planes = slices.Clone(r.planes[len(r.planes)/2:])
	}
	for _, p := range r.planes {
		d.addRow(p.loads, -p.unserved)
	}
	d.start()
}

// cover is what must be covered at given weights. load has the replicas that the
// cheapest paths take.
func (r *routing) cover(weights []float64) (need, unserved float64) {
	clear(r.load)
	r.dual.work += len(r.rates) * len(weights)
	for s, rate := range r.rates {
		least, prefill, decode := rate, math.Inf(1), math.Inf(1)
		path, first, second := none, none, none
		for v := range weights {
			load := r.loads[v][s]
			if math.IsInf(load, 1) {
				continue
			}
			cost := weights[v] * load
			switch {
			case r.phases[v] == Whole && cost < least:
				least, path = cost, int32(v)
			case r.phases[v] == Prefill && cost < prefill:
				prefill, first = cost, int32(v)
			case r.phases[v] == Decode && cost < decode:
				decode, second = cost, int32(v)
			}
		}
		switch {
		case prefill+decode < least:
			least = prefill + decode
			r.load[first] += r.loads[first][s]
			r.load[second] += r.loads[second][s]
		case path != none:
			r.load[path] += r.loads[path][s]
		default:
			unserved += rate
		}
		need += least
	}
	return need, unserved
}

// add adds the plane of load and returns false if it is there already.
func (r *routing) add(unserved float64) bool {
	loads := make([]float64, len(r.load)+1)
	for v, load := range r.load {
		if load > 0 {
			loads[v] = load / r.full[v]
		}
	}
	loads[len(r.load)] = -1
	p := plane{loads: loads, unserved: unserved / r.demand}
	for k := range r.planes {
		if r.planes[k].unserved == p.unserved && slices.Equal(r.planes[k].loads, p.loads) {
			return false
		}
	}
	r.planes = append(r.planes, p)
	r.dual.addRow(p.loads, -p.unserved)
	return true
}
