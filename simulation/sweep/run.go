package sweep

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Simulate runs one simulation on a number of processors.
type Simulate func(ctx context.Context, s *poolwrightv1.Simulation, workers int) (*poolwrightv1.SimulationResult, error)

// Run simulates the points of a shard, several at a time, and calls done after each with the
// numbers of those that are done and of all; done may be nil. What differs between
// equal runs, processor times, and what would fill disks, series over time, is left out, so
// that equal sweeps have equal results.
func (s *Sweep) Run(ctx context.Context, shard Shard, simulate Simulate, done func(points, of int)) (*poolwrightv1.Sweep, error) {
	if err := shard.check(); err != nil {
		return nil, err
	}
	m, err := s.message(shard)
	if err != nil {
		return nil, err
	}
	m.Results = make([]*poolwrightv1.SweepPoint, shard.size(s.points))
	processors := runtime.GOMAXPROCS(0)
	together := max(1, min(processors, len(m.Results)))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	var progress sync.Mutex
	finished := 0
	for i := range m.Results {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			p, err := s.point(ctx, shard.Index+i*shard.Count, simulate, max(1, processors/together))
			if err != nil {
				return err
			}
			m.Results[i] = p
			progress.Lock()
			defer progress.Unlock()
			if finished++; done != nil {
				done(finished, len(m.Results))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return m, nil
}

// point simulates one point.
func (s *Sweep) point(ctx context.Context, index int, simulate Simulate, workers int) (*poolwrightv1.SweepPoint, error) {
	m, err := s.At(index)
	if err != nil {
		return nil, err
	}
	values := s.Values(index)
	result, err := simulate(ctx, m, workers)
	if err != nil {
		return nil, fmt.Errorf("sweep: point %d, %s: %w", index, s.describe(values), err)
	}
	result.Demand = nil
	for _, a := range result.GetAutoscalers() {
		a.Replicas, a.Latencies, a.CostPerHour = nil, nil, nil
		for _, run := range a.GetRuns() {
			run.ProcessorSeconds = 0
		}
	}
	return &poolwrightv1.SweepPoint{Index: int32(index), Values: values, Result: result}, nil //nolint:gosec // below MaxPoints
}

// describe names a point.
func (s *Sweep) describe(values []string) string {
	text := ""
	for i, d := range s.dimensions {
		if i > 0 {
			text += " "
		}
		text += d.Path + "=" + values[i]
	}
	return text
}
