package kthena

import "time"

// Config is an AutoscalingPolicy and the bounds of its binding. Start from
// [DefaultConfig]; a zero is a zero, not a default.
type Config struct {
	// MinReplicas is in [0, MaxReplicas].
	MinReplicas int
	// MaxReplicas is in [1, 1,000,000].
	MaxReplicas int
	// TolerancePercent is how far the ratio of a metric to its target may be from 1
	// without a change, in [0, 100].
	TolerancePercent int
	// Metrics are what to follow, with unique names; the largest recommendation wins.
	// Without any, [Decide] leaves replicas as they are, and [Permit] follows what it
	// is told.
	Metrics  []Metric
	Readings Readings
	ScaleUp  Stable
	Panic    Panic
	// ScaleDown is like ScaleUp, for the other direction.
	ScaleDown Stable
}

// Metric is a metric and what it should be.
type Metric struct {
	Name string
	// Target is the value per replica; finite and > 0.
	Target float64
}

// Readings says how the values of replicas count.
type Readings int

const (
	// PerReplica is that each replica counts by itself.
	PerReplica Readings = iota
	// Upstream is that the sum over replicas counts as the value of a single one, as
	// in Kthena. The tolerance is that of a single replica's load then.
	Upstream
)

// Stable limits how fast replicas change in one direction.
type Stable struct {
	// Window is how far back recommendations must agree with a change; 0 is no window;
	// at most 30 minutes.
	Window time.Duration
	// Instances and Percent are how many replicas may change within Period; ≥ 0,
	// and at most 1000 percent.
	Instances, Percent int
	// Period 0 is no limit; at most 30 minutes.
	Period time.Duration
	Select Select
}

// Select says how Instances and Percent go together.
type Select int

const (
	// Unlimited is that neither counts.
	Unlimited Select = iota
	// Or permits what either permits.
	Or
	// And permits what both permit.
	And
)

// Panic is when and how far replicas grow at once.
type Panic struct {
	// ThresholdPercent is how much is to be recommended, in percent of the replicas
	// that there are, for a panic; in [110, 1000].
	ThresholdPercent int
	// Hold is how long a panic outlasts its last cause; 0 turns panics off; at most
	// 30 minutes.
	Hold time.Duration
	// Percent is how far replicas may grow within Period, in [0, 1000].
	Percent int
	// Period 0 is no limit; at most 30 minutes.
	Period time.Duration
}

// Limits that Kthena sets.
const (
	MostReplicas = 1_000_000
	MostPercent  = 1000
	LongestTime  = 30 * time.Minute
	leastPanic   = 110
)

// DefaultConfig returns what Kthena's webhook sets where a policy says nothing of its
// behavior, without metrics and maximum: growth by 4 replicas or 100 % a minute at
// once, shrinking by 100 % a minute after 5 minutes, no panic.
func DefaultConfig() Config {
	return Config{
		TolerancePercent: 10,
		ScaleUp:          Stable{Instances: 4, Percent: 100, Period: time.Minute, Select: Or},
		Panic:            Panic{ThresholdPercent: 200},
		ScaleDown:        Stable{Window: 5 * time.Minute, Percent: 100, Period: time.Minute, Select: Or},
	}
}

// SectionDefaults returns what the schema of Kthena's custom resource sets for fields
// that are left out of a section that is there. The period of a panic has no default.
func SectionDefaults() (Stable, Panic) {
	return Stable{Instances: 1, Percent: 100, Period: 15 * time.Second, Select: Or},
		Panic{ThresholdPercent: 200, Hold: time.Minute, Percent: 1000}
}
