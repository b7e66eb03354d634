package planner

import (
	"time"

	"github.com/poolwright/poolwright/calibration"
)

// Observation is what was measured of one workload.
type Observation struct {
	// Workload is the qualified name.
	Workload string
	// Window is the time, up to the snapshot, over which rates are means; 0 = since the last
	// cycle.
	Window time.Duration
	// ArrivalRate is in requests/s, in total.
	ArrivalRate Measurement
	// CompletionRate is of requests that ended, in requests/s, in total. Where the arrival
	// rate is not fresh, arrivals are completions and the growth of Running and Waiting.
	CompletionRate Measurement
	// RecentCompletionRate is CompletionRate since about the last cycle.
	RecentCompletionRate Measurement
	// Running and Waiting are requests in batches and in queues, in total.
	Running, Waiting Measurement
	// Age is how long ago these were counted, on the mean over replicas.
	Age time.Duration
	// InputTokens and OutputTokens are mean lengths of the requests that ended, in tokens, and
	// InputSCV and OutputSCV their squared coefficients of variation. They count where the
	// workload declares no lengths. Incomplete are those of the replicas that report.
	InputTokens, OutputTokens Measurement
	InputSCV, OutputSCV       Measurement
	// Variants are what replicas were seen to do; those left out were not observed.
	Variants []VariantObservation
}

// VariantObservation is what the replicas of one variant were seen to do.
type VariantObservation struct {
	Variant string
	// Replica is the mean over replicas in the window of time that ended with the snapshot;
	// without a Window there was none.
	Replica calibration.Observation
	// Metrics are those that the policy of the workload follows, by name; those left out were
	// not observed.
	Metrics []MetricValues
}

// MetricValues are those of one metric on the replicas of a variant.
type MetricValues struct {
	Name string
	// Values are those of replicas that serve, and Missing is the number of others that
	// serve and have none.
	Values  []float64
	Missing int
}

// Measurement is a measured value, or the reason why there is none.
type Measurement struct {
	State MeasurementState
	// Value counts only when State is Fresh or Incomplete.
	Value float64
}

// MeasurementState tells whether a measurement may be relied on.
type MeasurementState int

const (
	// Missing: nothing was measured.
	Missing MeasurementState = iota
	// Fresh: the value may be relied on.
	Fresh
	// Stale: the last value is too old.
	Stale
	// Invalid: what was measured is NaN, infinite or negative.
	Invalid
	// Incomplete: only some replicas reported; the true value is no less.
	Incomplete
)

// String names the state as reasons do.
func (s MeasurementState) String() string {
	switch s {
	case Fresh:
		return "fresh"
	case Stale:
		return "stale"
	case Invalid:
		return "invalid"
	case Missing:
		return "missing"
	case Incomplete:
		return "incomplete"
	}
	return "unknown"
}

// Pause keeps the hands of the loop off a workload.
type Pause struct {
	// Workload is the qualified name.
	Workload string
	Reason   string
	// Until is when the pause ends by itself; zero = never.
	Until time.Time
}
