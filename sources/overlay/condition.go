package overlay

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/internal/resource"
)

// Types of the conditions that completing finds. They are on the object that declares the
// workload, and True.
const (
	// AnnotationInvalid: an annotation was not understood, and does not count.
	AnnotationInvalid = "AnnotationInvalid"
	// AcceleratorUnknown: nothing says what type of device a variant's replicas run on. The
	// variant is left out of the plan, and not scaled: it has no pool.
	AcceleratorUnknown = "AcceleratorUnknown"
	// DevicesUnknown: nothing says how many devices a replica of a variant occupies. It
	// counts as one, and is not scaled.
	DevicesUnknown = "DevicesUnknown"
	// PoolUnknown: a pool that is named does not exist, or is of another accelerator.
	PoolUnknown = "PoolUnknown"
	// PoolCapacityUnknown: nothing says how many devices a variant's pool has.
	PoolCapacityUnknown = "PoolCapacityUnknown"
	// NodesTooSmall: no node offers as many devices as a replica of a variant needs on one.
	NodesTooSmall = "NodesTooSmall"
	// ProfileEstimated: nobody measured a variant's profile; it follows from facts about
	// device and model.
	ProfileEstimated = "ProfileEstimated"
	// ProfileInvalid: a variant's profile can't be used, and the variant is not scaled.
	ProfileInvalid = "ProfileInvalid"
	// SLOMissing: nothing says which latencies to keep; only stability limits a replica.
	SLOMissing = "SLOMissing"
	// BoundsInvalid: fewer replicas are allowed than are asked for at least.
	BoundsInvalid = "BoundsInvalid"
	// MinimumAssumed: nobody says how many replicas a workload has at least, and nothing would
	// wake it without any. One stays.
	MinimumAssumed = "MinimumAssumed"
	// MixingImpossible: prefill and decode are served by two variants together, which mixing
	// does not allow.
	MixingImpossible = "MixingImpossible"
	// NoVariant is the reason why a workload was left out none of whose variants is usable.
	NoVariant = "NoVariant"
)

// conditions of one workload. Of one type there is one, with all its messages.
type conditions []resource.Condition

func (cs *conditions) add(kind, format string, args ...any) {
	*cs = resource.AddCondition(*cs, resource.Condition{Type: kind, Status: resource.True, Reason: kind, Message: fmt.Sprintf(format, args...)})
}

// text is all messages, or another text if there are none.
func (cs conditions) text(otherwise string) string {
	if len(cs) == 0 {
		return otherwise
	}
	var all []string
	for i := range cs {
		all = append(all, cs[i].Message)
	}
	return strings.Join(all, "; ")
}
