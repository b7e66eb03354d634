package study

import (
	"errors"
	"fmt"
	"time"

	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Config is a comparison.
type Config struct {
	// Name, shown in results.
	Name string
	// Cluster is what every run has. Requests, Seed and Window are set for each run; its
	// OnRequest, where not nil, is called by several runs at a time.
	Cluster simulation.Config
	// Traffic is what arrives for each workload, in the order of the fleet.
	Traffic []trace.Workload
	// Autoscalers, at least one, with unique names.
	Autoscalers []Autoscaler
	// Seeds, at least one, unique.
	Seeds []uint64
	// Duration is how long requests arrive, the warm-up included; Warmup is the time in
	// the beginning that does not count, rounded up to whole windows, and shorter.
	Duration, Warmup time.Duration
	// Window is the length of the windows that series are in; 0 = [DefaultWindow].
	Window time.Duration
	// Bound returns the least that any autoscaler could pay for serving what arrives with
	// a seed in the time that counts; false where nobody can serve anything. nil = not known.
	Bound func(seed uint64) (float64, bool, error)
	// Workers is the most runs at a time; 0 = one for each processor.
	Workers int
}

// Autoscaler is one of those that are compared.
type Autoscaler struct {
	Name string
	// New returns one for a cluster that has not run, whose requests are those of a seed.
	New func(c *simulation.Cluster, seed uint64) (simulation.Autoscaler, error)
}

// mostWindows is the most windows of a series without a declared length.
const mostWindows = 1440

// DefaultWindow is the length of the windows of a simulation of some duration: a minute or,
// where that would be more than 1,440 windows, as many whole seconds as make at most so many.
func DefaultWindow(duration time.Duration) time.Duration {
	return max(time.Minute, roundUp(duration/mostWindows+min(1, duration%mostWindows), time.Second))
}

// check reports every mistake.
func (c *Config) check() error {
	var mistakes []error
	fail := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf("study: "+format, args...)) }
	if len(c.Traffic) != len(c.Cluster.Fleet.Workloads) {
		fail("traffic of %d workloads for %d", len(c.Traffic), len(c.Cluster.Fleet.Workloads))
	}
	if len(c.Autoscalers) == 0 {
		fail("no autoscaler")
	}
	names := map[string]bool{}
	for i, a := range c.Autoscalers {
		if names[a.Name] {
			fail("autoscalers[%d].name: %q is not unique", i, a.Name)
		}
		names[a.Name] = true
	}
	if len(c.Seeds) == 0 {
		fail("no seed")
	}
	seeds := map[uint64]bool{}
	for i, s := range c.Seeds {
		if seeds[s] {
			fail("seeds[%d]: %d is not unique", i, s)
		}
		seeds[s] = true
	}
	if c.Duration <= 0 {
		fail("duration: %s is not above 0", c.Duration)
	}
	if c.Window < 0 {
		fail("window: %s is below 0", c.Window)
	}
	if warmup := c.warmup(); c.Warmup < 0 || c.Duration > 0 && warmup >= c.Duration {
		fail("warmup: %s, in windows of %s, leaves nothing of %s", c.Warmup, c.window(), c.Duration)
	}
	return errors.Join(mistakes...)
}

func (c *Config) window() time.Duration {
	if c.Window > 0 {
		return c.Window
	}
	return DefaultWindow(c.Duration)
}

// warmup is the time that does not count, in whole windows.
func (c *Config) warmup() time.Duration {
	return roundUp(c.Warmup, c.window())
}

// roundUp returns the least multiple that is not below a duration.
func roundUp(d, multiple time.Duration) time.Duration {
	if rest := d % multiple; rest > 0 {
		return d - rest + multiple
	}
	return d
}

// windows is the number of windows that count.
func (c *Config) windows() int {
	return int(roundUp(c.Duration-c.warmup(), c.window()) / c.window())
}
