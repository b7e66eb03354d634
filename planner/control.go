package planner

import (
	"time"

	"github.com/poolwright/poolwright/forecast"
	"github.com/poolwright/poolwright/optimizer"
)

// Control says how the loop follows its plans. It counts only in decisions with
// observations.
type Control struct {
	// Cycle is the time between decisions; 0 = DefaultCycle.
	Cycle time.Duration
	// Policy of workloads without one of their own; zero = policy.DefaultNative.
	Policy Policy
	// Forecast is how demand is predicted.
	Forecast forecast.Config
	// BacklogDrain is the time in which requests that wait when new replicas are ready are
	// to be served; 0 = DefaultBacklogDrain.
	BacklogDrain time.Duration
	// DevicesPerCycle is the most devices that one cycle adds. The first replica that it
	// adds may need more; 0 = no cycle adds any.
	DevicesPerCycle optimizer.Bound
}

// Defaults of Control.
const (
	DefaultCycle        = 15 * time.Second
	DefaultBacklogDrain = 2 * time.Minute
)
