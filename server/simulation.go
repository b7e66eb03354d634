package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Simulator simulates fleets.
type Simulator interface {
	// Simulate runs a simulation until it is done or ctx ends, and calls progress now and
	// then, never twice at a time. An error that is a [message.Violations] is bad input.
	Simulate(ctx context.Context, m *poolwrightv1.Simulation, progress func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error)
}

// simulationRetry is when to ask again where as many simulations run as may: nobody knows how
// long they take.
const simulationRetry = 5 * time.Second

// SimulationConfig is how a service simulates.
type SimulationConfig struct {
	Simulator Simulator
	// Concurrent is how many simulations may run at a time, ≥ 1; a further one is refused.
	Concurrent int
	// Every is the least time between messages about progress.
	Every time.Duration
}

// Simulation implements the SimulationService.
type Simulation struct {
	poolwrightv1.UnimplementedSimulationServiceServer
	config SimulationConfig
	places chan struct{}
	// patience is how long a client may take to read what was sent before there is more.
	patience time.Duration
}

// NewSimulation returns a service that simulates fleets.
func NewSimulation(c SimulationConfig) *Simulation {
	return &Simulation{config: c, places: make(chan struct{}, c.Concurrent), patience: writeTime}
}

// Simulate runs a simulation, and ends it when the caller leaves or no longer reads.
// RESOURCE_EXHAUSTED says that as many run as may.
func (s *Simulation) Simulate(m *poolwrightv1.Simulation, stream grpc.ServerStreamingServer[poolwrightv1.SimulateResponse]) error {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return exhausted(simulationRetry, "%d simulations are running, which is all that may at a time", s.config.Concurrent)
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	var last time.Time
	result, err := s.config.Simulator.Simulate(ctx, m, func(p *poolwrightv1.SimulationProgress) {
		now := time.Now()
		if now.Sub(last) < s.config.Every {
			return
		}
		last = now
		if s.send(stream, &poolwrightv1.SimulateResponse{Kind: &poolwrightv1.SimulateResponse_Progress{Progress: p}}) != nil {
			cancel()
		}
	})
	if err != nil {
		return simulationError(err)
	}
	return s.send(stream, &poolwrightv1.SimulateResponse{Kind: &poolwrightv1.SimulateResponse_Result{Result: result}})
}

// send sends a message, unless the client does not read those before it.
func (s *Simulation) send(stream grpc.ServerStream, m any) error {
	ctx, cancel := context.WithTimeout(stream.Context(), s.patience)
	defer cancel()
	return within(ctx, stream.SendMsg)(m)
}

// simulationError tells bad input and callers that left from failures.
func simulationError(err error) error {
	var violations message.Violations
	switch {
	case errors.As(err, &violations):
		return invalid(violations)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Internal, err.Error())
}
