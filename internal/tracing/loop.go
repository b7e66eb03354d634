package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/poolwright/poolwright/controller"
)

// Names of spans: a cycle and its parts.
const (
	cycle   = "cycle"
	read    = "read"
	observe = "observe"
	solve   = "solve"
	write   = "write"
	record  = "record"
	publish = "publish"
)

// Loop traces the cycles of one loop. It is for the goroutine that runs them.
type Loop struct {
	tracer trace.Tracer
	// current is the cycle that runs.
	current trace.Span
	// solving is when all was there to solve with; zero = it is not solving.
	solving time.Time
}

// NewLoop traces with a provider; nil = not at all.
func NewLoop(p trace.TracerProvider) *Loop {
	if p == nil {
		p = noop.NewTracerProvider()
	}
	return &Loop{tracer: p.Tracer("github.com/poolwright/poolwright/internal/tracing"), current: trace.SpanFromContext(context.Background())}
}

// Traced is a controller's configuration in which what it waits for is traced.
func (l *Loop) Traced(c controller.Config) controller.Config {
	return c.Around(func(ctx context.Context, p controller.Part) (context.Context, func(error)) {
		if p == controller.PartCheckpoint { // it comes between observing and solving
			l.solving = time.Time{}
		}
		ctx, end := l.part(ctx, nameOf(p))
		return ctx, func(err error) {
			end(err)
			if p == controller.PartObserve || p == controller.PartCheckpoint {
				l.solving = time.Now()
			}
		}
	})
}

func nameOf(p controller.Part) string {
	switch p {
	case controller.PartRead:
		return read
	case controller.PartObserve:
		return observe
	case controller.PartApply:
		return write
	default:
		return record
	}
}

// Begin begins a cycle, in whose context its parts are traced.
func (l *Loop) Begin(ctx context.Context) context.Context {
	ctx, l.current = l.tracer.Start(ctx, cycle, trace.WithNewRoot())
	return ctx
}

// Publish traces what is written about a cycle once it is recorded.
func (l *Loop) Publish(ctx context.Context, do func(context.Context)) {
	ctx, end := l.part(ctx, publish)
	defer end(nil)
	do(ctx)
}

// End ends a cycle.
func (l *Loop) End(e *controller.Entry, err error) {
	l.solved()
	if e.Sequence > 0 {
		//nolint:gosec // decisions are counted from 1 on
		l.current.SetAttributes(
			attribute.Int64("poolwright.sequence", int64(e.Sequence)),
			attribute.Int("poolwright.workloads", len(e.Decision.Plans)),
			attribute.Int("poolwright.changes", len(e.Decision.Changes)),
			attribute.Int("poolwright.dropped", len(e.Dropped)),
			attribute.Bool("poolwright.stopped", e.Decision.Stopped),
		)
	}
	switch {
	case err != nil:
		l.current.SetStatus(codes.Error, err.Error())
	case e.Failure != "":
		l.current.SetStatus(codes.Error, e.Failure)
	}
	l.current.End()
}

// part begins a part of the cycle, and returns what ends it.
func (l *Loop) part(ctx context.Context, name string) (context.Context, func(error)) {
	l.solved()
	ctx, span := l.tracer.Start(trace.ContextWithSpan(ctx, l.current), name)
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// solved ends solving, which the controller does itself: whatever it asks for next comes after
// it.
func (l *Loop) solved() {
	if l.solving.IsZero() {
		return
	}
	_, span := l.tracer.Start(trace.ContextWithSpan(context.Background(), l.current), solve, trace.WithTimestamp(l.solving))
	span.End()
	l.solving = time.Time{}
}
