package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/message"
)

// teller tells what the loop over a simulated fleet does.
type teller interface {
	// began tells of the first plan, and where the loop can be asked about.
	began(e *controller.Entry, grpc, http net.Addr) error
	// decided tells of a cycle.
	decided(e *controller.Entry) error
	// failed tells why a cycle failed, whose simulated time is given; the next one starts
	// afresh.
	failed(now time.Time, failure error) error
}

// printer tells it to people.
type printer struct {
	config SimulationConfig
	scheme string // of URLs
	out    io.Writer
}

// began prints the plan as a table.
func (p *printer) began(e *controller.Entry, grpc, http net.Addr) error {
	if _, err := fmt.Fprintf(p.out, "Plan for %s of a simulated day:\n\n", e.Decision.At.Format("15:04")); err != nil {
		return err
	}
	if err := writeTable(p.out, message.Plan(&e.Decision)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, `
page     %[5]s://%[1]s/
REST     %[5]s://%[1]s/v1/optimize, /v1/decisions (OpenAPI at %[5]s://%[1]s/openapi.json)
metrics  %[5]s://%[1]s/metrics
gRPC     %[2]s

Planning again every %[3]s; each time %.4[4]g minutes of the simulated day have passed. Changes:
`, http, grpc, p.config.Interval, p.config.step().Minutes(), p.scheme)
	return err
}

// decided prints what a cycle changes, a line each, and nothing without changes.
func (p *printer) decided(e *controller.Entry) error {
	if e.Failure != "" {
		if err := p.failed(e.Decision.At, errors.New(e.Failure)); err != nil {
			return err
		}
	}
	if len(e.Decision.Changes) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(p.out, "%s  %s\n", e.Decision.At.Format("15:04"), summary(message.Plan(&e.Decision))); err != nil {
		return err
	}
	for _, c := range e.Decision.Changes {
		if _, err := fmt.Fprintf(p.out, "       %s %s: %d → %d\n", c.Workload, c.Variant, c.From, c.To); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) failed(now time.Time, failure error) error {
	_, err := fmt.Fprintf(p.out, "%s  %v\n", now.Format("15:04"), failure)
	return err
}

// logger tells it to the log.
type logger struct{ decisionLog }

func (l *logger) began(e *controller.Entry, grpc, http net.Addr) error {
	l.log.Info("listening", "grpc", grpc.String(), "http", http.String())
	return l.decided(e)
}

func (l *logger) decided(e *controller.Entry) error {
	l.report(e)
	return nil
}

func (l *logger) failed(now time.Time, failure error) error {
	l.log.Error("the cycle failed", "simulated", now, "error", failure)
	return nil
}

// newTeller tells people, unless a format of logs is asked for.
func newTeller(c *ServeConfig, out io.Writer, log *slog.Logger) teller {
	if c.Log.Format == "" {
		return &printer{c.Simulation, c.scheme, out}
	}
	return &logger{decisionLog{log: log.With("fleet", "simulated")}}
}
