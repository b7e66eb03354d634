package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/sources"
)

// ServeConfig is the configuration of Serve.
type ServeConfig struct {
	// Fleet is a file, "-" standard input; empty = the built-in fleet.
	Fleet string
	// GRPCAddress and HTTPAddress are listened on.
	GRPCAddress, HTTPAddress string
	// Interval between plans, > 0.
	Interval time.Duration
	// Speed is simulated seconds per second, > 0.
	Speed float64
	// Engine as in Request.
	Engine string
	// Ledger is the file that decisions are kept in; empty = none.
	Ledger string
}

// validate reports every setting that makes no sense.
func (c *ServeConfig) validate() error {
	var v message.Violations
	if c.Interval <= 0 {
		v = append(v, message.Violation{Path: "--interval", Message: fmt.Sprintf("%s is not positive", c.Interval)})
	}
	if !(c.Speed > 0 && c.Speed <= 1e6) {
		v = append(v, message.Violation{Path: "--speed", Message: fmt.Sprintf("%g is not in (0, 1e6]", c.Speed)})
	}
	if len(v) == 0 && c.Interval.Seconds()*c.Speed > mostStep.Seconds() {
		v = append(v, message.Violation{
			Path: "--speed", Message: fmt.Sprintf("%s at speed %g is more than a day between plans", c.Interval, c.Speed),
		})
	}
	if len(v) > 0 {
		return &InputError{v}
	}
	return nil
}

// mostStep is the longest simulated time between plans.
const mostStep = 24 * time.Hour

// Serve answers gRPC and REST and keeps planning a simulated fleet until ctx ends.
// It prints the first plan and every change after it.
func Serve(ctx context.Context, c ServeConfig, in io.Reader, out io.Writer) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	p, err := newPlanner(c.Engine)
	if err != nil {
		return &InputError{err}
	}
	fleet, err := serveFleet(c.Fleet, in)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	loop, err := newLoop(c, p, fleet, registry, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loop.close()) }()
	srv, err := server.New(server.Services{Optimizer: server.NewOptimizer(p), Fleet: server.NewFleet(loop.view)}, registry)
	if err != nil {
		return err
	}
	grpcListener, httpListener, err := listen(ctx, c)
	if err != nil {
		return err
	}
	loop.urls = fmt.Sprintf("REST     http://%[1]s/v1/optimize, /v1/decisions (OpenAPI at http://%[1]s/openapi.json)\nmetrics  http://%[1]s/metrics\ngRPC     %[2]s",
		httpListener.Addr(), grpcListener.Addr())

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return srv.Serve(ctx, grpcListener, httpListener) })
	group.Go(func() error { return loop.run(ctx) })
	return group.Wait()
}

func serveFleet(file string, in io.Reader) (planner.Fleet, error) {
	var m *poolwrightv1.Fleet
	var err error
	if file == "" {
		m, err = sources.ReadFleet(examples.Mix)
	} else {
		m, err = readFleet(file, in)
	}
	if err != nil {
		return planner.Fleet{}, &InputError{err}
	}
	return fleetOf(m)
}

func listen(ctx context.Context, c ServeConfig) (grpcListener, httpListener net.Listener, err error) {
	var config net.ListenConfig
	if grpcListener, err = config.Listen(ctx, "tcp", c.GRPCAddress); err != nil {
		return nil, nil, fmt.Errorf("gRPC: %w", err)
	}
	if httpListener, err = config.Listen(ctx, "tcp", c.HTTPAddress); err != nil {
		_ = grpcListener.Close()
		return nil, nil, fmt.Errorf("HTTP: %w", err)
	}
	return grpcListener, httpListener, nil
}

// loop runs the controller over a simulated fleet, and tells what it does.
type loop struct {
	config     ServeConfig
	fleet      *simulation.Fluid
	controller *controller.Controller
	view       view
	ledger     *ledger.Writer // nil where none is kept
	metrics    *loopMetrics
	out        io.Writer
	urls       string
}

// view is the loop as people see it and speak to it.
type view struct {
	*controller.History
	*controller.Pauses
}

// demoMorning is the time of the simulated day at which serve starts.
const demoMorning = 8 * time.Hour

func newLoop(c ServeConfig, p *planner.Planner, fleet planner.Fleet, registry *prometheus.Registry, out io.Writer) (*loop, error) {
	curves := make([]simulation.Curve, len(fleet.Workloads))
	for i := range curves {
		// Peaks two hours apart, so that workloads hand devices over to one another.
		curves[i] = simulation.Curve{Trough: 0.25, Peak: 14*time.Hour + time.Duration(i%6)*2*time.Hour}
	}
	fleet.Control.Cycle = c.step()
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(demoMorning)
	fluid, err := simulation.NewFluid(fleet, curves, now)
	if err != nil {
		return nil, err
	}
	people := view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}}
	l := &loop{config: c, fleet: fluid, view: people, metrics: newLoopMetrics(registry), out: out}
	config := controller.Config{
		Planner: p, Catalog: fluid, Observer: fluid, Actuator: fluid, History: people.History, Pauses: people.Pauses,
	}
	if c.Ledger != "" {
		if l.ledger, config.Sequence, err = openLedger(c, out); err != nil {
			return nil, err
		}
		config.Ledger = l.ledger
	}
	l.controller = controller.New(config)
	return l, nil
}

// close ends the ledger.
func (l *loop) close() error {
	if l.ledger == nil {
		return nil
	}
	return l.ledger.Close()
}

func (l *loop) run(ctx context.Context) error {
	if err := l.first(ctx); err != nil {
		return err
	}
	ticker := time.NewTicker(l.config.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := l.fleet.Advance(l.fleet.Now().Add(l.config.step())); err != nil {
			return err
		}
		entry, err := l.tick(ctx)
		if err != nil {
			err = l.complain(err)
		} else {
			err = l.report(&entry)
		}
		if err != nil {
			return err
		}
	}
}

// step is the simulated time between plans, whatever cycle the fleet declares.
func (c *ServeConfig) step() time.Duration {
	return time.Duration(float64(c.Interval) * c.Speed)
}

// tick runs one cycle under the fleet's time limit and counts it.
func (l *loop) tick(ctx context.Context) (controller.Entry, error) {
	fleet, _, err := l.fleet.Fleet(ctx)
	if err != nil {
		return controller.Entry{}, err
	}
	limited, cancel := context.WithTimeout(ctx, fleet.Objective.TimeLimit)
	defer cancel()
	began := time.Now()
	entry, err := l.controller.Tick(ctx, l.fleet.Now(), server.Stop(limited))
	if err != nil || entry.Failure != "" {
		l.metrics.failures.Inc()
	}
	if err != nil {
		return entry, err
	}
	l.metrics.observe(&entry.Decision, len(entry.Decision.Changes), time.Since(began))
	return entry, nil
}

// complain prints why a cycle failed; the next one starts afresh.
func (l *loop) complain(failure error) error {
	_, err := fmt.Fprintf(l.out, "%s  %v\n", l.fleet.Now().Format("15:04"), failure)
	return err
}

// first makes the first plan and prints it as a table.
func (l *loop) first(ctx context.Context) error {
	entry, err := l.tick(ctx)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(l.out, "Plan for %s of a simulated day:\n\n", l.fleet.Now().Format("15:04")); err != nil {
		return err
	}
	if err := writeTable(l.out, message.Plan(&entry.Decision)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.out, "\n%s\n\nPlanning again every %s; each time %.4g minutes of the simulated day have passed. Changes:\n",
		l.urls, l.config.Interval, l.config.step().Minutes())
	return err
}

// report prints what a cycle changes, a line each, and nothing without changes.
func (l *loop) report(e *controller.Entry) error {
	if e.Failure != "" {
		if err := l.complain(errors.New(e.Failure)); err != nil {
			return err
		}
	}
	if len(e.Decision.Changes) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(l.out, "%s  %s\n", l.fleet.Now().Format("15:04"), summary(message.Plan(&e.Decision))); err != nil {
		return err
	}
	for _, c := range e.Decision.Changes {
		if _, err := fmt.Fprintf(l.out, "       %s %s: %d → %d\n", c.Workload, c.Variant, c.From, c.To); err != nil {
			return err
		}
	}
	return nil
}
