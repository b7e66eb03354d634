package planner

import (
	"slices"

	"github.com/poolwright/poolwright/queueing"
)

// worked is what was worked out of one workload in the last cycle, and from what: where
// nothing of that has changed, it holds again.
type worked struct {
	workload  *Workload
	sustained []Size
	// plan and traffic are those of the prediction.
	plan    *WorkloadPlan
	traffic queueing.Rate
}

// lastSizes are what the variants of workload i sustained in the last cycle, if they do again.
func (c *cycle) lastSizes(i int) []Size {
	w := &c.fleet.Workloads[i]
	if last := c.memory.worked[w.QualifiedName()]; last != nil && sizedAlike(w, last.workload) {
		return last.sustained
	}
	return nil
}

// sizedAlike tells whether the replicas of two workloads sustain the same.
func sizedAlike(a, b *Workload) bool {
	if a.Shape != b.Shape || !slices.Equal(a.Shapes, b.Shapes) || !slices.Equal(a.SLO.Limits, b.SLO.Limits) || len(a.Variants) != len(b.Variants) {
		return false
	}
	for j := range a.Variants {
		v, u := &a.Variants[j], &b.Variants[j]
		if v.Capacity != u.Capacity || v.Role != u.Role || v.Transfer != u.Transfer || (v.Replica == nil) != (u.Replica == nil) {
			return false
		}
		if v.Replica != nil && *v.Replica != *u.Replica {
			return false
		}
	}
	return true
}

// lastPrediction is that of workload i in the last cycle, if it holds again for its plan
// and traffic.
func (c *cycle) lastPrediction(i int, plan *WorkloadPlan, traffic queueing.Rate) (*Prediction, bool) {
	if c.stations[i] != nil { // sized anew
		return nil, false
	}
	last := c.memory.worked[c.fleet.Workloads[i].QualifiedName()]
	if last.plan == nil || last.plan.Held || last.traffic != traffic {
		return nil, false
	}
	for j := range plan.Variants {
		v, u := &plan.Variants[j], &last.plan.Variants[j]
		if v.Total() != u.Total() || v.Share != u.Share || !slices.Equal(v.ShapeShares, u.ShapeShares) {
			return nil, false
		}
	}
	return last.plan.Prediction, true
}

// rememberWork keeps what was worked out for the next cycle.
func (c *cycle) rememberWork() map[string]*worked {
	all := make(map[string]*worked, len(c.fleet.Workloads))
	for i := range c.fleet.Workloads {
		w := &c.fleet.Workloads[i]
		done := &worked{workload: w, sustained: c.sustained[i]}
		if i < len(c.decision.Plans) {
			done.plan = &c.decision.Plans[i]
			done.traffic = c.traffic(i, done.plan)
		}
		all[w.QualifiedName()] = done
	}
	return all
}
