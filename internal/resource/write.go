package resource

import (
	"slices"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// Outcome is what became of one workload in one cycle.
type Outcome struct {
	Now time.Time
	// Fleet is the one that was planned; Workload and Plan are those of the workload in it.
	Fleet    *planner.Fleet
	Workload *planner.Workload
	Plan     *planner.WorkloadPlan
	// Pools are what the plan uses of each pool of the fleet.
	Pools []planner.PoolUse
	// Observation is nil where nothing was measured.
	Observation *planner.Observation
	// Changes of the workload that were carried out or, by its mode, published.
	Changes []planner.Change
	// Advised tells of each variant whether its changes are only published, so that nobody may
	// follow; nil = of none.
	Advised []bool
	// Dropped changes of the workload, in words.
	Dropped []string
	// Conditions of the workload, all of them.
	Conditions []Condition
	// Ready is the number of replicas of each variant that serve.
	Ready []int
}

// Carried returns the change of a variant that was carried out, by Poolwright or by KEDA as it
// says; false if there is none.
func (o *Outcome) Carried(variant int) (planner.Change, bool) {
	if variant < len(o.Advised) && o.Advised[variant] {
		return planner.Change{}, false
	}
	i := slices.IndexFunc(o.Changes, func(c planner.Change) bool { return c.Variant == o.Workload.Variants[variant].Name })
	if i < 0 {
		return planner.Change{}, false
	}
	return o.Changes[i], true
}

// Condition is a condition in the sense of Kubernetes.
type Condition struct {
	Type string
	// True, False or Unknown.
	Status ConditionStatus
	// Reason is one word, Message a sentence.
	Reason, Message string
}

// ConditionStatus is that of a Kubernetes condition.
type ConditionStatus string

// What a condition may be.
const (
	True    ConditionStatus = "True"
	False   ConditionStatus = "False"
	Unknown ConditionStatus = "Unknown"
)

// Patch changes an object, if it is still the one that was read.
type Patch struct {
	Object Reference
	// ResourceVersion of the object that was read.
	ResourceVersion string
	// Subresource is "status" or empty.
	Subresource string
	// Merge is a JSON merge patch without metadata.
	Merge map[string]any
}

// Event tells people about an object.
type Event struct {
	Object Reference
	// Warning events say that something is wrong.
	Warning bool
	// Reason is one word, Message a sentence.
	Reason, Message string
	// Series is the same for events that are told once and then counted, whatever their
	// messages; empty = the message.
	Series string
}
