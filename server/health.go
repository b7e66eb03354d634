package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// healthPeriod is the time between looks at whether the process is ready, for those who watch
// it by gRPC.
const healthPeriod = time.Second

// fine is a condition, or one that always holds where there is none.
func fine(condition func() error) func() error {
	if condition == nil {
		return func() error { return nil }
	}
	return condition
}

// errEnding is why a process is not ready that is about to end.
var errEnding = errors.New("the process ends")

// readiness returns why nobody should call.
func (s *Server) readiness() error {
	if s.ending.Err() != nil {
		return errEnding
	}
	return s.ready()
}

// watchHealth tells the gRPC health service whether the process is ready, until ctx ends.
func (s *Server) watchHealth(ctx context.Context) {
	ticker := time.NewTicker(healthPeriod)
	defer ticker.Stop()
	for {
		status := healthv1.HealthCheckResponse_SERVING
		if s.ready() != nil {
			status = healthv1.HealthCheckResponse_NOT_SERVING
		}
		s.health.SetServingStatus("", status)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// healthy answers whether a condition holds, and otherwise why not.
func healthy(condition func() error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := condition(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fixed("text/plain; charset=utf-8", []byte("ok\n")).ServeHTTP(w, r)
	})
}
