package planner

import (
	"fmt"

	"github.com/poolwright/poolwright/internal/parallel"
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
	// station is nil where capacity was declared.
	station *queueing.Station
}

// sizeKey holds all that a size depends on.
type sizeKey struct {
	replica queueing.Replica
	shape   queueing.Shape
	slo     string
}

// sizer sizes variants, equal ones once, and remembers the sizes of the last cycle.
type sizer struct {
	last    map[sizeKey]Size
	index   map[sizeKey]int // into sizings
	sizings []sizing
}

// sizing is the size of all variants with one key.
type sizing struct {
	key   sizeKey
	slo   queueing.SLO
	known bool
	size  Size
	// err is that of a profile or shape out of its range.
	err error
}

func newSizer(m Memory) *sizer {
	return &sizer{last: m.sizes, index: make(map[sizeKey]int)}
}

// declared is the index of variants whose capacity needs no sizing.
const declared = -1

// add notes the variants of a workload as ones to size, and returns the indices of
// their sizings.
func (s *sizer) add(w *Workload) []int {
	slo := fmt.Sprint(w.SLO.Limits)
	indices := make([]int, len(w.Variants))
	for j := range w.Variants {
		v := &w.Variants[j]
		if v.Replica == nil {
			indices[j] = declared
			continue
		}
		key := sizeKey{*v.Replica, w.Shape, slo}
		i, ok := s.index[key]
		if !ok {
			i = len(s.sizings)
			s.index[key] = i
			size, known := s.last[key]
			s.sizings = append(s.sizings, sizing{key: key, slo: w.SLO, size: size, known: known})
		}
		indices[j] = i
	}
	return indices
}

// sizingBlock is how many sizings go to a processor at a time.
const sizingBlock = 8

// run sizes what is not yet known.
func (s *sizer) run() {
	parallel.Blocks(len(s.sizings), sizingBlock, func(_, from, to int) {
		for i := from; i < to; i++ {
			if z := &s.sizings[i]; !z.known {
				z.size, z.err = compute(&z.key.replica, z.key.shape, z.slo)
			}
		}
	})
}

// size returns the capacity of one replica of v, whose sizing has an index. The error
// is that of a profile or shape out of its range.
func (s *sizer) size(v *Variant, index int) (Size, error) {
	if index == declared {
		return Size{Capacity: v.Capacity, Served: v.Capacity, Binding: "capacityRps"}, nil
	}
	return s.sizings[index].size, s.sizings[index].err
}

// memory is what the next cycle needs not size again.
func (s *sizer) memory() Memory {
	sizes := make(map[sizeKey]Size, len(s.sizings))
	for i := range s.sizings {
		sizes[s.sizings[i].key] = s.sizings[i].size
	}
	return Memory{sizes: sizes}
}

// A request that finds no waiting place gets no first token at all, so a replica
// with a limited queue must keep the share of such requests below mostBlocked: as
// the SLO that this share gets its first token before endless. Models of other
// systems don't know that.
const (
	mostBlocked = 0.01
	endless     = 1e9
)

func compute(r *queueing.Replica, shape queueing.Shape, slo queueing.SLO) (Size, error) {
	station, err := queueing.NewStation(*r, shape)
	if err != nil {
		return Size{}, err
	}
	blocking := queueing.Limit{Metric: queueing.TTFT, Quantile: 1 - mostBlocked, Value: endless}
	if r.Model == queueing.ContinuousBatching && r.MaxQueue.Limited {
		slo.Limits = append(slo.Limits[:len(slo.Limits):len(slo.Limits)], blocking)
	}
	c, err := station.Capacity(slo)
	if err != nil {
		return Size{}, err
	}
	if c.Unservable != "" {
		return Size{Binding: "kvCacheTokens", Reason: c.Unservable, station: station}, nil
	}
	size := Size{Capacity: c.Rate, Served: c.Served, Saturation: c.SaturationRate, Binding: "saturation", station: station}
	if c.Bound {
		size.Binding = c.Binding.String()
	}
	if c.Binding == blocking {
		size.Binding = "maxQueue"
	}
	if !c.Feasible {
		size.Capacity, size.Served = 0, 0
		size.Binding = c.Binding.String()
		size.Reason = fmt.Sprintf("no arrival rate holds %s %s: the best is %s",
			c.Binding, limitValue(c.Binding, c.Binding.Value), limitValue(c.Binding, c.Best))
	}
	return size, nil
}

// mostReplicas is the most replicas of one variant that a plan considers.
const mostReplicas = 1e6

// useful is the size where a sensible number of replicas serves the demand, and
// otherwise one that sustains nothing.
func (s Size) useful(demand queueing.Rate) Size {
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
