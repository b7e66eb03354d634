package autoscaler

import (
	"fmt"
	"strings"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/hindsight"
)

// Settings are an autoscaler that is not made for a cluster yet.
type Settings interface {
	// Name says what it is, with what distinguishes it in a grid.
	Name() string
	// Validate returns every mistake, each with its path.
	Validate() error
	// New returns one for a cluster that has not run.
	New(c *simulation.Cluster, r Resources) (simulation.Autoscaler, error)
	// Grid is the settings in which it is compared, its default included.
	Grid() []Settings
}

// Resources are what an autoscaler may need beyond the cluster.
type Resources struct {
	// Engine solves linear programs; nil is that of package optimizer.
	Engine lp.Engine
	// Schedule is what [Static] and [Clairvoyant] know of the future.
	Schedule *hindsight.Schedule
	// Ledger is what Poolwright's loop keeps of its decisions; nil = nothing.
	Ledger controller.Ledger
}

// Kinds returns all autoscalers in their defaults.
func Kinds() []Settings {
	return []Settings{
		Poolwright{},
		DefaultHPA(Queue), DefaultHPA(KVUsage), DefaultHPA(Concurrency),
		DefaultKPA(),
		DefaultKthena(Queue), DefaultKthenaHeterogeneous(Queue),
		DefaultSaturation(),
		DefaultInferno(),
		Static{},
		Clairvoyant{},
	}
}

// brief writes whole minutes without seconds.
func brief(d time.Duration) string {
	text := d.String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		return whole + "m"
	}
	return text
}

// Metric is what one replica reports.
type Metric int

const (
	// Queue is its requests that wait, vllm:num_requests_waiting.
	Queue Metric = iota
	// KVUsage is the share of its KV cache in use, vllm:kv_cache_usage_perc.
	KVUsage
	// Concurrency is its requests that run or wait.
	Concurrency
)

// String is the metric's name in those of autoscalers.
func (m Metric) String() string {
	switch m {
	case Queue:
		return "queue"
	case KVUsage:
		return "kv"
	case Concurrency:
		return "concurrency"
	}
	return fmt.Sprintf("Metric(%d)", int(m))
}

// DefaultTarget is the value per replica of a metric that published examples aim at.
func (m Metric) DefaultTarget() float64 {
	switch m {
	case Queue:
		return 5
	case KVUsage:
		return 0.8
	default:
		return 100
	}
}

// targets is the grid of targets of a metric.
func (m Metric) targets() []float64 {
	switch m {
	case Queue:
		return []float64{1, 2, 3, 5, 10, 20, 50}
	case KVUsage:
		return []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}
	default:
		return []float64{8, 16, 32, 48, 64, 100, 128, 160, 192, 250}
	}
}

func (m Metric) validate() error {
	if m < Queue || m > Concurrency {
		return fmt.Errorf("autoscaler: metric: %d is no metric", int(m))
	}
	return nil
}
