package whatif

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/study"
)

// Config is how simulations are run. The zero value opens no files, keeps no ledger and
// sets no limit.
type Config struct {
	// Engine solves linear programs; nil is that of package optimizer.
	Engine lp.Engine
	// Open opens files of requests; nil = [message.NoFiles].
	Open message.Opener
	// Workers is the most runs at a time; 0 = one for each processor.
	Workers int
	// Ledger keeps the decisions of Poolwright's loop; nil = nobody. A simulation may run
	// that loop only once then.
	Ledger controller.Ledger
	// MostRequests is how many requests all runs together may be expected to have; 0 = any
	// number.
	MostRequests float64
	// Progress, where not nil, is told after every window of every run, never twice at a
	// time.
	Progress func(*poolwrightv1.SimulationProgress)
}

// Run runs a simulation until it is done or ctx ends. An error that is a
// [message.Violations] is bad input, and names every mistake.
func Run(ctx context.Context, m *poolwrightv1.Simulation, c Config) (*poolwrightv1.SimulationResult, error) {
	if c.Open == nil {
		c.Open = message.NoFiles
	}
	s, err := message.Simulation(m, c.Open)
	if err != nil {
		return nil, err
	}
	known := newFuture(ctx, &s, c.Engine)
	if err := c.check(&s, known); err != nil {
		return nil, err
	}
	result, err := study.Run(ctx, c.study(&s, known), c.progress())
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	return message.SimulationResult(&result), nil
}

// check reports what the configuration does not allow.
func (c *Config) check(s *message.Simulated, known *future) error {
	if c.MostRequests > 0 {
		each, err := known.requests()
		if err != nil {
			return err
		}
		if runs := len(s.Autoscalers) * len(s.Seeds); each*float64(runs) > c.MostRequests {
			return message.Violations{{Path: "duration", Message: fmt.Sprintf(
				"about %.3g million requests in each of %d runs are more than the %.3g million allowed here", each/1e6, runs, c.MostRequests/1e6)}}
		}
	}
	if c.Ledger != nil {
		loops := 0
		for _, a := range s.Autoscalers {
			if _, ok := a.Settings.(autoscaler.Poolwright); ok {
				loops++
			}
		}
		if runs := loops * len(s.Seeds); runs != 1 {
			return message.Violations{{Path: "autoscalers", Message: fmt.Sprintf(
				"Poolwright's loop runs %d times, and a ledger is of one: choose an autoscaler and a seed", runs)}}
		}
	}
	return nil
}

// study is the comparison that a simulation asks for.
func (c *Config) study(s *message.Simulated, known *future) study.Config {
	out := study.Config{
		Name: s.Name, Cluster: s.Cluster, Traffic: s.Traffic, Seeds: s.Seeds, Duration: s.Duration, Warmup: s.Warmup, Window: s.Window,
		Bound: known.bound, Workers: c.Workers,
	}
	for _, a := range s.Autoscalers {
		out.Autoscalers = append(out.Autoscalers, study.Autoscaler{
			Name: a.Name,
			New: func(cluster *simulation.Cluster, seed uint64) (simulation.Autoscaler, error) {
				schedule, err := known.schedule(seed)
				if err != nil {
					return nil, err
				}
				return a.Settings.New(cluster, autoscaler.Resources{Engine: c.Engine, Schedule: schedule, Ledger: c.Ledger})
			},
		})
	}
	return out
}

// progress translates that of a study; nil where nobody asks.
func (c *Config) progress() func(study.Progress) {
	if c.Progress == nil {
		return nil
	}
	return func(p study.Progress) {
		m := &poolwrightv1.SimulationProgress{
			Done: p.Done, RunsDone: int32(p.RunsDone), Runs: int32(p.Runs), Requests: p.Requests, //nolint:gosec // at most 100 autoscalers × 100 seeds
		}
		if p.Remaining > 0 {
			m.Remaining = durationpb.New(p.Remaining)
		}
		c.Progress(m)
	}
}
