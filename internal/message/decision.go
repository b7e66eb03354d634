package message

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Decision translates a decision of the loop, as far as the planner knows of it.
func Decision(d *planner.Decision) *poolwrightv1.Decision {
	m := &poolwrightv1.Decision{Time: timestamppb.New(d.At), Plan: plan(d, true), Stopped: d.Stopped}
	for i := range d.Changes {
		c := &d.Changes[i]
		m.Changes = append(m.Changes, &poolwrightv1.Change{
			Workload: c.Workload, Variant: c.Variant, Target: ofTarget(c.Target),
			From: count(c.From), To: count(c.To), Goal: count(c.Goal), Reason: c.InWords(),
		})
	}
	for i := range d.Trail {
		s := &d.Trail[i]
		m.Trail = append(m.Trail, &poolwrightv1.Step{
			Stage: s.Stage, Subject: s.Subject, Before: s.Before, After: s.After, Reason: s.InWords(),
		})
	}
	return m
}

// Pause translates a pause.
func Pause(p planner.Pause) *poolwrightv1.Pause {
	m := &poolwrightv1.Pause{Workload: p.Workload, Reason: p.Reason}
	if !p.Until.IsZero() {
		m.ExpireTime = timestamppb.New(p.Until)
	}
	return m
}

// expectation is nil where nothing was observed.
func expectation(e *planner.Expectation) *poolwrightv1.Expectation {
	if e == nil {
		return nil
	}
	return &poolwrightv1.Expectation{
		ObservedRps: float64(e.Observed), PointRps: float64(e.Point), UpperRps: float64(e.Upper),
		BacklogRps: float64(e.Backlog), Reason: e.Reason,
	}
}

func variantReplicas(v *planner.Variant, p *planner.VariantPlan) *poolwrightv1.VariantReplicas {
	m := &poolwrightv1.VariantReplicas{
		Current: count(v.CurrentReplicas), Starting: count(v.StartingReplicas), Wanted: count(p.Wanted),
		PermittedMin: count(p.Permitted.Min), PermittedReason: p.Permitted.Reason, Planned: count(p.Total()),
	}
	if p.Permitted.Limited {
		most := count(p.Permitted.Max)
		m.PermittedMax = &most
	}
	return m
}
