package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Optimizer implements the OptimizerService. It remembers nothing between calls.
type Optimizer struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
	planner *planner.Planner
}

// NewOptimizer returns a service that plans with p.
func NewOptimizer(p *planner.Planner) *Optimizer { return &Optimizer{planner: p} }

// Optimize returns the plan for a fleet, by the strategy of its objective. Besides
// the fleet's own time limit, the search ends in time for the deadline of ctx; a context that
// ended, such as because the client left, gives its error.
func (o *Optimizer) Optimize(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	fleet, err := message.Fleet(m)
	if err != nil {
		return nil, invalid(err)
	}
	limited, cancel := context.WithTimeout(ctx, searchTime(ctx, fleet.Objective.TimeLimit))
	defer cancel()
	decision, _, err := o.while(ctx).Plan(planner.Snapshot{Now: time.Now(), Fleet: fleet}, planner.Memory{}, Stop(limited))
	if err != nil {
		return nil, failed(ctx, err)
	}
	return message.Plan(&decision), nil
}

// Explain returns the plan of Optimize with answers to what follows from it. The
// fleet's time limit covers both.
func (o *Optimizer) Explain(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Explanation, error) {
	fleet, err := message.Fleet(m)
	if err != nil {
		return nil, invalid(err)
	}
	limited, cancel := context.WithTimeout(ctx, searchTime(ctx, fleet.Objective.TimeLimit))
	defer cancel()
	explanation, _, err := o.while(ctx).Explain(planner.Snapshot{Now: time.Now(), Fleet: fleet}, planner.Memory{}, Stop(limited))
	if err != nil {
		return nil, failed(ctx, err)
	}
	return message.Explanation(&explanation), nil
}

// Evaluate predicts a fleet as it stands.
func (o *Optimizer) Evaluate(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	fleet, err := message.Fleet(m)
	if err != nil {
		return nil, invalid(err)
	}
	decision, _, err := o.while(ctx).Evaluate(planner.Snapshot{Now: time.Now(), Fleet: fleet}, planner.Memory{})
	if err != nil {
		return nil, failed(ctx, err)
	}
	return message.Plan(&decision), nil
}

// Capacity returns what one replica of each variant of a fleet sustains.
func (o *Optimizer) Capacity(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Capacities, error) {
	fleet, err := message.Fleet(m)
	if err != nil {
		return nil, invalid(err)
	}
	sizes, err := o.while(ctx).Capacities(fleet)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return message.Capacities(&fleet, sizes), nil
}

// while is the planner for as long as somebody waits for its answer. What it computes gives way to
// others.
func (o *Optimizer) while(ctx context.Context) *planner.Planner {
	stop := Stop(ctx)
	return o.planner.While(func() bool { return !stop() })
}

// searchShare of the time until a deadline may be searched for a plan, which has to be
// predicted, explained and sent by then.
const searchShare = 0.8

// searchTime is what is searched for: a fleet's limit, or less where the deadline is nearer.
func searchTime(ctx context.Context, limit time.Duration) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return limit
	}
	return min(limit, time.Duration(searchShare*float64(time.Until(deadline))))
}

// Stop tells what computes to end when ctx has ended; many goroutines ask it at a time. In between, a
// call that takes long gives way to others.
func Stop(ctx context.Context) func() bool {
	turn := turnOf(ctx)
	return func() bool {
		if turn != nil {
			turn.giveWay(ctx)
		}
		return ctx.Err() != nil
	}
}

// invalid turns violations into INVALID_ARGUMENT with all of them as details.
func invalid(err error) error {
	var violations message.Violations
	if !errors.As(err, &violations) {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	detail := &errdetails.BadRequest{}
	for _, v := range violations.Listed() {
		detail.FieldViolations = append(detail.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: v.Path, Description: v.Message,
		})
	}
	s, detailErr := status.New(codes.InvalidArgument, err.Error()).WithDetails(detail)
	if detailErr != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return s.Err()
}

// IsInvalid tells whether an error of the service is the caller's bad input.
func IsInvalid(err error) bool { return status.Code(err) == codes.InvalidArgument }

// failed tells a fleet that the planner can't take, and a caller who has left, from a failure
// that no fleet should cause.
func failed(ctx context.Context, err error) error {
	if errors.Is(err, planner.ErrUnwanted) {
		return status.FromContextError(ctx.Err()).Err()
	}
	var violations message.Violations
	if err := message.OfPlanning(err); errors.As(err, &violations) {
		return invalid(err)
	}
	return status.Error(codes.Internal, err.Error())
}
