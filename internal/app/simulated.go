package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/controller/ledger"
	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/telemetry"
	"github.com/poolwright/poolwright/internal/tracing"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/sources"
)

// SimulationConfig is the fleet that Serve plans where there is no cluster.
type SimulationConfig struct {
	// Fleet is a file, "-" standard input; empty = the built-in fleet.
	Fleet string
	// Interval between plans, > 0.
	Interval time.Duration
	// Speed is simulated seconds per second, > 0.
	Speed float64
}

// validate reports every setting that makes no sense.
func (c *SimulationConfig) validate() error {
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

// step is the simulated time between plans, whatever cycle the fleet declares.
func (c *SimulationConfig) step() time.Duration {
	return time.Duration(float64(c.Interval) * c.Speed)
}

func (c *SimulationConfig) fleet(in io.Reader) (planner.Fleet, error) {
	var m *poolwrightv1.Fleet
	var err error
	if c.Fleet == "" {
		m, err = sources.ReadFleet(examples.Mix)
	} else {
		m, err = readFleet(c.Fleet, in)
	}
	if err != nil {
		return planner.Fleet{}, &InputError{err}
	}
	f, err := fleetOf(m)
	return f, inFile(c.Fleet, err)
}

// simulatedLoop runs the controller over a simulated fleet, and tells what it does.
type simulatedLoop struct {
	config    SimulationConfig
	objective planner.Objective
	fleet     *simulation.Fluid
	cycle     cycle
	pulse     pulse
	ledger    *ledger.Writer // nil where none is kept
	tell      teller
	// grpc and http are listened on.
	grpc, http net.Addr
}

// demoMorning is the time of the simulated day at which serve starts.
const demoMorning = 8 * time.Hour

func newSimulatedLoop(c ServeConfig, p *planner.Planner, people view, with instruments, in io.Reader, out io.Writer) (*simulatedLoop, error) {
	if err := c.Simulation.validate(); err != nil {
		return nil, err
	}
	fleet, err := c.Simulation.fleet(in)
	if err != nil {
		return nil, err
	}
	curves := make([]simulation.Curve, len(fleet.Workloads))
	for i := range curves {
		// Peaks two hours apart, so that workloads hand devices over to one another.
		curves[i] = simulation.Curve{Trough: 0.25, Peak: 14*time.Hour + time.Duration(i%6)*2*time.Hour}
	}
	fleet.Control.Cycle = c.Simulation.step()
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(demoMorning)
	fluid, err := simulation.NewFluid(fleet, curves, now)
	if err != nil {
		return nil, err
	}
	l := &simulatedLoop{config: c.Simulation, objective: fleet.Objective, fleet: fluid, tell: newTeller(&c, out, with.log)}
	config := controller.Config{
		Planner: p, Catalog: fluid, Observer: fluid, Actuator: fluid, History: people.History, Pauses: people.Pauses,
	}
	if c.Ledger != "" {
		var found ledger.Found
		if l.ledger, found, err = ledger.Open(ledger.Config{Path: c.Ledger, Origin: origin(c.Engine)}); err != nil {
			return nil, err
		}
		config.Ledger, config.Sequence = l.ledger, found.Sequence
		if torn := cutOff(found); torn != "" {
			with.log.Warn("the ledger was cut off", "where", torn)
		}
	}
	l.cycle = newCycle(config, telemetry.New(with.registry, telemetry.Config{}), &l.pulse, tracing.NewLoop(with.traces), with.precedence, nil)
	return l, nil
}

// cluster is the one of the kubeconfig, or that the process runs in.
func (l *simulatedLoop) cluster() kube.Config { return kube.Config{} }

// scaler takes decisions of any age: the clock of the simulation is not the system's.
func (l *simulatedLoop) scaler(decisions server.Decisions, _ *access.Access) server.ScalerConfig {
	return server.ScalerConfig{Decisions: decisions, TTL: -1}
}

func (*simulatedLoop) show(own *server.Fleet) poolwrightv1.FleetServiceServer { return own }

func (l *simulatedLoop) live() error { return l.pulse.live(time.Now()) }

func (l *simulatedLoop) ready() error { return l.pulse.ready(time.Now()) }

func (l *simulatedLoop) close() error {
	if l.ledger == nil {
		return nil
	}
	return l.ledger.Close()
}

func (l *simulatedLoop) listening(grpc, http net.Addr) {
	l.grpc, l.http = grpc, http
}

func (l *simulatedLoop) run(ctx context.Context) error {
	l.pulse.lead(time.Now())
	first, err := l.tick(ctx)
	if err != nil {
		return err
	}
	if err := l.tell.began(&first, l.grpc, l.http); err != nil {
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
			err = l.tell.failed(l.fleet.Now(), err)
		} else {
			err = l.tell.decided(&entry)
		}
		if err != nil {
			return err
		}
	}
}

func (l *simulatedLoop) tick(ctx context.Context) (controller.Entry, error) {
	return l.cycle.run(ctx, l.fleet.Now(), l.config.Interval, l.objective)
}
