package whatif

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/queueing"
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
			windows, err := f.windows(seed)
			if err != nil {
				return nil, err
			}
			return hindsight.Find(
				hindsight.Input{Fleet: s.Cluster.Fleet, Windows: windows, From: s.Warmup, Engine: engine},
				func() bool { return ctx.Err() != nil },
			)
		})
	}
	return f
}

func (f *future) schedule(seed uint64) (*hindsight.Schedule, error) { return f.schedules[seed]() }

// bound is the least that anybody pays who serves every window's rate.
func (f *future) bound(seed uint64) (float64, error) {
	s, err := f.schedule(seed)
	if err != nil {
		return 0, err
	}
	return s.Bound, nil
}

// windows are the rates of what arrives with a seed.
func (f *future) windows(seed uint64) ([]hindsight.Window, error) {
	s := f.simulated
	n := int((s.Duration + s.Window - 1) / s.Window)
	windows := make([]hindsight.Window, n)
	for t := range windows {
		windows[t].Length = min(s.Window, s.Duration-time.Duration(t)*s.Window)
	}
	for _, w := range s.Traffic {
		rates, err := trace.Rates(w, seed, s.Window.Seconds(), n)
		if err != nil {
			return nil, fmt.Errorf("traffic of %s: %w", w.Name, err)
		}
		for t, rate := range rates {
			windows[t].Rates = append(windows[t].Rates, queueing.Rate(rate))
		}
	}
	return windows, nil
}

// requests is how many are expected with the first seed.
func (f *future) requests() (float64, error) {
	windows, err := f.windows(f.simulated.Seeds[0])
	total := 0.0
	for _, w := range windows {
		for _, rate := range w.Rates {
			total += float64(rate) * w.Length.Seconds()
		}
	}
	return total, err
}
