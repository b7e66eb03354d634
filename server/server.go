package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	grpcprometheus "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/proto/externalscaler"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// shutdownGrace is how long calls in flight may take after the end was asked for.
const shutdownGrace = 10 * time.Second

// innerBytes is the buffer between gateway and gRPC server.
const innerBytes = 1 << 20

// Services are what a server answers for.
type Services struct {
	Optimizer poolwrightv1.OptimizerServiceServer
	// Fleet is nil where there is no loop.
	Fleet poolwrightv1.FleetServiceServer
	// Simulation is nil where nothing is simulated on request.
	Simulation poolwrightv1.SimulationServiceServer
	// Scaler is nil where KEDA has nothing to ask.
	Scaler externalscaler.ExternalScalerServer
}

// Config is what a server is made of. Services are needed.
type Config struct {
	Services Services
	// Registry gets the metrics of the services, and /metrics shows it.
	Registry *prometheus.Registry
	// Live returns why the process will not go on by itself, and Ready why it cannot do what it
	// is for; nil where it can, and nil = it always does.
	Live, Ready func() error
	// Limits are asked for at every call, so that they may change; nil = the defaults.
	Limits func() Limits
	// Precedence is of work that goes before calls, of this server alone; nil = none does.
	Precedence *Precedence
	// Log gets each call at debug level, and why callers are refused that may be in the right;
	// nil = none does.
	Log *slog.Logger
	// Traces get each call; nil = none does.
	Traces trace.TracerProvider
	// Access knows who may ask; nil = everybody may, and nothing is encrypted.
	Access *access.Access
}

// Server is the gRPC and the HTTP side of services.
type Server struct {
	grpc   *grpc.Server
	http   *http.Server
	limits func() Limits
	health *health.Server
	ready  func() error
	// inner is where the gateway asks, by client, what shows the loop or is simulated: streams need gRPC.
	inner  *bufconn.Listener
	client *Client
	// ending ends with the server's life, and endStreams ends it.
	ending     context.Context
	endStreams context.CancelFunc
	// streamTime is how long a stream may last.
	streamTime time.Duration
}

// New puts services behind gRPC and REST.
func New(c Config) (*Server, error) { return newServer(c, connectionTime) }

// newServer has clients of gRPC begin calls on a connection for some time.
func newServer(c Config, connectionTime time.Duration) (*Server, error) {
	limits := func() Limits { return Limits{}.orDefault() }
	if c.Limits != nil {
		limits = func() Limits { return c.Limits().orDefault() }
	}
	services, registry := c.Services, c.Registry
	metrics := grpcprometheus.NewServerMetrics(grpcprometheus.WithServerHandlingTimeHistogram())
	if err := registry.Register(metrics); err != nil {
		return nil, fmt.Errorf("server: register metrics: %w", err)
	}
	calls, traced := newCalls(c.Log), traces{c.Traces}
	shed := newLimitMetrics(registry)
	limiter, guard := newLimiter(limits, cmp.Or(c.Precedence, &Precedence{}), shed), newGuard(c.Access, c.Log, shed)
	recovered := recovery.WithRecoveryHandler(func(p any) error { return panicked(guard.log, p) })
	s := &Server{health: health.NewServer(), ready: fine(c.Ready), inner: bufconn.Listen(innerBytes), limits: limits, streamTime: connectionTime}
	s.ending, s.endStreams = context.WithCancel(context.Background())
	s.grpc = grpc.NewServer(append(slices.Concat(traced.server(), options(limits(), c.Access, connectionTime)),
		grpc.UnaryInterceptor(limiter.unary),
		grpc.ChainStreamInterceptor(metrics.StreamServerInterceptor(), calls.stream, recovery.StreamServerInterceptor(recovered), guard.stream, limiter.stream, s.untilTheEnd),
	)...)
	before := chain(metrics.UnaryServerInterceptor(), calls.unary, recovery.UnaryServerInterceptor(recovered), guard.unary, limiter.before)
	register(registrar{s.grpc, before, limiter}, services, s.health)
	metrics.InitializeMetrics(s.grpc)

	var err error
	s.client, err = NewClient("passthrough:///inner", append(slices.Concat(traced.gateway(), guard.inner()), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.inner.DialContext(ctx) }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))...)
	if err != nil {
		return nil, fmt.Errorf("server: connect gateway: %w", err)
	}
	handler, err := s.newHandler(services, registry, limiter, guard, fine(c.Live))
	if err != nil {
		return nil, errors.Join(err, s.client.Close())
	}
	s.http = &http.Server{
		Handler:           calls.handler(traced.handler(handler)),
		ReadHeaderTimeout: handshakeTime,
		ReadTimeout:       requestTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    mostHeaderBytes,
		ConnContext:       markProbes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: mostStreams, WriteByteTimeout: writeTime, SendPingTimeout: probeTime, PingTimeout: answerTime,
		},
		ErrorLog: log.New(complaints{guard.log}, "", 0),
	}
	if c.Access != nil {
		s.http.TLSConfig = c.Access.TLS("h2", "http/1.1")
	}
	return s, nil
}

// options are those of the gRPC server but for its interceptors.
func options(l Limits, a *access.Access, connectionTime time.Duration) []grpc.ServerOption {
	all := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(l.MaxRequestBytes),
		grpc.ForceServerCodecV2(codec{protoCodec}),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.MaxHeaderListSize(mostHeaderBytes),
		grpc.MaxConcurrentStreams(l.Streams),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: probeTime, Timeout: answerTime, MaxConnectionIdle: unusedTime,
			MaxConnectionAge: connectionTime, MaxConnectionAgeGrace: connectionTime + connectionTime/10,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastProbe, PermitWithoutStream: true}),
	}
	if a != nil && a.Encrypted() {
		all = append(all, grpc.Creds(outer{credentials.NewTLS(a.TLS("h2"))}))
	}
	return all
}

func register(r registrar, services Services, h *health.Server) {
	poolwrightv1.RegisterOptimizerServiceServer(r, services.Optimizer)
	if services.Fleet != nil {
		poolwrightv1.RegisterFleetServiceServer(r, services.Fleet)
	}
	if services.Simulation != nil {
		poolwrightv1.RegisterSimulationServiceServer(r, services.Simulation)
	}
	if services.Scaler != nil {
		externalscaler.RegisterExternalScalerServer(r, services.Scaler)
	}
	healthv1.RegisterHealthServer(r, h)
	reflection.Register(r)
}

// panicked is the status of a panic. The log says where it was.
func panicked(log *slog.Logger, p any) error {
	log.Error("a bug ended a call", "panic", p, "stack", string(debug.Stack()))
	return status.Errorf(codes.Internal, "a bug: %v", p)
}

// complaints are those of the HTTP server. What strangers fail at is none.
type complaints struct{ log *slog.Logger }

// Write implements [io.Writer].
func (c complaints) Write(p []byte) (int, error) {
	for _, theirs := range []string{"TLS handshake error", "http2: server connection error"} {
		if bytes.Contains(p, []byte(theirs)) {
			return len(p), nil
		}
	}
	c.log.Error("the HTTP server complains", "error", string(bytes.TrimSpace(p)))
	return len(p), nil
}

// Serve answers on both listeners until ctx ends, then lets calls in flight
// finish. It closes the listeners.
func (s *Server) Serve(ctx context.Context, grpcListener, httpListener net.Listener) error {
	most := func() int { return s.limits().Connections }
	grpcListener, httpListener = &counted{Listener: grpcListener, most: most}, &counted{Listener: httpListener, most: most, probes: mostProbes}
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range []net.Listener{grpcListener, s.inner} {
		group.Go(func() error {
			if err := s.grpc.Serve(l); !errors.Is(err, grpc.ErrServerStopped) { // before it began
				return err
			}
			return nil
		})
	}
	group.Go(func() error {
		serve := s.http.Serve
		if s.http.TLSConfig != nil {
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
		}
		if err := serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		s.watchHealth(ctx)
		return s.shutdown(context.WithoutCancel(ctx))
	})
	return group.Wait()
}

func (s *Server) shutdown(ctx context.Context) error {
	s.health.Shutdown()
	s.endStreams()
	ctx, cancel := context.WithTimeout(ctx, shutdownGrace)
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.grpc.GracefulStop()
	}()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	select {
	case <-stopped:
	case <-ctx.Done():
		s.grpc.Stop()
		<-stopped
	}
	if err = errors.Join(err, s.client.Close()); err != nil {
		return fmt.Errorf("server: shut down: %w", err)
	}
	return nil
}

// untilTheEnd ends streams when the server ends, as they would hold it up, and when their time is over,
// before their connection is closed: those that follow the loop as if there were no more to follow.
func (s *Server) untilTheEnd(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	stop := context.AfterFunc(s.ending, cancel)
	defer stop()
	if !probes(info.FullMethod) { // whose clients ask on the next connection
		defer time.AfterFunc(s.streamTime, cancel).Stop()
	}
	wrapped := middleware.WrapServerStream(stream)
	wrapped.WrappedContext = ctx
	err := handle(service, wrapped)
	switch {
	case err == nil || ctx.Err() == nil || stream.Context().Err() != nil:
		return err
	case s.ending.Err() != nil:
		return status.Error(codes.Unavailable, "the service ends")
	case info.FullMethod == poolwrightv1.SimulationService_Simulate_FullMethodName:
		return status.Errorf(codes.DeadlineExceeded, "a simulation may take %s", s.streamTime)
	case status.Code(err) == codes.Canceled:
		return nil
	}
	return err
}
