package server

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Leader returns the connection to the process that decides in the place of this one, nil where
// this one does, and a context that ends when that changes. The error says why nobody can be
// asked. A nil Leader is this process, always.
type Leader func() (leader grpc.ClientConnInterface, until context.Context, err error)

const (
	// relayed marks what another process of ours asks: one that takes this one for the leader,
	// which asks no third.
	relayed = "poolwright-relayed"
	// authorization is what whoever asks has shown, and is passed on: the leader judges it as
	// well.
	authorization = "authorization"
)

// ask returns whom to ask, nil = nobody, and the context to do so.
func (l Leader) ask(ctx context.Context) (context.Context, grpc.ClientConnInterface, error) {
	if l == nil {
		return ctx, nil, nil
	}
	leader, _, err := l()
	switch {
	case err != nil:
		return ctx, nil, status.Error(codes.Unavailable, err.Error())
	case leader == nil:
		return ctx, nil, nil
	case len(metadata.ValueFromIncomingContext(ctx, relayed)) > 0:
		return ctx, nil, errTermEnded
	}
	passed := metadata.Pairs(relayed, "true")
	passed.Append(authorization, metadata.ValueFromIncomingContext(ctx, authorization)...)
	if err := passCaller(ctx, passed); err != nil {
		return ctx, nil, err
	}
	return metadata.NewOutgoingContext(ctx, passed), leader, nil
}

// term returns a context that ends when another process leads, and what ends it otherwise.
func (l Leader) term(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() bool { return true }
	if l != nil {
		if leader, until, err := l(); err != nil || leader != nil {
			cancel(errTermEnded)
		} else {
			stop = context.AfterFunc(until, func() { cancel(errTermEnded) })
		}
	}
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// termRetry is when to ask again where the leader changes: it is known by then who leads, as a rule.
const termRetry = time.Second

// errTermEnded ends what was asked about the loop of a process: it is another one's from now on.
var errTermEnded = retriable(codes.Unavailable, termRetry, "another process leads")

// untilTermEnds is the error of what the leader was asked. The connection to it is closed when another process
// leads: that is not the caller's doing.
func untilTermEnds(ctx context.Context, err error) error {
	if status.Code(err) == codes.Canceled && ctx.Err() == nil {
		return errTermEnded
	}
	return err
}

// ended is how a stream is answered that ended with its context.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, errTermEnded) {
		return cause
	}
	return status.FromContextError(ctx.Err()).Err()
}

// relay passes a stream of the leader on.
func relay[M any](from grpc.ServerStreamingClient[M], to grpc.ServerStreamingServer[M]) error {
	if _, err := from.Header(); err != nil {
		return err
	}
	if err := to.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	for {
		m, err := from.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := to.Send(m); err != nil {
			return err
		}
	}
}

// follower implements the FleetService for a process that may not be the one that decides.
type follower struct {
	*Fleet

	leader Leader
}

// Follow returns a service that shows the loop of the leader, which is that of fleet while this
// process leads.
func Follow(fleet *Fleet, leader Leader) poolwrightv1.FleetServiceServer {
	return &follower{Fleet: fleet, leader: leader}
}

// either answers here, or asks the leader.
func either[Q, A any](ctx context.Context, f *follower, m *Q, here func(context.Context, *Q) (*A, error),
	there func(poolwrightv1.FleetServiceClient, context.Context, *Q, ...grpc.CallOption) (*A, error),
) (*A, error) {
	ctx, leader, err := f.leader.ask(ctx)
	switch {
	case err != nil:
		return nil, err
	case leader != nil:
		answer, err := there(poolwrightv1.NewFleetServiceClient(leader), ctx, m)
		return answer, untilTermEnds(ctx, err)
	}
	return here(ctx, m)
}

// GetFleet returns the fleet as the last decision saw it.
func (f *follower) GetFleet(ctx context.Context, m *poolwrightv1.GetFleetRequest) (*poolwrightv1.GetFleetResponse, error) {
	return either(ctx, f, m, f.Fleet.GetFleet, poolwrightv1.FleetServiceClient.GetFleet)
}

// ListDecisions returns a page of decisions.
func (f *follower) ListDecisions(ctx context.Context, m *poolwrightv1.ListDecisionsRequest) (*poolwrightv1.ListDecisionsResponse, error) {
	return either(ctx, f, m, f.Fleet.ListDecisions, poolwrightv1.FleetServiceClient.ListDecisions)
}

// PauseWorkload holds a workload.
func (f *follower) PauseWorkload(ctx context.Context, m *poolwrightv1.PauseWorkloadRequest) (*poolwrightv1.Pause, error) {
	return either(ctx, f, m, f.Fleet.PauseWorkload, poolwrightv1.FleetServiceClient.PauseWorkload)
}

// ResumeWorkload lets a workload go.
func (f *follower) ResumeWorkload(ctx context.Context, m *poolwrightv1.ResumeWorkloadRequest) (*poolwrightv1.ResumeWorkloadResponse, error) {
	return either(ctx, f, m, f.Fleet.ResumeWorkload, poolwrightv1.FleetServiceClient.ResumeWorkload)
}

// WatchDecisions sends decisions as they are made. It ends when another process comes to lead.
func (f *follower) WatchDecisions(m *poolwrightv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[poolwrightv1.WatchDecisionsResponse]) error {
	ctx, leader, err := f.leader.ask(stream.Context())
	switch {
	case err != nil:
		return err
	case leader != nil:
		from, err := poolwrightv1.NewFleetServiceClient(leader).WatchDecisions(ctx, m)
		if err == nil {
			err = relay(from, stream)
		}
		return untilTermEnds(ctx, err)
	}
	ctx, end := f.leader.term(stream.Context())
	defer end()
	wrapped := &inTerm{ServerStreamingServer: stream, ctx: ctx}
	return f.Fleet.WatchDecisions(m, wrapped)
}

// inTerm is a stream that ends with the term of this process.
type inTerm struct {
	grpc.ServerStreamingServer[poolwrightv1.WatchDecisionsResponse]

	ctx context.Context
}

// Context implements [grpc.ServerStream].
func (s *inTerm) Context() context.Context { return s.ctx }
