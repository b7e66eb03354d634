package planner

import (
	"fmt"

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

// sizer sizes variants and remembers the sizes of the last cycle.
type sizer struct {
	last, next map[sizeKey]Size
}

func newSizer(m Memory) *sizer {
	return &sizer{last: m.sizes, next: make(map[sizeKey]Size)}
}

// size returns the capacity of one replica of v. The error is that of a profile
// or shape out of its range.
func (s *sizer) size(w *Workload, v *Variant) (Size, error) {
	if v.Replica == nil {
		return Size{Capacity: v.Capacity, Served: v.Capacity, Binding: "capacityRps"}, nil
	}
	key := sizeKey{*v.Replica, w.Shape, fmt.Sprint(w.SLO.Limits)}
	if size, ok := s.next[key]; ok {
		return size, nil
	}
	size, ok := s.last[key]
	if !ok {
		var err error
		if size, err = compute(v.Replica, w.Shape, w.SLO); err != nil {
			return Size{}, err
		}
	}
	s.next[key] = size
	return size, nil
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
