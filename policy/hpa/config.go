package hpa

import "time"

// Config is a HorizontalPodAutoscaler's specification, and the flags of the controller
// that carries it out. Start from [DefaultConfig]; a zero is a zero, not a default.
type Config struct {
	// MinReplicas ≥ 0; 0 needs a metric that exists without pods.
	MinReplicas int32
	// MaxReplicas ≥ 1, and ≥ MinReplicas.
	MaxReplicas int32
	// Metrics are what to follow; the largest proposal wins. Without any, [Decide] leaves
	// replicas as they are, and [Permit] follows what it is told.
	Metrics []Metric
	// Behavior limits how fast replicas change; nil leaves the controller's own limits:
	// at most max(2·current, 4) replicas, and the downscale stabilization.
	Behavior *Behavior
	// Tolerance is how far the ratio of usage to target may be from 1 without a
	// change, ≥ 0.
	Tolerance float64
	// DownscaleStabilization is how long a recommendation holds back scaling down where
	// there is no behavior; ≥ 0.
	DownscaleStabilization time.Duration
	// CPUInitializationPeriod is how long after its start a pod's CPU samples count only
	// if it is ready and they are from after that; ≥ 0.
	CPUInitializationPeriod time.Duration
	// InitialReadinessDelay is how long after its start a pod that becomes unready
	// is taken to have never been ready; ≥ 0.
	InitialReadinessDelay time.Duration
}

// Behavior is how fast replicas may change in each direction.
type Behavior struct {
	ScaleUp, ScaleDown Rules
}

// Rules are the limits of one direction.
type Rules struct {
	// StabilizationWindow holds back changes that recommendations of that time do not
	// agree with, at most [MaxStabilizationWindow].
	StabilizationWindow time.Duration
	Select              Select
	// Policies are at least one.
	Policies []Policy
	// Tolerance is that of this direction.
	Tolerance float64
}

// Policy limits the change within a period.
type Policy struct {
	Type PolicyType
	// Value is in pods or percent; > 0.
	Value int32
	// Period is in (0, MaxPeriod].
	Period time.Duration
}

// Longest times that the API accepts.
const (
	MaxStabilizationWindow = time.Hour
	MaxPeriod              = 30 * time.Minute
)

// Select says which of several policies counts.
type Select int

const (
	// Max is the policy that permits the largest change.
	Max Select = iota
	// Min is the policy that permits the smallest change.
	Min
	// Disabled permits no change.
	Disabled
)

// PolicyType says what the value of a [Policy] is.
type PolicyType int

const (
	// Pods is a number of pods.
	Pods PolicyType = iota
	// Percent is a share of the replicas at the start of the period.
	Percent
)

// Metric is one thing to follow.
type Metric struct {
	Source Source
	// Name is that of the resource or of the metric.
	Name string
	// Container is whose resource counts, for ContainerResource.
	Container string
	Target    Target
}

// Source is where a metric is measured.
type Source int

const (
	// Resource is the use of a resource by whole pods.
	Resource Source = iota
	// ContainerResource is the use of a resource by one container of each pod.
	ContainerResource
	// PodsMetric is a metric that each pod has.
	PodsMetric
	// Object is a metric of one object.
	Object
	// External is a metric of nothing in the cluster, maybe in several series.
	External
)

// Target is what a metric should be.
type Target struct {
	Type TargetType
	// Value is in percent for Utilization, else in thousandths; > 0.
	Value int64
}

// TargetType says what a target limits.
type TargetType int

const (
	// Utilization is the use as a percentage of the request, of resources only.
	Utilization TargetType = iota
	// AverageValue is the mean over pods.
	AverageValue
	// Value is the metric itself, of objects and external metrics only.
	Value
)

// Defaults of Kubernetes 1.34: those of behavior are set by the API server
// (pkg/apis/autoscaling/v2/defaults.go), the others by the controller manager
// (pkg/controller/podautoscaler/config/v1alpha1/defaults.go).
const (
	defaultTolerance               = 0.1
	defaultDownscaleStabilization  = 5 * time.Minute
	defaultCPUInitializationPeriod = 5 * time.Minute
	defaultInitialReadinessDelay   = 30 * time.Second
	defaultPeriod                  = 15 * time.Second
	defaultUpPods                  = 4
	defaultPercent                 = 100
)

// DefaultConfig returns Kubernetes' defaults, without metrics, behavior and maximum.
func DefaultConfig() Config {
	return Config{
		MinReplicas:             1,
		Tolerance:               defaultTolerance,
		DownscaleStabilization:  defaultDownscaleStabilization,
		CPUInitializationPeriod: defaultCPUInitializationPeriod,
		InitialReadinessDelay:   defaultInitialReadinessDelay,
	}
}

// DefaultBehavior returns what Kubernetes fills a behavior up with: up by 4 pods or
// 100 % in 15 s, whichever is more, without a window; down by 100 % in 15 s, after
// 5 minutes.
func DefaultBehavior() Behavior {
	return Behavior{
		ScaleUp: Rules{
			Policies: []Policy{
				{Type: Pods, Value: defaultUpPods, Period: defaultPeriod},
				{Type: Percent, Value: defaultPercent, Period: defaultPeriod},
			},
			Tolerance: defaultTolerance,
		},
		ScaleDown: Rules{
			StabilizationWindow: defaultDownscaleStabilization,
			Policies:            []Policy{{Type: Percent, Value: defaultPercent, Period: defaultPeriod}},
			Tolerance:           defaultTolerance,
		},
	}
}

// within tells whether a ratio of usage to target is too near to 1 for a change.
func (c *Config) within(ratio float64) bool {
	up, down := c.Tolerance, c.Tolerance
	if c.Behavior != nil {
		up, down = c.Behavior.ScaleUp.Tolerance, c.Behavior.ScaleDown.Tolerance
	}
	return 1-down <= ratio && ratio <= 1+up
}
