package planner

import (
	"fmt"
	"time"

	"github.com/poolwright/poolwright/queueing"
)

// seen is what is known of a workload in this cycle.
type seen struct {
	// known: there is a rate to plan from, of arrivals or at least of some. complete:
	// there are no more.
	known, complete bool
	rate            queueing.Rate
	// reason says where the rate comes from, or why there is none.
	reason string
	// waiting requests; 0 where they were not measured.
	waiting float64
	// inside is what runs and waits, where counted.
	inside  Count
	counted bool
	// window is the time that rates are over.
	window time.Duration
	// kept: replicas stay as they are, even below their minimums.
	kept bool
	// asked: the rate is the number of replicas that the metrics of the policy ask for.
	asked bool
	// least replicas, where nothing but the lengths of requests is unknown.
	least int
}

// observe is the stage that finds out what is known of each workload, and holds the
// replicas of those that must not be planned.
func observe(c *cycle) error {
	c.held = make([]bool, len(c.fleet.Workloads))
	c.conditions = make([][]Condition, len(c.fleet.Workloads))
	if c.loop() {
		c.observeAll()
	}
	for i, held := range c.held {
		if !held {
			c.planned = append(c.planned, i)
		}
	}
	return nil
}

// observeAll finds out what is known of each workload.
func (c *cycle) observeAll() {
	c.fleet.Workloads = append([]Workload(nil), c.fleet.Workloads...)
	c.indexObservations()
	c.seen = make([]seen, len(c.fleet.Workloads))
	c.next = make([]*WorkloadMemory, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		c.next[i] = &WorkloadMemory{}
		if last := c.memory.Workloads[w.QualifiedName()]; last != nil {
			*c.next[i] = *last
		}
		c.seen[i] = c.observeWorkload(i)
		if c.asksMetrics(w) {
			c.askMetrics(i)
		} else if s := &c.seen[i]; s.known && s.rate != w.ArrivalRate {
			c.step(w.QualifiedName(), fmt.Sprintf("%.4g requests/s", float64(w.ArrivalRate)),
				fmt.Sprintf("%.4g requests/s", float64(s.rate)), s.reason)
		}
		c.holdUnknown(i, c.observeLengths(i))
	}
}

// loop tells whether the decision is one of the loop.
func (c *cycle) loop() bool { return c.snapshot.Observations != nil }

func (c *cycle) indexObservations() {
	c.observations = make(map[string]*Observation, len(c.snapshot.Observations))
	for i := range c.snapshot.Observations {
		c.observations[c.snapshot.Observations[i].Workload] = &c.snapshot.Observations[i]
	}
	c.pauses = make(map[string]*Pause, len(c.snapshot.Paused))
	for i := range c.snapshot.Paused {
		p := &c.snapshot.Paused[i]
		if p.Until.IsZero() || c.snapshot.Now.Before(p.Until) {
			c.pauses[p.Workload] = p
		}
	}
}

// observeWorkload finds the rate of arrivals.
func (c *cycle) observeWorkload(i int) seen {
	o := c.observations[c.fleet.Workloads[i].QualifiedName()]
	if o == nil {
		return seen{reason: "no observation"}
	}
	var s seen
	running, waiting := o.Running.checked(), o.Waiting.checked()
	if waiting.usable() {
		s.waiting = waiting.Value
	}
	s.inside = Count{At: c.snapshot.Now.UTC().Round(0), Age: o.Age, Running: running.Value, Waiting: waiting.Value}
	s.counted = running.State == Fresh && waiting.State == Fresh
	s.arrivals(o, c.next[i])
	s.risen(o, c.next[i])
	s.window = o.Window
	return s
}

// Highest measured values that are believed, of numbers of requests and of rates.
const (
	mostMeasured   = 1e9
	maxArrivalRate = mostMeasured
)

// checked is the measurement, invalid if its value can't be one.
func (m Measurement) checked() Measurement { return m.within(0, mostMeasured) }

// within is the measurement, invalid if its value is outside of [low, high].
func (m Measurement) within(low, high float64) Measurement {
	if m.usable() && !(m.Value >= low && m.Value <= high) {
		m.State = Invalid
	}
	return m
}

// usable tells whether the measurement has a value.
func (m Measurement) usable() bool { return m.State == Fresh || m.State == Incomplete }

// holdUnknown holds a workload that is paused, was changed by somebody else, or of
// whose demand or lengths nothing is known; and remembers what was inside.
func (c *cycle) holdUnknown(i int, unknownLengths string) {
	w, s, next := &c.fleet.Workloads[i], &c.seen[i], c.next[i]
	name := w.QualifiedName()
	switch pause, change := c.pauses[name], c.changedBySomebodyElse(i); {
	case pause != nil:
		s.kept = true
		c.hold(i, Paused, pause.Reason)
	case change != "":
		c.hold(i, ExternalChange, change)
	case !s.known:
		c.hold(i, DemandUnknown, s.reason)
	case unknownLengths != "":
		if s.rate > 0 || s.waiting > 0 {
			s.least = 1
		}
		c.hold(i, LengthsUnknown, unknownLengths)
	case !s.complete:
		c.condition(i, DemandIncomplete, s.reason)
	}
	next.Inside = s.count(next.Inside, s.window)
}

func (c *cycle) hold(i int, why ConditionType, message string) {
	w := &c.fleet.Workloads[i]
	c.held[i] = true
	c.condition(i, why, message)
	c.step(w.QualifiedName(), fmt.Sprintf("%.4g requests/s", float64(w.ArrivalRate)), "replicas held", message)
}

func (c *cycle) condition(i int, t ConditionType, message string) {
	c.conditions[i] = append(c.conditions[i], Condition{Type: t, Message: message})
}

// changedBySomebodyElse says which variant's replicas are neither what they were nor
// what was asked for, if any. After a gap that may have been anybody.
func (c *cycle) changedBySomebodyElse(i int) string {
	w, last := &c.fleet.Workloads[i], c.next[i]
	if c.gap(last) {
		return ""
	}
	for j := range w.Variants {
		v := &w.Variants[j]
		m := last.variant(j, v.Name)
		if m != nil && !m.explains(v) {
			return fmt.Sprintf("somebody else changed %s to %d replicas; there were %d, and %d asked for", v.Name, v.CurrentReplicas, m.Seen, m.Asked)
		}
	}
	return ""
}

// explains tells whether a variant has the replicas found in the last cycle, or those asked for.
// Where others carry that out it may be on the way there, or on the way to those of the cycle
// before, which were asked for until the last one was decided.
func (m *VariantMemory) explains(v *Variant) bool {
	if !v.Delegated {
		return v.CurrentReplicas == m.Seen || v.CurrentReplicas == m.Asked
	}
	return min(m.Seen, m.Asked, m.Before) <= v.CurrentReplicas && v.CurrentReplicas <= max(m.Seen, m.Asked, m.Before)
}

// variant finds what is remembered of a variant, first where it is most likely to be;
// nil if there is nothing.
func (m *WorkloadMemory) variant(likely int, name string) *VariantMemory {
	if likely < len(m.Variants) && m.Variants[likely].Name == name {
		return &m.Variants[likely]
	}
	for i := range m.Variants {
		if m.Variants[i].Name == name {
			return &m.Variants[i]
		}
	}
	return nil
}
