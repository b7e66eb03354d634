package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/telemetry"
	"github.com/poolwright/poolwright/internal/tracing"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// ServeConfig is the configuration of Serve.
type ServeConfig struct {
	// Cluster is a file that configures the loop over a cluster; empty = a simulated fleet.
	Cluster    string
	Simulation SimulationConfig
	// GRPCAddress and HTTPAddress are listened on.
	GRPCAddress, HTTPAddress string
	// Engine as in Request.
	Engine string
	// Ledger is the file that decisions are kept in; empty = none.
	Ledger string
	// Server is a file that says who may reach the process; empty = who is on this machine.
	Server string
	// scheme is that of the URLs that it prints.
	scheme string
	Log    LogConfig
}

// Serve answers gRPC and REST and keeps planning a fleet until ctx ends: that of a
// cluster, or a simulated one. It logs what the loop does.
func Serve(ctx context.Context, c ServeConfig, in io.Reader, out io.Writer) (err error) {
	engine, err := lp.ByName(c.Engine)
	if err != nil {
		return &InputError{err}
	}
	log, err := c.Log.logger(out)
	if err != nil {
		return err
	}
	if err := heedMemory(); err != nil {
		return err
	}
	defer paceGarbage().end()
	reach, err := newReach(c.Server, log)
	if err != nil {
		return err
	}
	c.scheme = reach.scheme()
	p := planner.New(engine)
	with := instruments{registry: prometheus.NewRegistry(), log: log, precedence: &server.Precedence{}}
	var endTraces func()
	if with.traces, endTraces, err = traces(ctx, reach.now.Load().Tracing, log); err != nil {
		return err
	}
	defer endTraces()
	live := collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile(`^/gc/heap/live:bytes$`)}
	with.registry.MustRegister(collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(live)), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if reach.file != nil {
		with.registry.MustRegister(telemetry.ConfigValid("server", reach.file.valid))
	}
	people := view{controller.NewHistory(controller.HistoryConfig{}), &controller.Pauses{}}
	var l loop
	if c.Cluster != "" {
		l, err = newClusterLoop(c, p, people, with)
	} else {
		l, err = newSimulatedLoop(c, p, people, with, in, out)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if err := reach.open(l.cluster()); err != nil {
		return err
	}
	srv, err := server.New(server.Config{
		Services: server.Services{
			Optimizer:  server.NewOptimizer(p),
			Fleet:      l.show(server.NewFleet(people)),
			Simulation: server.NewSimulation(simulations(engine)),
			Scaler:     server.NewScaler(l.scaler(people, reach.access)),
		},
		Registry: with.registry, Limits: reach.limits, Precedence: with.precedence, Live: l.live, Ready: l.ready, Log: log, Traces: with.traces, Access: reach.access,
	})
	if err != nil {
		return err
	}
	grpcListener, httpListener, err := listen(ctx, c)
	if err != nil {
		return err
	}
	if err := reach.listening(grpcListener.Addr(), httpListener.Addr()); err != nil {
		return errors.Join(err, grpcListener.Close(), httpListener.Close())
	}
	l.listening(grpcListener.Addr(), httpListener.Addr())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return srv.Serve(ctx, grpcListener, httpListener) })
	group.Go(func() error { return l.run(ctx) })
	group.Go(func() error {
		reach.run(ctx)
		return nil
	})
	return group.Wait()
}

// simulations limits what callers may have simulated: the loop must not wait for them. They
// open no files.
func simulations(engine lp.Engine) server.SimulationConfig {
	const atATime = 2
	return server.SimulationConfig{
		Simulator:  &simulator{engine: engine, mostRequests: 1e8, workers: max(1, runtime.GOMAXPROCS(0)/(2*atATime))},
		Concurrent: atATime,
		Every:      500 * time.Millisecond,
	}
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

// loop keeps planning a fleet.
type loop interface {
	// listening says where the loop can be asked about.
	listening(grpc, http net.Addr)
	// run plans until ctx ends.
	run(ctx context.Context) error
	// cluster is the one whose API server knows callers.
	cluster() kube.Config
	// scaler is how KEDA is answered, and the leader asked.
	scaler(decisions server.Decisions, a *access.Access) server.ScalerConfig
	// show is how people are answered; own is the loop of this process.
	show(own *server.Fleet) poolwrightv1.FleetServiceServer
	// live returns why the loop will not go on by itself, and ready why this process cannot
	// plan.
	live() error
	ready() error
	// close ends the ledger.
	close() error
}

// view is the loop as people see it and speak to it.
type view struct {
	*controller.History
	*controller.Pauses
}

// cycle runs a controller, and counts what it does.
type cycle struct {
	controller *controller.Controller
	metrics    *telemetry.Loop
	pulse      *pulse
	traces     *tracing.Loop
	precedence *server.Precedence
	// publish writes about what was decided, whether or not the ledger has it; nil where nobody
	// reads it.
	publish publish
}

// publish writes about a decision, and returns what objects say beyond it.
type publish func(context.Context, *controller.Entry) telemetry.Declared

func newCycle(c controller.Config, m *telemetry.Loop, alive *pulse, t *tracing.Loop, before *server.Precedence, p publish) cycle {
	return cycle{controller.New(m.Timed(t.Traced(c))), m, alive, t, before, p}
}

// run runs the controller once, under the time limit of the fleet's objective; every so
// often is how often it is run.
func (c *cycle) run(ctx context.Context, now time.Time, every time.Duration, objective planner.Objective) (controller.Entry, error) {
	defer c.precedence.Begin()()
	began := time.Now()
	ctx = c.traces.Begin(ctx)
	limited, cancel := context.WithTimeout(ctx, objective.TimeLimit)
	defer cancel()
	c.pulse.begin(began, every)
	entry, err := c.controller.Tick(ctx, now, server.Stop(limited))
	var declared telemetry.Declared
	if entry.Sequence > 0 && c.publish != nil {
		c.metrics.Publish(func() {
			c.traces.Publish(ctx, func(ctx context.Context) { declared = c.publish(ctx, &entry) })
		})
	}
	c.traces.End(&entry, err)
	c.metrics.Done(telemetry.Cycle{
		Entry: entry, Err: err, At: time.Now(), Took: time.Since(began), Interval: every, Declared: declared,
	})
	c.pulse.end(time.Now(), entry.Sequence > 0)
	return entry, err
}
