package server

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

// traces are those of calls; a zero one makes none.
type traces struct{ provider trace.TracerProvider }

func (t traces) options() []otelgrpc.Option {
	return []otelgrpc.Option{
		otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(func(i *stats.RPCTagInfo) bool { return !probes(i.FullMethodName) }),
	}
}

// server traces calls of gRPC.
func (t traces) server() []grpc.ServerOption {
	if t.provider == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(t.options()...))}
}

// gateway hands traces of REST on to gRPC.
func (t traces) gateway() []grpc.DialOption {
	if t.provider == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(t.options()...))}
}

// handler traces calls of REST.
func (t traces) handler(next http.Handler) http.Handler {
	if t.provider == nil {
		return next
	}
	return otelhttp.NewHandler(next, "REST",
		otelhttp.WithTracerProvider(t.provider), otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithFilter(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/") }),
		otelhttp.WithSpanNameFormatter(func(operation string, r *http.Request) string { return operation + " " + r.Method }),
	)
}

// solve begins the part of a call in which it is computed.
func solve(ctx context.Context) (context.Context, trace.Span) {
	return trace.SpanFromContext(ctx).TracerProvider().Tracer("github.com/poolwright/poolwright/server").Start(ctx, "solve")
}
