package llmd

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// Types and reasons of conditions as the family has them.
const (
	targetResolved    = "TargetResolved"
	targetFound       = "TargetFound"
	targetNotFound    = "TargetNotFound"
	metricsAvailable  = "MetricsAvailable"
	metricsFound      = "MetricsFound"
	metricsMissing    = "MetricsMissing"
	metricsStale      = "MetricsStale"
	optimizationReady = "OptimizationReady"
	optimized         = "OptimizationSucceeded"
	optimizedNot      = "OptimizationFailed"
	noMetrics         = "MetricsUnavailable"
)

// conditions are those of the family and, under Poolwright's domain, the others.
func (a *allocation) conditions(o *resource.Outcome, wanted *choice) []resource.Condition {
	all := []resource.Condition{a.resolved(), metrics(o), a.optimization(o, wanted)}
	return append(all, resource.Qualified(o.Conditions)...)
}

func (a *allocation) resolved() resource.Condition {
	if a.missing {
		return resource.Condition{Type: targetResolved, Status: resource.False, Reason: targetNotFound, Message: fmt.Sprintf("there is no %v", a.target)}
	}
	return resource.Condition{Type: targetResolved, Status: resource.True, Reason: targetFound, Message: fmt.Sprintf("it scales %v", a.target)}
}

// message of a condition of the plan; false if it is not met.
func message(o *resource.Outcome, of ...planner.ConditionType) (string, bool) {
	for _, kind := range of {
		for _, c := range o.Plan.Conditions {
			if c.Type == kind {
				return c.Message, true
			}
		}
	}
	return "", false
}

func metrics(o *resource.Outcome) resource.Condition {
	unknown, missing := message(o, planner.DemandUnknown, planner.LengthsUnknown)
	if !missing {
		c := resource.Condition{Type: metricsAvailable, Status: resource.True, Reason: metricsFound, Message: "demand is measured"}
		if incomplete, ok := message(o, planner.DemandIncomplete); ok {
			c.Message = incomplete
		}
		return c
	}
	c := resource.Condition{Type: metricsAvailable, Status: resource.False, Reason: metricsMissing, Message: unknown}
	if b := o.Observation; b != nil && (b.ArrivalRate.State == planner.Stale || b.CompletionRate.State == planner.Stale) {
		c.Reason = metricsStale
	}
	return c
}

func (a *allocation) optimization(o *resource.Outcome, wanted *choice) resource.Condition {
	if a.missing {
		return resource.Condition{Type: optimizationReady, Status: resource.False, Reason: optimizedNot, Message: fmt.Sprintf("there is no %v", a.target)}
	}
	if unknown, ok := message(o, planner.DemandUnknown, planner.LengthsUnknown); ok {
		return resource.Condition{Type: optimizationReady, Status: resource.False, Reason: noMetrics, Message: unknown}
	}
	if why, ok := message(o, planner.SLOInfeasible, planner.Paused, planner.ExternalChange); ok {
		return resource.Condition{Type: optimizationReady, Status: resource.False, Reason: optimizedNot, Message: why}
	}
	c := resource.Condition{Type: optimizationReady, Status: resource.True, Reason: optimized}
	words := []string{o.Plan.Reason}
	if reason := o.Plan.Variants[a.inUse].Size.Reason; reason != "" {
		c.Status, c.Reason = resource.False, optimizedNot
		words = []string{fmt.Sprintf("%s: %s", a.name(o, a.inUse), reason)}
	}
	if wanted.variant != a.inUse && !o.Plan.Held {
		words = append(words, a.recommendation(o, wanted))
	}
	if len(wanted.accelerator) < leastName {
		words = append(words, fmt.Sprintf("the API takes no name as short as %q in desiredOptimizedAlloc", wanted.accelerator))
	}
	c.Message = strings.Join(words, "; ")
	return c
}

func (a *allocation) recommendation(o *resource.Outcome, wanted *choice) string {
	price := fmt.Sprintf("%s would serve it for %.4g per hour", wanted.accelerator, wanted.price)
	if wanted.instead > 0 {
		price += fmt.Sprintf(" instead of %.4g", wanted.instead)
	}
	return fmt.Sprintf("%s; until the target moves there, it is scaled to %d on %s", price, o.Plan.Variants[a.inUse].Total(), a.name(o, a.inUse))
}
