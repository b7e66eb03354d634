package planner

import (
	"cmp"
	"fmt"
	"time"

	"github.com/poolwright/poolwright/forecast"
	"github.com/poolwright/poolwright/queueing"
)

// anticipateDemand is the stage that plans for the demand at the time at which replicas
// asked for now could be ready.
func anticipateDemand(c *cycle) error {
	if !c.loop() {
		return nil
	}
	c.expected = make([]*Expectation, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		c.observeEfficiency(i)
		if s := &c.seen[i]; s.known {
			c.expected[i] = c.expect(i, s)
		}
		if !c.held[i] {
			c.planDemand(i)
		}
	}
	return nil
}

// expect predicts the demand of a workload.
func (c *cycle) expect(i int, s *seen) *Expectation {
	w, control, next := &c.fleet.Workloads[i], &c.fleet.Control, c.next[i]
	e := &Expectation{Observed: s.rate, Lasting: s.rate, Point: s.rate, Upper: s.rate}
	if s.asked {
		e.Reason = s.reason
		return e
	}
	e.Queue = c.queue(i)
	e.Backlog = queueing.Rate(e.Queue / cmp.Or(control.BacklogDrain, DefaultBacklogDrain).Seconds())
	if s.complete {
		next.Demand = control.Forecast.Observe(next.Demand, c.snapshot.Now, float64(s.rate), w.horizon(control))
		p := control.Forecast.Predict(next.Demand, c.snapshot.Now)
		switch {
		case p.Method == forecast.None:
		case !next.Demand.At.Equal(c.snapshot.Now) || next.Demand.Rate != float64(s.rate):
			e.Reason = "a clock was set back, and nothing is predicted until it has caught up: demand as observed"
		default:
			e.Point, e.Upper, e.Reason = queueing.Rate(p.Point), queueing.Rate(p.Upper), p.Reason()
			if s.waiting == 0 {
				e.Lasting = min(s.rate, queueing.Rate(p.Now))
			}
		}
	}
	return e
}

// horizon is the time until a replica asked for now is ready, and one cycle.
func (w *Workload) horizon(control *Control) time.Duration {
	return w.startup() + cmp.Or(control.Cycle, DefaultCycle)
}

// startup is the longest of the variants.
func (w *Workload) startup() time.Duration {
	longest := time.Duration(0)
	for j := range w.Variants {
		longest = max(longest, w.Variants[j].Startup)
	}
	return longest
}

// planDemand sets the arrival rate that the plan is made for.
func (c *cycle) planDemand(i int) {
	w, s, e, next := &c.fleet.Workloads[i], &c.seen[i], c.expected[i], c.next[i]
	need := min(float64(e.Upper+e.Backlog), maxArrivalRate)
	planned := c.policy(w).demand(float64(next.Planned), need)
	reason := e.Reason
	switch {
	case !s.complete:
		planned = max(planned, float64(next.Planned))
		reason = "no less than in the last plan, as " + s.reason
	case planned != need:
		reason = fmt.Sprintf("%.4g expected, within the tolerance of what the last plan was made for", need)
	case e.Backlog > 0:
		reason = fmt.Sprintf("%s; %.4g more to drain %.4g that will wait, %.4g now", e.Reason, float64(e.Backlog), e.Queue, s.waiting)
	}
	if planned != float64(s.rate) {
		c.step(w.QualifiedName(), fmt.Sprintf("%.4g requests/s", float64(s.rate)), fmt.Sprintf("%.4g requests/s", planned), reason)
	}
	w.ArrivalRate = queueing.Rate(planned)
	next.Planned = w.ArrivalRate
}
