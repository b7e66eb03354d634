package whatif

import (
	"context"
	"fmt"
	"sync"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/hindsight"
	"github.com/poolwright/poolwright/simulation/trace"
)

// future is what will arrive, and how that is served at the least cost. What is asked for is
// found once for each seed, for as many callers as there are.
type future struct {
	simulated *message.Simulated
	schedules map[uint64]func() (*hindsight.Schedule, error)
}

func newFuture(ctx context.Context, s *message.Simulated, engine lp.Engine) *future {
	f := &future{simulated: s, schedules: make(map[uint64]func() (*hindsight.Schedule, error), len(s.Seeds))}
	for _, seed := range s.Seeds {
		f.schedules[seed] = sync.OnceValues(func() (*hindsight.Schedule, error) {
			of := autoscaler.Future{
				Fleet: s.Cluster.Fleet, Traffic: s.Traffic, Undeclared: s.Cluster.Undeclared, Seed: seed,
				Duration: s.Duration, From: s.Warmup, Window: s.Window, Engine: engine,
			}
			return of.Schedule(func() bool { return ctx.Err() != nil })
		})
	}
	return f
}

func (f *future) schedule(seed uint64) (*hindsight.Schedule, error) { return f.schedules[seed]() }

// bound is the least that anybody pays who serves every window's rate as far as the pools
// let anybody; false where they let nobody serve anything.
func (f *future) bound(seed uint64) (float64, bool, error) {
	s, err := f.schedule(seed)
	if err != nil {
		return 0, false, err
	}
	return s.Bound, s.Bound > 0, nil
}

// requests is how many are expected with the first seed.
func (f *future) requests() (float64, error) {
	total := 0.0
	for _, w := range f.simulated.Traffic {
		seconds := f.simulated.Duration.Seconds()
		rates, err := trace.Rates(w, f.simulated.Seeds[0], seconds, 1)
		if err != nil {
			return 0, fmt.Errorf("traffic of %s: %w", w.Name, err)
		}
		total += rates[0] * seconds
	}
	return total, nil
}
