package hpa

import "time"

// Input is what was observed.
type Input struct {
	Now time.Time
	// Replicas is what the scale asks for (spec.replicas).
	Replicas int32
	// Observed is how many there are (status.replicas).
	Observed int32
	// Pods are those that the scale selects.
	Pods []Pod
	// Selector says why Pods is no answer: InvalidSelector or AmbiguousSelector. The
	// zero value is no problem.
	Selector Reason
	// Readings belong to the metrics of the [Config], in their order. A metric
	// without a reading is invalid.
	Readings []Reading
}

// Pod is one pod, with unique name.
type Pod struct {
	Name     string
	Deleting bool
	Phase    Phase
	// Started is the time at which the node accepted the pod; the zero value of
	// HasStarted says that none has.
	HasStarted bool
	Started    time.Time
	// Ready is the condition of that name, and ReadySince when it last changed.
	Ready      Readiness
	ReadySince time.Time
	// Requests are those of the pod as a whole. Where there are any they count, else
	// those of the containers.
	Requests []Request
	// Containers include init containers that keep running.
	Containers []Container
}

// Container is one container of a pod.
type Container struct {
	Name     string
	Requests []Request
}

// Request is how much of a resource is asked for, in thousandths.
type Request struct {
	Resource string
	Value    int64
}

// Phase is how far a pod is.
type Phase int

const (
	// Running is a pod of which some container runs.
	Running Phase = iota
	// Pending is a pod that no node runs yet.
	Pending
	// Failed is a pod that ended with an error.
	Failed
	// Succeeded is a pod that ended.
	Succeeded
	// Unknown is a pod on a node out of reach.
	Unknown
)

// Readiness is the status of a pod's condition Ready.
type Readiness int

const (
	// NoCondition is that there is none yet.
	NoCondition Readiness = iota
	// Ready is that the pod serves.
	Ready
	// NotReady is that it does not.
	NotReady
	// ReadinessUnknown is what nodes that are out of reach leave behind.
	ReadinessUnknown
)

// Reading is what was measured of one metric.
type Reading struct {
	// Problem says why there is no measurement; empty is that there is one.
	Problem string
	// Samples are those of pods, for Resource, ContainerResource and PodsMetric.
	Samples []Sample
	// Values are those of an object (one) or of external series.
	Values []int64
}

// Sample is the measurement of one pod.
type Sample struct {
	Pod  string
	Time time.Time
	// Window is the time over which it was measured.
	Window time.Duration
	// Containers are the use of each, for resources. A pod of which a container was
	// not measured counts as not measured.
	Containers []Usage
	// Value is that of a PodsMetric.
	Value int64
}

// Usage is how much a container uses.
type Usage struct {
	Name     string
	Measured bool
	Value    int64
}

// value returns what a sample says about a metric, and whether it says anything.
func (s *Sample) value(m Metric) (int64, bool) {
	switch m.Source {
	case Resource:
		var sum total
		for _, c := range s.Containers {
			if !c.Measured {
				return 0, false
			}
			sum.add(c.Value)
		}
		return sum.clamped(), len(s.Containers) > 0
	case ContainerResource:
		for _, c := range s.Containers {
			if c.Name == m.Container {
				return c.Value, c.Measured
			}
		}
		return 0, false
	default:
		return s.Value, true
	}
}

// request returns how much of the metric's resource a pod asks for. A container that
// the pod does not have asks for nothing.
func (p *Pod) request(m Metric) (int64, bool) {
	if m.Container == "" && len(p.Requests) > 0 {
		return find(p.Requests, m.Name)
	}
	var sum total
	for _, c := range p.Containers {
		if m.Container != "" && c.Name != m.Container {
			continue
		}
		value, ok := find(c.Requests, m.Name)
		if !ok {
			return 0, false
		}
		sum.add(value)
	}
	return sum.clamped(), true
}

func find(requests []Request, resource string) (int64, bool) {
	for _, r := range requests {
		if r.Resource == resource {
			return r.Value, true
		}
	}
	return 0, false
}
