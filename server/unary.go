package server

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// registrar registers services with an interceptor that is asked before the request of a call
// is read. Those of the server are asked after it, but for streams.
type registrar struct {
	*grpc.Server
	before  grpc.UnaryServerInterceptor
	limiter *limiter
}

// RegisterService implements [grpc.ServiceRegistrar].
func (r registrar) RegisterService(d *grpc.ServiceDesc, service any) {
	asking := *d
	asking.Methods = slices.Clone(d.Methods)
	for i := range asking.Methods {
		m := &asking.Methods[i]
		handle, info := m.Handler, &grpc.UnaryServerInfo{Server: service, FullMethod: "/" + d.ServiceName + "/" + m.MethodName}
		m.Handler = func(service any, ctx context.Context, read func(any) error, after grpc.UnaryServerInterceptor) (any, error) {
			return r.before(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
				q := &request{limiter: r.limiter, method: info.FullMethod}
				defer q.end()
				return handle(service, ctx, func(m any) error { return q.read(ctx, read, m) }, after)
			})
		}
	}
	r.Server.RegisterService(&asking, service)
}

// within reads a request, or sends a message, until ctx ends: a client that sends or reads slowly
// takes no place for longer.
func within(ctx context.Context, do func(any) error) func(any) error {
	return func(m any) error {
		done, panicked := make(chan error, 1), make(chan any, 1)
		go func() { // ends with the call, which the error below ends
			defer func() {
				if p := recover(); p != nil {
					panicked <- p
				}
			}()
			done <- do(m)
		}()
		select {
		case err := <-done:
			return err
		case p := <-panicked:
			panic(p) // where it is recovered
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// chain is interceptors one after the other.
func chain(first grpc.UnaryServerInterceptor, others ...grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	if len(others) == 0 {
		return first
	}
	next := chain(others[0], others[1:]...)
	return func(ctx context.Context, m any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		return first(ctx, m, info, func(ctx context.Context, m any) (any, error) { return next(ctx, m, info, handle) })
	}
}
