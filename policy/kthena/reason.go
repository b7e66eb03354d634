package kthena

import "github.com/poolwright/poolwright/policy"

// Reason says why a number of replicas is what it is.
type Reason int

const (
	_ Reason = iota

	// BelowMinimum is that there are too few replicas to ask metrics.
	BelowMinimum
	// AboveMaximum is that there are too many.
	AboveMaximum
	// NoMetrics is that no metric is known; replicas stay.
	NoMetrics
	// MetricMissing is that a metric is not known, and the others would shrink the
	// workload; replicas stay.
	MetricMissing
	// OnTarget is that metrics ask for the replicas that there are.
	OnTarget
	// MetricsAsked is that metrics ask for it.
	MetricsAsked
	// PlanAsked is that a plan asks for it.
	PlanAsked

	// PanicKept is that a panic does not shrink.
	PanicKept
	// PanicLimited is that a panic may not grow further within its period.
	PanicLimited
	// ScaleUpStabilized is that recent recommendations were lower.
	ScaleUpStabilized
	// ScaleUpLimited is that replicas may not grow further within the period.
	ScaleUpLimited
	// ScaleDownStabilized is that recent recommendations were higher.
	ScaleDownStabilized
	// ScaleDownLimited is that replicas may not shrink further within the period.
	ScaleDownLimited
	// WithinBounds is that the minimum or the maximum binds.
	WithinBounds
)

var reasons = policy.Words{
	BelowMinimum:        {"BelowMinimum", "there are fewer than the minimum"},
	AboveMaximum:        {"AboveMaximum", "there are more than the maximum"},
	NoMetrics:           {"NoMetrics", "no metric is known: replicas stay as they are"},
	MetricMissing:       {"MetricMissing", "a metric is not known: replicas do not shrink without it"},
	OnTarget:            {"OnTarget", "metrics are on target"},
	MetricsAsked:        {"MetricsAsked", "metrics ask for it"},
	PlanAsked:           {"PlanAsked", "the plan asks for it"},
	PanicKept:           {"PanicKept", "a panic never shrinks"},
	PanicLimited:        {"PanicLimited", "a panic may not grow further within its period"},
	ScaleUpStabilized:   {"ScaleUpStabilized", "recent recommendations were lower"},
	ScaleUpLimited:      {"ScaleUpLimited", "replicas may not grow further within the period"},
	ScaleDownStabilized: {"ScaleDownStabilized", "recent recommendations were higher"},
	ScaleDownLimited:    {"ScaleDownLimited", "replicas may not shrink further within the period"},
	WithinBounds:        {"WithinBounds", "the minimum or the maximum binds"},
}

// String returns the reason's name.
func (r Reason) String() string { return reasons.Name(int(r)) }

// Text says in words what the reason means.
func (r Reason) Text() string { return reasons.Text(int(r)) }
