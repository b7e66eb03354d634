package actuator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// Config is what an actuator works with. Client and Targets are needed; what is 0 or empty
// has its default.
type Config struct {
	Client  *kube.Client
	Targets Targets
	// FieldManager owns the fields that are written; default [resource.FieldManager]. It is
	// to be the same for all processes of an installation, and another one for each
	// installation in a cluster.
	FieldManager string
	// Instance names the process in events; default the name of the host, which is the pod's.
	Instance string
	// Concurrency is the most requests at a time; default 32.
	Concurrency int
	// Timeout limits each call of Apply and of Publish, so that an API server that does not
	// answer takes no more of a cycle; default 5 s.
	Timeout time.Duration
}

const (
	defaultConcurrency = 32
	defaultTimeout     = 5 * time.Second
)

// Actuator carries decisions out. Its calls may be made by many goroutines.
type Actuator struct {
	config   Config
	refusals refusals
	sent     sent
	events   recorder
}

var _ controller.Actuator = (*Actuator)(nil)

// New returns an actuator.
func New(c Config) *Actuator {
	if c.FieldManager == "" {
		c.FieldManager = resource.FieldManager
	}
	if c.Instance == "" {
		c.Instance, _ = os.Hostname()
	}
	if c.Instance == "" {
		c.Instance = c.FieldManager
	}
	if c.Concurrency == 0 {
		c.Concurrency = defaultConcurrency
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return &Actuator{config: c}
}

// Apply implements [controller.Actuator]: it writes the scale of the targets in mode Apply,
// asks the API server about those in mode DryRun, and leaves those in mode Recommend to
// others. All changes are attempted, additions and removals alike; their order is the
// caller's.
func (a *Actuator) Apply(ctx context.Context, changes []planner.Change) []error {
	ctx, cancel := context.WithTimeout(ctx, a.config.Timeout)
	defer cancel()
	b := &batch{Actuator: a}
	errs := make([]error, len(changes))
	a.each(len(changes), func(i int) {
		if err := b.carryOut(ctx, &changes[i]); err != nil {
			errs[i] = fmt.Errorf("actuator: %w", err)
		}
	})
	return errs
}

// each calls do for 0 … n-1, some at a time.
func (a *Actuator) each(n int, do func(i int)) {
	var group errgroup.Group
	group.SetLimit(a.config.Concurrency)
	for i := range n {
		group.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = group.Wait() // nothing returns an error
}

// batch is the changes of one call.
type batch struct {
	*Actuator
	// forget resets what is known of the kinds of the cluster, once.
	forget sync.Once
}

// carryOut carries out one change as far as its mode says.
func (b *batch) carryOut(ctx context.Context, c *planner.Change) error {
	target, ok := b.config.Targets.Target(c.Workload, c.Variant)
	if !ok {
		return errors.New("the object to scale is not known: no object in the cluster declares the variant")
	}
	if c.To < 0 || c.To > math.MaxInt32 {
		return fmt.Errorf("%s cannot be scaled to %d", target.Object, c.To)
	}
	var dryRun bool
	switch mode := target.EffectiveMode(); mode {
	case resource.Apply:
	case resource.DryRun:
		dryRun = true
	case resource.Recommend:
		return nil
	default:
		return fmt.Errorf("%s is left alone: its mode is %q", target.Object, mode)
	}
	asked := question{target.Object, c.To, dryRun}
	if err := b.refusals.of(asked, time.Now()); err != nil {
		return err
	}
	err := b.scale(ctx, &target.Object, c, dryRun)
	if permanent(err) {
		b.refusals.add(asked, err, time.Now())
	}
	return err
}
