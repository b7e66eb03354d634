package planner

import (
	"math"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// shapes are those of the workload, or the one that all requests have.
func (w *Workload) shapes() []ShapeShare {
	if len(w.Shapes) == 0 {
		return []ShapeShare{{Share: 1, Shape: w.Shape}}
	}
	return w.Shapes
}

// MixShapes is the shape of requests of several shapes in given amounts together: the
// mean, the variance and the correlation of their lengths. Everything else is that of
// the first. The amounts must not all be 0.
func MixShapes(shapes []queueing.Shape, amounts []float64) queueing.Shape {
	var in, out moments
	product := 0.0 // the sum of amount · E[input · output]
	for s := range shapes {
		x, amount := &shapes[s], amounts[s]
		in.add(amount, float64(x.InputTokens), x.InputSCV)
		out.add(amount, float64(x.OutputTokens), x.OutputSCV)
		product += amount * float64(x.InputTokens) * float64(x.OutputTokens) * (1 + x.LengthCorrelation*math.Sqrt(x.InputSCV*x.OutputSCV))
	}
	mixed := shapes[0]
	mixed.InputTokens, mixed.InputSCV = in.meanAndSCV()
	mixed.OutputTokens, mixed.OutputSCV = out.meanAndSCV()
	if deviations := math.Sqrt(mixed.InputSCV * mixed.OutputSCV); deviations > leastDeviations {
		mixed.LengthCorrelation = min(max((product*in.amount/(in.first*out.first)-1)/deviations, -1), 1)
	}
	return mixed
}

// leastDeviations is the product of relative standard deviations above which a correlation is more than a rounding error.
const leastDeviations = 1e-9

// moments sums up a mix of lengths.
type moments struct{ amount, first, second float64 }

func (m *moments) add(amount, mean, scv float64) {
	m.amount += amount
	m.first += amount * mean
	m.second += amount * mean * mean * (1 + scv)
}

func (m *moments) meanAndSCV() (queueing.Tokens, float64) {
	if m.first == 0 {
		return 0, 0
	}
	return queueing.Tokens(m.first / m.amount), max(0, m.second*m.amount/(m.first*m.first)-1)
}

// combine sums up the sizes of a variant by shape. What binds is what binds the shape
// that takes most of a replica's time.
func (w *Workload) combine(sizes []Size) Size {
	if len(w.Shapes) == 0 {
		return sizes[0]
	}
	all := Size{Shapes: sizes}
	var served, capacity, saturation rateMix
	busiest := -1.0
	for s := range sizes {
		share, size := w.Shapes[s].Share, &sizes[s]
		if size.Served == 0 {
			continue
		}
		served.add(share, size.Served)
		capacity.add(share, size.Capacity)
		saturation.add(share, size.Saturation)
		if time := share / float64(size.Served); time > busiest {
			busiest, all.Binding = time, size.Binding
		}
	}
	all.Served, all.Capacity, all.Saturation = served.rate(), capacity.rate(), saturation.rate()
	if busiest < 0 {
		all.Binding, all.Reason = sizes[0].Binding, sizes[0].Reason
	}
	return all
}

// rateMix is the rate of a mix of requests each of which takes 1/rate of a replica.
type rateMix struct{ share, time float64 }

func (m *rateMix) add(share float64, rate queueing.Rate) {
	if rate > 0 {
		m.share += share
		m.time += share / float64(rate)
	}
}

func (m *rateMix) rate() queueing.Rate {
	if m.time == 0 {
		return 0
	}
	return queueing.Rate(m.share / m.time)
}

// addTraffic writes the shapes and phases of a workload and its variants into the
// program.
func (w *Workload) addTraffic(to *optimizer.Workload, sizes []Size) {
	for _, s := range w.Shapes {
		to.Shapes = append(to.Shapes, optimizer.Shape{Share: s.Share})
	}
	for j := range w.Variants {
		to.Variants[j].Phase = w.Variants[j].Role
		if len(w.Shapes) == 0 {
			continue
		}
		capacities := make([]float64, len(w.Shapes))
		for s := range sizes[j].Shapes {
			capacities[s] = float64(sizes[j].Shapes[s].Served)
		}
		to.Variants[j].ShapeCapacities = capacities
	}
}

// route gives each variant the traffic that the routing of the plan says. shares are
// those of optimizer.Allocation; where they serve nothing traffic follows capacity.
func (p *WorkloadPlan) route(w *Workload, shares [][]float64) {
	served := w.servedShare(shares)
	if served == 0 {
		shares = p.followCapacity(w)
		served = w.servedShare(shares)
	}
	for j := range p.Variants {
		if served > 0 {
			for s, shape := range w.shapes() {
				p.Variants[j].Share += shape.Share * shares[j][s] / served
			}
		}
		if len(w.Shapes) > 0 {
			p.Variants[j].ShapeShares = shares[j]
		}
	}
}

// servedShare is the share of all traffic that shares by variant and shape serve.
func (w *Workload) servedShare(shares [][]float64) float64 {
	served := 0.0
	for s, shape := range w.shapes() {
		for j := range shares {
			if w.Variants[j].Role != optimizer.Decode {
				served += shape.Share * shares[j][s]
			}
		}
	}
	return served
}

// followCapacity shares each shape out among the variants in proportion to what their
// replicas serve of it within the SLO or, where none does, to their saturation rates.
func (p *WorkloadPlan) followCapacity(w *Workload) [][]float64 {
	shares := make([][]float64, len(p.Variants))
	for s := range w.shapes() {
		of := p.sharesBy(w, func(v *VariantPlan) queueing.Rate { return v.Size.ofShape(s).Served })
		if of == nil {
			of = p.sharesBy(w, func(v *VariantPlan) queueing.Rate { return v.Size.ofShape(s).Saturation })
		}
		for j := range shares {
			shares[j] = append(shares[j], 0)
			if of != nil {
				shares[j][s] = of[j]
			}
		}
	}
	return shares
}

// sharesBy shares requests out in proportion to a rate of one replica: among the
// variants that serve them whole and, with the lower rate of the two phases, the pairs.
// It is nil where nothing serves them.
func (p *WorkloadPlan) sharesBy(w *Workload, rate func(*VariantPlan) queueing.Rate) []float64 {
	shares, phases := make([]float64, len(p.Variants)), map[optimizer.Phase]float64{}
	for j := range p.Variants {
		v := &p.Variants[j]
		shares[j] = float64(rate(v)) * float64(v.Total())
		phases[w.Variants[j].Role] += shares[j]
	}
	pairs := min(phases[optimizer.Prefill], phases[optimizer.Decode])
	total := phases[optimizer.Whole] + pairs
	if total == 0 {
		return nil
	}
	for j := range shares {
		if role := w.Variants[j].Role; role != optimizer.Whole && phases[role] > 0 {
			shares[j] *= pairs / phases[role]
		}
		shares[j] /= total
	}
	return shares
}

// ofShape is the size for requests of one shape.
func (s *Size) ofShape(shape int) *Size {
	if len(s.Shapes) == 0 {
		return s
	}
	return &s.Shapes[shape]
}

// routed is the shape of all requests of which a variant gets given shares by shape.
func (w *Workload) routed(shares []float64) queueing.Shape {
	if len(w.Shapes) == 0 {
		return w.Shape
	}
	shapes, amounts := make([]queueing.Shape, len(w.Shapes)), make([]float64, len(w.Shapes))
	for s := range w.Shapes {
		shapes[s], amounts[s] = w.Shapes[s].Shape, w.Shapes[s].Share*shares[s]
	}
	return MixShapes(shapes, amounts)
}

// station is a replica of a variant under the requests that it gets; nil without a
// profile.
func (c *cycle) station(i, j int, v *VariantPlan) *queueing.Station {
	if made := c.stations[i]; j < len(made) && made[j] != nil {
		return made[j]
	}
	w := &c.fleet.Workloads[i]
	if w.Variants[j].Replica == nil {
		return nil
	}
	station, err := queueing.NewStation(*w.Variants[j].Replica, w.routed(v.ShapeShares))
	if err != nil {
		return nil
	}
	return station
}
