package hpa

import "github.com/poolwright/poolwright/policy"

// Reason says why an autoscaler is in a condition. Its String is Kubernetes' own.
type Reason int

const (
	_ Reason = iota

	// SucceededGetScale is that nothing held the metrics' wish back, or that none
	// was asked.
	SucceededGetScale
	// ReadyForNewScale is that recent recommendations agree.
	ReadyForNewScale
	// ScaleUpStabilized is that recent recommendations were lower.
	ScaleUpStabilized
	// ScaleDownStabilized is that recent recommendations were higher.
	ScaleDownStabilized

	// ScalingDisabled is that there are no replicas though there should be some: a
	// person has turned them off.
	ScalingDisabled
	// ValidMetricFound is that there is a proposal.
	ValidMetricFound
	// FailedGetResourceMetric is that the use of a resource is not known.
	FailedGetResourceMetric
	// FailedGetContainerResourceMetric is the same of a container.
	FailedGetContainerResourceMetric
	// FailedGetPodsMetric is that a metric of pods is not known.
	FailedGetPodsMetric
	// FailedGetObjectMetric is that a metric of an object is not known.
	FailedGetObjectMetric
	// FailedGetExternalMetric is that an external metric is not known.
	FailedGetExternalMetric
	// InvalidMetricSourceType is that a metric is of no known type.
	InvalidMetricSourceType
	// InvalidSelector is that it is not known which pods belong to the scale.
	InvalidSelector
	// AmbiguousSelector is that pods belong to several autoscalers.
	AmbiguousSelector

	// DesiredWithinRange is that no limit binds.
	DesiredWithinRange
	// TooFewReplicas is that the minimum binds.
	TooFewReplicas
	// TooManyReplicas is that the maximum binds.
	TooManyReplicas
	// ScaleUpLimit is that replicas may not grow faster.
	ScaleUpLimit
	// ScaleDownLimit is that replicas may not shrink faster.
	ScaleDownLimit
)

var reasons = policy.Words{
	SucceededGetScale:                {"SucceededGetScale", "the number of replicas is known"},
	ReadyForNewScale:                 {"ReadyForNewScale", "recent recommendations agree"},
	ScaleUpStabilized:                {"ScaleUpStabilized", "recent recommendations were lower: growth waits until the stabilization window agrees"},
	ScaleDownStabilized:              {"ScaleDownStabilized", "recent recommendations were higher: replicas stay until the stabilization window agrees"},
	ScalingDisabled:                  {"ScalingDisabled", "there are no replicas although the minimum is more: scaling was turned off by hand"},
	ValidMetricFound:                 {"ValidMetricFound", "metrics gave a number of replicas"},
	FailedGetResourceMetric:          {"FailedGetResourceMetric", "the use of a resource is not known: replicas stay as they are"},
	FailedGetContainerResourceMetric: {"FailedGetContainerResourceMetric", "the use of a resource by a container is not known: replicas stay as they are"},
	FailedGetPodsMetric:              {"FailedGetPodsMetric", "a metric of the pods is not known: replicas stay as they are"},
	FailedGetObjectMetric:            {"FailedGetObjectMetric", "a metric of an object is not known: replicas stay as they are"},
	FailedGetExternalMetric:          {"FailedGetExternalMetric", "an external metric is not known: replicas stay as they are"},
	InvalidMetricSourceType:          {"InvalidMetricSourceType", "a metric is of no known type: replicas stay as they are"},
	InvalidSelector:                  {"InvalidSelector", "it is not known which pods belong to the workload: replicas stay as they are"},
	AmbiguousSelector:                {"AmbiguousSelector", "pods belong to several autoscalers: replicas stay as they are"},
	DesiredWithinRange:               {"DesiredWithinRange", "no limit binds"},
	TooFewReplicas:                   {"TooFewReplicas", "the minimum of replicas binds"},
	TooManyReplicas:                  {"TooManyReplicas", "the maximum of replicas binds"},
	ScaleUpLimit:                     {"ScaleUpLimit", "replicas may not grow faster"},
	ScaleDownLimit:                   {"ScaleDownLimit", "replicas may not shrink faster"},
}

// String returns the reason as Kubernetes writes it into a condition.
func (r Reason) String() string { return reasons.Name(int(r)) }

// Text says in words what the reason means.
func (r Reason) Text() string { return reasons.Text(int(r)) }

// failed returns the reason for a metric that has a problem.
func (s Source) failed() Reason {
	switch s {
	case Resource:
		return FailedGetResourceMetric
	case ContainerResource:
		return FailedGetContainerResourceMetric
	case PodsMetric:
		return FailedGetPodsMetric
	case Object:
		return FailedGetObjectMetric
	case External:
		return FailedGetExternalMetric
	default:
		return InvalidMetricSourceType
	}
}
