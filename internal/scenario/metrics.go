package scenario

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/planner"
)

// Metrics is what is measured of a workload, and how well.
type Metrics string

// What may be measured. The zero value is Arrivals.
const (
	// Arrivals: the rate of arrivals, as a gateway counts them.
	Arrivals Metrics = "arrivals"
	// Engine: completions, running and waiting requests, as engines count them.
	Engine Metrics = "engine"
	// All: what a gateway and engines count.
	All Metrics = "all"
	// Missing, Stale and Invalid: nothing that may be relied on.
	Missing Metrics = "missing"
	Stale   Metrics = "stale"
	Invalid Metrics = "invalid"
	// NaN: arrivals are not a number, and whoever measured them did not notice.
	NaN Metrics = "nan"
	// Partial: half of the replicas report.
	Partial Metrics = "partial"
)

// metricsKinds are all of them.
var metricsKinds = []Metrics{Arrivals, Engine, All, Missing, Stale, Invalid, NaN, Partial}

// ParseMetrics reads the name of what is measured.
func ParseMetrics(text string) (Metrics, error) {
	if i := slices.Index(metricsKinds, Metrics(text)); i >= 0 {
		return metricsKinds[i], nil
	}
	names := make([]string, len(metricsKinds))
	for i, m := range metricsKinds {
		names[i] = string(m)
	}
	return "", fmt.Errorf("metrics %q are none of %s", text, strings.Join(names, ", "))
}

// reported is the share of the demand that [Partial] metrics see.
const reported = 0.5

// Observe implements [controller.Observer].
func (c *Cluster) Observe(context.Context, planner.Fleet) ([]planner.Observation, error) {
	if c.Failing[Observer] {
		return nil, fmt.Errorf("metrics store: %w", errUnreachable)
	}
	c.observed = nil
	for i := range c.workloads {
		if o := c.observe(i); o != nil {
			c.observed = append(c.observed, *o)
		}
	}
	if meanwhile := c.Meanwhile; meanwhile != nil {
		c.Meanwhile, c.moved = nil, true
		return c.observed, meanwhile()
	}
	return c.observed, nil
}

func (c *Cluster) observe(i int) *planner.Observation {
	w := &c.workloads[i]
	fresh := func(value float64) planner.Measurement {
		return planner.Measurement{State: planner.Fresh, Value: value}
	}
	o := &planner.Observation{Workload: c.fleet.Workloads[i].QualifiedName()}
	arrivals, state := w.demand.At(c.now), planner.Fresh
	switch w.metrics {
	case Missing:
		return nil
	case Stale:
		o.ArrivalRate = planner.Measurement{State: planner.Stale, Value: arrivals}
		state = planner.Stale
	case Invalid:
		o.ArrivalRate = planner.Measurement{State: planner.Invalid, Value: -1}
		state = planner.Invalid
	case NaN:
		o.ArrivalRate = fresh(math.NaN())
	case Partial:
		o.ArrivalRate = planner.Measurement{State: planner.Incomplete, Value: arrivals * reported}
		state = planner.Incomplete
	case Engine, All:
		o.CompletionRate, o.Running, o.Waiting = fresh(w.completed), fresh(w.running), fresh(w.waiting)
		if w.metrics == All {
			o.ArrivalRate = fresh(arrivals)
		}
	default:
		o.ArrivalRate = fresh(arrivals)
	}
	w.lengths.observe(o, state, w.completed > 0)
	return o
}
