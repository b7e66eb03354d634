package planner

import (
	"cmp"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// mostRelaxed is the largest factor on SLOs that is tried, and relaxedWithin the
// relative accuracy of the smallest that serves.
const (
	mostRelaxed   = 64
	relaxedWithin = 0.01
)

// relaxedAlone is the number of workloads whose SLO is relaxed alone.
const relaxedAlone = 8

// relaxations finds the smallest factors on SLOs that serve with the present limits.
func (e *explainer) relaxations() error {
	if e.Shortage == nil || e.suffices() || !slices.ContainsFunc(e.free, e.relaxable) {
		return nil
	}
	if err := e.relax(AllWorkloads); err != nil {
		return err
	}
	alone := slices.DeleteFunc(slices.Clone(e.free), func(i int) bool {
		return e.cycle.decision.Plans[i].Unmet == 0 || !e.relaxable(i)
	})
	slices.SortFunc(alone, func(a, b int) int {
		v, w := &e.cycle.fleet.Workloads[a], &e.cycle.fleet.Workloads[b]
		return cmp.Or(cmp.Compare(v.Priority, w.Priority), cmp.Compare(v.QualifiedName(), w.QualifiedName()))
	})
	for _, i := range alone[:min(len(alone), relaxedAlone)] {
		if err := e.relax(i); err != nil {
			return err
		}
	}
	return nil
}

// suffices tells whether the limits as they are serve all.
func (e *explainer) suffices() bool {
	return len(e.Shortage.Hopeless) == 0 && e.Shortage.Increases[0].Verdict == optimizer.Enough
}

// relaxable tells whether a workload has an SLO that limits a profile.
func (e *explainer) relaxable(i int) bool {
	w := &e.cycle.fleet.Workloads[i]
	return len(w.SLO.Limits) > 0 && slices.ContainsFunc(w.Variants, func(v Variant) bool { return v.Replica != nil })
}

// relax finds the factor for one workload or all. What a fleet serves grows with it,
// since every replica sustains more.
func (e *explainer) relax(workload int) error {
	r := Relaxation{Workload: workload, Factor: optimizer.Interval{Low: 1, High: mostRelaxed}}
	var err error
	if r.Possible, err = e.servesRelaxed(workload, mostRelaxed); err != nil {
		return err
	}
	for r.Possible && r.Factor.High > r.Factor.Low*(1+relaxedWithin) {
		middle := math.Sqrt(r.Factor.Low * r.Factor.High)
		serves, err := e.servesRelaxed(workload, middle)
		if err != nil {
			return err
		}
		if serves {
			r.Factor.High = middle
		} else {
			r.Factor.Low = middle
		}
	}
	r.Reason = e.relaxationReason(&r)
	e.Shortage.Relaxations = append(e.Shortage.Relaxations, r)
	return nil
}

func (e *explainer) servesRelaxed(workload int, factor float64) (bool, error) {
	if e.cycle.stop != nil && e.cycle.stop() {
		return false, optimizer.ErrEnded
	}
	f := e.cycle.fleet
	f.Workloads = slices.Clone(f.Workloads)
	for i := range f.Workloads {
		if workload == AllWorkloads || workload == i {
			f.Workloads[i].SLO = relaxed(f.Workloads[i].SLO, factor)
		}
	}
	sizes, err := f.sizes(e.cycle.awaited)
	if err != nil {
		return false, err
	}
	p := e.cycle.heldUse.rest(f.Problem(sizes), e.cycle.held)
	if workload == AllWorkloads {
		return e.study.Serves(p)
	}
	return e.study.Serves(p, slices.Index(e.free, workload))
}

// relaxed is an SLO with its limits loosened by a factor.
func relaxed(slo queueing.SLO, factor float64) queueing.SLO {
	slo.Limits = slices.Clone(slo.Limits)
	for i := range slo.Limits {
		if l := &slo.Limits[i]; l.Metric == queueing.TokensPerSecond {
			l.Value /= factor
		} else {
			l.Value *= factor
		}
	}
	return slo
}
