package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/sources"
)

// ErrUnmet reports an answer, already printed, in which some demand or bound
// can't be met.
var ErrUnmet = errors.New("some demand or bound cannot be met")

// InputError is bad input: a file that can't be read or understood.
type InputError struct{ err error }

// Error names every mistake in the input.
func (e *InputError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.err }

// Question is one of those that can be asked of a fleet file.
type Question int

// The questions.
const (
	Optimize Question = iota
	Explain
	Evaluate
	Capacity
)

// Request is a question about a fleet, and how to answer it.
type Request struct {
	Question Question
	// File holds the fleet; "-" is standard input.
	File string
	// Format of the answer: table, json or yaml.
	Format Format
	// Engine of the linear programs: go, or clp where it is built in.
	Engine string
	// Strategy of Optimize and Explain.
	Strategy Strategy
}

// Ask reads the fleet, answers and prints. The error is an [*InputError] for bad
// input and [ErrUnmet] when an answer was printed that leaves demand or bounds
// unmet.
func Ask(ctx context.Context, r Request, in io.Reader, out io.Writer) error {
	service, err := newService(r.Engine)
	if err != nil {
		return &InputError{err}
	}
	fleet, err := readFleet(r.File, in)
	if err != nil {
		return &InputError{err}
	}
	r.Strategy.apply(fleet)
	answer, unmet, err := ask(ctx, service, r.Question, fleet)
	if err != nil {
		return inFile(r.File, err)
	}
	if err := r.Format.write(out, answer); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if unmet {
		return ErrUnmet
	}
	return nil
}

func newService(engine string) (*server.Optimizer, error) {
	p, err := newPlanner(engine)
	if err != nil {
		return nil, err
	}
	return server.NewOptimizer(p), nil
}

func newPlanner(engine string) (*planner.Planner, error) {
	e, err := lp.ByName(engine)
	if err != nil {
		return nil, err
	}
	return planner.New(e), nil
}

// readFleet reads and checks a fleet: mistakes in its text and in its meaning come
// together.
func readFleet(file string, in io.Reader) (*poolwrightv1.Fleet, error) {
	data, err := readFile(file, in)
	if err != nil {
		return nil, err
	}
	fleet, err := sources.ReadFleet(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return fleet, nil
}

func ask(ctx context.Context, s *server.Optimizer, q Question, fleet *poolwrightv1.Fleet) (answer proto.Message, unmet bool, err error) {
	switch q {
	case Capacity:
		capacities, err := s.Capacity(ctx, fleet)
		return capacities, lacking(capacities), callError(err)
	case Evaluate:
		plan, err := s.Evaluate(ctx, fleet)
		return plan, plan.GetDemand() != poolwrightv1.Plan_SERVED, callError(err)
	case Explain:
		explanation, err := s.Explain(ctx, fleet)
		return explanation, explanation.GetPlan().GetDemand() != poolwrightv1.Plan_SERVED, callError(err)
	case Optimize:
	}
	plan, err := s.Optimize(ctx, fleet)
	return plan, plan.GetDemand() != poolwrightv1.Plan_SERVED, callError(err)
}

func lacking(c *poolwrightv1.Capacities) bool {
	for _, v := range c.GetVariants() {
		if v.GetCapacityRps() == 0 {
			return true
		}
	}
	return false
}

// inFile puts the name of the file before what is wrong in it.
func inFile(file string, err error) error {
	if errors.As(err, new(*InputError)) {
		return &InputError{fmt.Errorf("%s: %w", file, err)}
	}
	return err
}

// callError tells bad input from failure, and takes the gRPC wrapping off.
func callError(err error) error {
	if err == nil {
		return nil
	}
	s := status.Convert(err)
	if server.IsInvalid(err) {
		return &InputError{errors.New(s.Message())}
	}
	return errors.New(s.Message())
}

// fleetOf translates a checked fleet for the loop.
func fleetOf(m *poolwrightv1.Fleet) (planner.Fleet, error) {
	f, err := message.Fleet(m)
	if err != nil {
		return planner.Fleet{}, &InputError{err}
	}
	return f, nil
}
