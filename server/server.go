package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// MaxMessageBytes is the size limit of one request.
const MaxMessageBytes = 32 << 20

// shutdownGrace is how long calls in flight may take after the end was asked for.
const shutdownGrace = 10 * time.Second

// Server is the gRPC and the HTTP side of one service.
type Server struct {
	grpc   *grpc.Server
	http   *http.Server
	health *health.Server
}

// New puts a service behind gRPC and REST. Its metrics go to registry, which
// /metrics shows.
func New(service poolwrightv1.OptimizerServiceServer, registry *prometheus.Registry) (*Server, error) {
	metrics := grpcprometheus.NewServerMetrics(grpcprometheus.WithServerHandlingTimeHistogram())
	if err := registry.Register(metrics); err != nil {
		return nil, fmt.Errorf("server: register metrics: %w", err)
	}
	recovered := recovery.WithRecoveryHandler(func(p any) error {
		return status.Errorf(codes.Internal, "a bug: %v", p)
	})
	s := &Server{
		grpc: grpc.NewServer(
			grpc.MaxRecvMsgSize(MaxMessageBytes),
			grpc.ChainUnaryInterceptor(metrics.UnaryServerInterceptor(), recovery.UnaryServerInterceptor(recovered)),
			grpc.ChainStreamInterceptor(metrics.StreamServerInterceptor(), recovery.StreamServerInterceptor(recovered)),
		),
		health: health.NewServer(),
	}
	poolwrightv1.RegisterOptimizerServiceServer(s.grpc, service)
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	metrics.InitializeMetrics(s.grpc)

	handler, err := newHandler(service, s.health, registry)
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
	}
	return s, nil
}

// Serve answers on both listeners until ctx ends, then lets calls in flight
// finish. It closes the listeners.
func (s *Server) Serve(ctx context.Context, grpcListener, httpListener net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.grpc.Serve(grpcListener) })
	group.Go(func() error {
		if err := s.http.Serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return s.shutdown(context.WithoutCancel(ctx))
	})
	return group.Wait()
}

func (s *Server) shutdown(ctx context.Context) error {
	s.health.Shutdown()
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	err := s.http.Shutdown(ctx)
	select {
	case <-stopped:
	case <-ctx.Done():
		s.grpc.Stop()
		<-stopped
	}
	if err != nil {
		return fmt.Errorf("server: shut down: %w", err)
	}
	return nil
}
