package planner

import "github.com/poolwright/poolwright/queueing"

// Change is a wanted change of one variant's replicas.
type Change struct {
	// Workload is the qualified name.
	Workload string
	Variant  string
	Target   ScaleTarget
	// From is what the snapshot had, To what is asked for now and Goal what the plan has.
	From, To, Goal int
	Reason         string
	// Other is the qualified name of the other workload that Reason is about, which does not name
	// it: not everybody who sees the one may see the other. Empty = none.
	Other string
}

// InWords is the reason with the name of the other workload.
func (c *Change) InWords() string { return naming(c.Reason, c.Other) }

// naming is a reason with the name of the other workload that it is about, if there is one.
func naming(reason, other string) string {
	if other == "" {
		return reason
	}
	return reason + " (" + other + ")"
}

// Expectation is the demand that a workload is planned for, in requests/s.
type Expectation struct {
	// Observed is the rate of arrivals now, at least, and Lasting what of it is no noise:
	// requests that wait are there, whatever brought them.
	Observed, Lasting queueing.Rate
	// Point and Upper are expected when replicas asked for now could be ready.
	Point, Upper queueing.Rate
	// Queue is the number of requests that will wait by then, as far as queues are measured,
	// and Backlog is what draining it adds.
	Queue   float64
	Backlog queueing.Rate
	// Reason says how the forecast was made.
	Reason string
}

// Condition is something that a person should know of a workload.
type Condition struct {
	Type    ConditionType
	Message string
	// Other is the qualified name of the other workload that Message is about, which does not name
	// it; empty = none.
	Other string
}

// InWords is the message with the name of the other workload.
func (c *Condition) InWords() string { return naming(c.Message, c.Other) }

// ConditionType names a condition, as Kubernetes does.
type ConditionType string

const (
	// Paused: somebody asked that nothing be changed.
	Paused ConditionType = "Paused"
	// DemandUnknown: there is no measurement to plan from, and replicas are held.
	DemandUnknown ConditionType = "DemandUnknown"
	// LengthsUnknown: the lengths of requests are neither declared nor measured, and replicas
	// are held; but the first is added when requests arrive, so that there is something to measure.
	LengthsUnknown ConditionType = "LengthsUnknown"
	// DemandIncomplete: not all replicas report; nothing is taken away.
	DemandIncomplete ConditionType = "DemandIncomplete"
	// ExternalChange: somebody else changed replicas; they are held for one cycle.
	ExternalChange ConditionType = "ExternalChange"
	// ProfileMissing: a variant has neither profile nor capacity, and is not scaled; or none
	// has, and the metrics of the policy decide.
	ProfileMissing ConditionType = "ProfileMissing"
	// ProfileDoubtful: replicas do for long what their profile can't explain.
	ProfileDoubtful ConditionType = "ProfileDoubtful"
	// SLOInfeasible: no variant holds the SLO at any rate or, with measured lengths, at a
	// sensible one.
	SLOInfeasible ConditionType = "SLOInfeasible"
	// DemandUnmet: the plan leaves demand unserved.
	DemandUnmet ConditionType = "DemandUnmet"
	// Waiting: changes wait for devices or for replicas to become ready.
	Waiting ConditionType = "Waiting"
)
