package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// calls logs each call at debug level: who called what, when it ended and how, and nothing of
// what was sent.
type calls struct{ log *slog.Logger }

func newCalls(log *slog.Logger) calls {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return calls{log}
}

// done logs a call that ended.
func (c calls) done(ctx context.Context, method string, began time.Time, err error) {
	if !c.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attributes := []slog.Attr{
		slog.String("method", method), slog.String("code", status.Code(err).String()), slog.Duration("took", time.Since(began)),
	}
	if from, ok := peer.FromContext(ctx); ok {
		attributes = append(attributes, slog.String("from", from.Addr.String()))
	}
	c.log.LogAttrs(ctx, slog.LevelDebug, "called", attributes...)
}

func (c calls) unary(ctx context.Context, m any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (answer any, err error) {
	defer func(began time.Time) { c.done(ctx, info.FullMethod, began, err) }(time.Now())
	return handle(ctx, m)
}

func (c calls) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	defer func(began time.Time) { c.done(stream.Context(), info.FullMethod, began, err) }(time.Now())
	return handle(service, stream)
}

// handler logs requests over HTTP, without their parameters.
func (c calls) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.log.Enabled(r.Context(), slog.LevelDebug) {
			next.ServeHTTP(w, r)
			return
		}
		began, seen := time.Now(), &coded{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(seen, r)
		c.log.LogAttrs(r.Context(), slog.LevelDebug, "requested",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("code", seen.code),
			slog.Duration("took", time.Since(began)), slog.String("from", r.RemoteAddr))
	})
}

// coded remembers the status of an answer.
type coded struct {
	http.ResponseWriter
	code int
}

func (c *coded) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

// Unwrap is for [http.ResponseController].
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }
