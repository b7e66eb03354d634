package study

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Progress is how far a comparison is.
type Progress struct {
	// Done is the share that is done, in [0, 1], and Remaining the time until the end at
	// the pace up to now; 0 as long as that is not known.
	Done      float64
	Remaining time.Duration
	// Runs is autoscalers × seeds, RunsDone those that have ended.
	Runs, RunsDone int
	// Requests is how many were simulated.
	Requests int64
}

// Run simulates all autoscalers with all seeds. It calls progress, where it is not nil, from
// one goroutine at a time after every window of every run. It returns the error of ctx soon
// after that has ended, and nothing of it runs on then.
func Run(ctx context.Context, c Config, progress func(Progress)) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	bounds, err := c.bounds(ctx)
	if err != nil {
		return Result{}, err
	}
	sizes, err := planner.New(nil).Capacities(c.Cluster.Fleet)
	if err != nil {
		return Result{}, fmt.Errorf("study: %w", err)
	}
	runs, err := c.runAll(ctx, newReporter(&c, progress))
	if err != nil {
		return Result{}, err
	}
	return c.result(runs, bounds, sizes), nil
}

// bounds returns the bound of every seed; nil where one has none.
func (c *Config) bounds(ctx context.Context) ([]float64, error) {
	if c.Bound == nil {
		return nil, nil
	}
	bounds := make([]float64, len(c.Seeds))
	for i, seed := range c.Seeds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cost, ok, err := c.Bound(seed)
		if err != nil {
			return nil, fmt.Errorf("study: bound of seed %d: %w", seed, err)
		}
		if !ok {
			return nil, nil
		}
		bounds[i] = cost
	}
	return bounds, nil
}

// runAll returns the totals of all runs, by autoscaler and seed. Runs start in that order,
// as many at a time as there are workers, each of which waits for its own.
func (c *Config) runAll(ctx context.Context, r *reporter) ([][]*totals, error) {
	all := make([][]*totals, len(c.Autoscalers))
	failures := make([]error, len(all)*len(c.Seeds))
	next := make(chan int, len(failures))
	for i := range failures {
		next <- i
	}
	close(next)
	for i := range all {
		all[i] = make([]*totals, len(c.Seeds))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := c.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var done sync.WaitGroup
	for range min(workers, len(failures)) {
		done.Go(func() {
			for i := range next {
				a, s := i/len(c.Seeds), i%len(c.Seeds)
				if all[a][s], failures[i] = c.run(ctx, &c.Autoscalers[a], s, r); failures[i] != nil {
					cancel()
				}
			}
		})
	}
	done.Wait()
	return all, first(failures)
}

// first returns the first failure that is not only that of being cancelled, if there is any.
func first(failures []error) error {
	var cancelled error
	for _, err := range failures {
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			cancelled = err
		default:
			return err
		}
	}
	return cancelled
}

// run simulates one autoscaler with one seed.
func (c *Config) run(ctx context.Context, a *Autoscaler, seed int, r *reporter) (*totals, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	began := time.Now()
	fail := func(err error) (*totals, error) {
		return nil, fmt.Errorf("study: %s, seed %d: %w", a.Name, c.Seeds[seed], err)
	}
	config := c.Cluster
	config.Seed, config.Window = c.Seeds[seed], c.window()
	var failed func() error
	config.Requests, failed = trace.Requests(c.Traffic, c.Seeds[seed])
	cluster, err := simulation.New(config)
	if err != nil {
		return fail(err)
	}
	scaler, err := a.New(cluster, c.Seeds[seed])
	if err != nil {
		return fail(err)
	}
	t := newTotals(c, seed == 0)
	from := config.Start.Add(c.warmup())
	err = cluster.Run(ctx, scaler, config.Start.Add(c.Duration), func(w simulation.Window) {
		if !w.Start.Before(from) {
			t.add(&w)
		}
		r.window(&w)
	})
	if err = errors.Join(err, failed()); err != nil {
		return fail(err)
	}
	r.run()
	t.processor = time.Since(began)
	return t, nil
}

// reporter tells how far all runs are.
type reporter struct {
	mutex    sync.Mutex
	progress func(Progress)
	began    time.Time
	// windows is the number of windows of all runs, seen how many have been simulated.
	windows, seen int
	now           Progress
}

func newReporter(c *Config, progress func(Progress)) *reporter {
	runs := len(c.Autoscalers) * len(c.Seeds)
	each := c.windows() + int(c.warmup()/c.window())
	return &reporter{progress: progress, began: time.Now(), windows: runs * each, now: Progress{Runs: runs}}
}

func (r *reporter) window(w *simulation.Window) {
	arrived := 0
	for i := range w.Workloads {
		arrived += w.Workloads[i].Arrived
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.seen++
	r.now.Requests += int64(arrived)
	r.now.Done = float64(r.seen) / float64(r.windows)
	r.now.Remaining = time.Duration(float64(time.Since(r.began)) * (1 - r.now.Done) / r.now.Done)
	r.report()
}

func (r *reporter) run() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.now.RunsDone++
	r.report()
}

func (r *reporter) report() {
	if r.progress != nil {
		r.progress(r.now)
	}
}
