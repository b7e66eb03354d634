package planner

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/poolwright/poolwright/internal/parallel"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// Size is what one replica of a variant sustains.
type Size struct {
	// Capacity is the highest arrival rate within the SLO; 0 when Reason says why
	// there is none.
	Capacity queueing.Rate
	// Served is what a replica completes at that rate: less than Capacity where
	// arrivals find no place. Plans count with it, since blocked requests are not
	// served.
	Served queueing.Rate
	// Saturation is 0 where capacity was declared.
	Saturation queueing.Rate
	// Binding is the limit that binds, saturation, or capacityRps where declared.
	Binding string
	// Reason why nothing can be sustained, in words.
	Reason string
	// Shapes are the sizes for requests of each shape alone, where the workload has
	// shapes. Rates are then those of the shapes that the variant serves, in their mix.
	Shapes []Size
}

// sizeKey holds all that a size depends on.
type sizeKey struct {
	replica queueing.Replica
	shape   queueing.Shape
	slo     string
	// phase is not Whole for one half of a pair with partner.
	phase    optimizer.Phase
	partner  queueing.Replica
	transfer queueing.Transfer
}

// sizer sizes variants, equal ones once.
type sizer struct {
	index   map[sizeKey]int // into sizings
	sizings []sizing
}

// sizing is the size of all variants with one key.
type sizing struct {
	key  sizeKey
	slo  queueing.SLO
	size Size
	// station is nil for one half of a pair.
	station *queueing.Station
	// err is that of a profile or shape out of its range.
	err error
}

// newSizer has room for so many sizings.
func newSizer(n int) *sizer {
	return &sizer{index: make(map[sizeKey]int, n), sizings: make([]sizing, 0, n)}
}

// add notes the variants of a workload as ones to size, and returns the indices of
// their sizings: by variant, one for each shape on each possible partner.
func (s *sizer) add(w *Workload) [][]int {
	slo := exactly(w.SLO)
	indices := make([][]int, len(w.Variants))
	for j := range w.Variants {
		if w.Variants[j].Replica == nil {
			continue
		}
		for _, shape := range w.shapes() {
			for _, key := range w.sizeKeys(j) {
				key.shape, key.slo = shape.Shape, slo
				indices[j] = append(indices[j], s.note(key, w.SLO))
			}
		}
	}
	return indices
}

// exactly writes all of an SLO: the names of limits are without their values.
func exactly(slo queueing.SLO) string {
	var text []byte
	for _, l := range slo.Limits {
		text = fmt.Appendf(text, "%d %v %v ", l.Metric, l.Quantile, l.Value)
	}
	return string(text)
}

// sizeKeys are those of variant j, without shape and SLO: one for each partner with
// which it may serve the phases of a request.
func (w *Workload) sizeKeys(j int) []sizeKey {
	v := &w.Variants[j]
	if v.Role == optimizer.Whole {
		return []sizeKey{{replica: *v.Replica}}
	}
	var keys []sizeKey
	for k := range w.Variants {
		partner := &w.Variants[k]
		if partner.Role == optimizer.Whole || partner.Role == v.Role || partner.Replica == nil {
			continue
		}
		transfer := v.Transfer
		if v.Role == optimizer.Decode {
			transfer = partner.Transfer
		}
		keys = append(keys, sizeKey{replica: *v.Replica, phase: v.Role, partner: *partner.Replica, transfer: transfer})
	}
	return keys
}

// note returns the index of the sizing with a key.
func (s *sizer) note(key sizeKey, slo queueing.SLO) int {
	i, ok := s.index[key]
	if !ok {
		i = len(s.sizings)
		s.index[key] = i
		s.sizings = append(s.sizings, sizing{key: key, slo: slo})
	}
	return i
}

// sizingBlock is how many sizings go to a processor at a time.
const sizingBlock = 2

// run sizes what was noted; false where that was given up as it was not wanted.
func (s *sizer) run(unwanted func() bool) bool {
	var ended atomic.Bool
	parallel.Blocks(len(s.sizings), sizingBlock, func(_, from, to int) {
		if ended.Load() || unwanted() {
			ended.Store(true)
			return
		}
		for i := from; i < to; i++ {
			z := &s.sizings[i]
			z.size, z.err = z.compute()
		}
	})
	return !ended.Load()
}

// size returns the size of variant j, whose sizings have indices. The error is that of
// a profile or shape out of its range.
func (s *sizer) size(w *Workload, j int, indices []int) (Size, error) {
	v := &w.Variants[j]
	shapes := w.shapes()
	if v.unknown() {
		return w.combine(slices.Repeat([]Size{{Binding: "profile", Reason: "it has no profile"}}, len(shapes))), nil
	}
	if v.Replica == nil {
		declared := Size{Capacity: v.Capacity, Served: v.Capacity, Binding: "capacityRps"}
		return w.combine(slices.Repeat([]Size{declared}, len(shapes))), nil
	}
	if len(indices) == 0 {
		return Size{Binding: "role", Reason: "no variant with a profile serves the other phase"}, nil
	}
	sizes := make([]Size, len(shapes))
	partners := len(indices) / len(shapes)
	for k, i := range indices {
		z := &s.sizings[i]
		if z.err != nil {
			return Size{}, z.err
		}
		// Whatever the partner, so much is sustained.
		if at := &sizes[k/partners]; k%partners == 0 || z.size.Served < at.Served {
			*at = z.size
		}
	}
	return w.combine(sizes), nil
}

// station is that of a variant without shapes and phases whose sizings have indices; else
// it is nil.
func (s *sizer) station(w *Workload, indices []int) *queueing.Station {
	if len(w.Shapes) > 0 || len(indices) != 1 {
		return nil
	}
	return s.sizings[indices[0]].station
}

// A request that finds no waiting place gets no first token at all, so a replica
// with a limited queue must keep the share of such requests below mostBlocked: as
// the SLO that this share gets its first token before endless. Models of other
// systems don't know that.
const (
	mostBlocked = 0.01
	endless     = 1e9
)

// blocking is the limit on the share of requests that find no place.
func blocking() queueing.Limit {
	return queueing.Limit{Metric: queueing.TTFT, Quantile: 1 - mostBlocked, Value: endless}
}

// accepting adds blocking where places are limited.
func accepting(slo queueing.SLO, limited bool) queueing.SLO {
	if limited {
		slo.Limits = append(slo.Limits[:len(slo.Limits):len(slo.Limits)], blocking())
	}
	return slo
}

func (z *sizing) compute() (Size, error) {
	r := &z.key.replica
	if z.key.phase != optimizer.Whole {
		return z.computePhase()
	}
	station, err := queueing.NewStation(*r, z.key.shape)
	if err != nil {
		return Size{}, err
	}
	slo := accepting(z.slo, r.Model == queueing.ContinuousBatching && r.MaxQueue.Limited)
	c, err := station.Capacity(slo)
	if err != nil {
		return Size{}, err
	}
	z.station = station
	if c.Unservable != "" {
		return Size{Binding: "kvCacheTokens", Reason: c.Unservable}, nil
	}
	size := Size{Capacity: c.Rate, Served: c.Served, Saturation: c.SaturationRate, Binding: "saturation"}
	if c.Bound {
		size.bind(c.Binding)
	}
	if !c.Feasible {
		size.refuse(c.Binding, c.Best)
	}
	return size, nil
}

func (s *Size) bind(l queueing.Limit) {
	s.Binding = l.String()
	if l == blocking() {
		s.Binding = "maxQueue"
	}
}

// refuse is for a limit that never holds.
func (s *Size) refuse(l queueing.Limit, best float64) {
	s.Capacity, s.Served = 0, 0
	s.Binding = l.String()
	s.Reason = fmt.Sprintf("no arrival rate holds %s %s: the best is %s", l, limitValue(l, l.Value), limitValue(l, best))
}

// mostReplicas is the most replicas of one variant that a plan considers.
const mostReplicas = 1e6

// useful is the size where a sensible number of replicas serves the demand, whose
// shapes are those of the size, and otherwise one that sustains nothing.
func (s Size) useful(demand queueing.Rate, shapes []ShapeShare) Size {
	s.Shapes = slices.Clone(s.Shapes)
	for k := range s.Shapes {
		s.Shapes[k] = s.Shapes[k].useful(demand*queueing.Rate(shapes[k].Share), nil)
	}
	if s.Served > 0 && float64(demand) > mostReplicas*float64(s.Served) {
		s.Reason = fmt.Sprintf("one replica sustains %.3g requests/s: more than a million would be needed", float64(s.Served))
		s.Capacity, s.Served = 0, 0
	}
	return s
}

// limitValue writes a limit's value in its unit.
func limitValue(l queueing.Limit, value float64) string {
	if l.Metric == queueing.TokensPerSecond {
		return fmt.Sprintf("%.4g tokens/s", value)
	}
	return seconds(queueing.Seconds(value))
}

// seconds writes a latency with three digits in a fitting unit.
func seconds(s queueing.Seconds) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", float64(s)*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", float64(s)*1e3)
	}
	return fmt.Sprintf("%.4g s", float64(s))
}
