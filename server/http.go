package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/web"
)

// newHandler serves REST, health, the OpenAPI document, metrics and the pages.
func (s *Server) newHandler(services Services, registry *prometheus.Registry, limiter *limiter, guard *guard, live func() error) (http.Handler, error) {
	gateway := runtime.NewServeMux(append(routing(),
		runtime.WithErrorHandler(writeError),
		runtime.WithMiddlewares(admitted),
		// Headers of callers mean nothing to the gRPC side.
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
	)...)
	err := poolwrightv1.RegisterOptimizerServiceHandlerServer(context.Background(), gateway, services.Optimizer)
	if err == nil && services.Fleet != nil {
		err = poolwrightv1.RegisterFleetServiceHandlerClient(context.Background(), gateway, poolwrightv1.NewFleetServiceClient(s.client))
	}
	if err == nil && services.Simulation != nil {
		err = poolwrightv1.RegisterSimulationServiceHandlerClient(context.Background(), gateway, poolwrightv1.NewSimulationServiceClient(s.client))
	}
	if err != nil {
		return nil, fmt.Errorf("server: register gateway: %w", err)
	}
	duration := promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "poolwright_http_request_duration_seconds",
		Help:    "Duration of REST requests in seconds, by status code and method.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
	}, []string{"code", "method"})

	pages, err := web.Handler()
	if err != nil {
		return nil, err
	}
	fail := func(w http.ResponseWriter, r *http.Request, err error) {
		_, marshaler := runtime.MarshalerForRequest(gateway, r)
		runtime.HTTPError(r.Context(), gateway, marshaler, w, r, err)
	}
	answers, err := guard.calls(guard.recovered(limiter.handler(rememberDecodeErrors(knownParameters(gateway, fail)), fail)), described()...)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", promhttp.InstrumentHandlerDuration(duration, answers))
	for _, path := range streamPaths {
		mux.Handle(path, answers) // the duration of a stream says nothing
	}
	mux.Handle("GET /openapi.json", fixed("application/json", poolwrightv1.OpenAPI))
	mux.Handle("GET /metrics", limiter.beside(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	mux.Handle(healthPattern, healthy(live))
	mux.Handle(readyPattern, healthy(s.readiness))
	for pattern, h := range readers(gateway) {
		mux.Handle(pattern, guard.recovered(limiter.handler(h, fail)))
	}
	mux.Handle(profilePattern, limiter.beside(guard.profiles()))
	mux.Handle(pagesPattern, pages)
	// Pages of other sites may not send anything here by the browser of somebody who can.
	guarded := http.NewCrossOriginProtection().Handler(guard.handler(mux, healthPattern, readyPattern, pagesPattern))
	return secure(patient(roomForProbes(mux, guarded, healthPattern, readyPattern))), nil
}

// What is open to everybody: whether the process works, and pages, which have nothing in them
// that is not in every copy of the program.
const (
	healthPattern = "GET /healthz"
	readyPattern  = "GET /readyz"
	pagesPattern  = "/"
)

// described are the services that REST has.
func described() []protoreflect.ServiceDescriptor {
	return []protoreflect.ServiceDescriptor{
		poolwrightv1.File_poolwright_v1_optimizer_service_proto.Services().ByName("OptimizerService"),
		poolwrightv1.File_poolwright_v1_fleet_service_proto.Services().ByName("FleetService"),
		poolwrightv1.File_poolwright_v1_simulation_service_proto.Services().ByName("SimulationService"),
	}
}

// writeError answers with the status of err. Text that could not be decoded gets
// every mistake as a detail, as a message that could not be accepted does.
func writeError(ctx context.Context, mux *runtime.ServeMux, m runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if after := retryAfter(err); after != "" {
		w.Header().Set("Retry-After", after)
	}
	b, ok := r.Body.(*body)
	if !ok || b.err == nil {
		runtime.DefaultHTTPErrorHandler(ctx, mux, m, w, r, err)
		return
	}
	runtime.DefaultHTTPErrorHandler(ctx, mux, m, w, r, unreadable(b.err))
}

// unreadable is the error of a request that could not be read or decoded.
func unreadable(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &runtime.HTTPStatusError{HTTPStatus: http.StatusRequestEntityTooLarge, Err: invalid(err)}
	}
	return invalid(err)
}

// routing is how calls of REST are found, and what is none is answered.
func routing() []runtime.ServeMuxOption {
	return []runtime.ServeMuxOption{
		runtime.WithMarshalerOption(runtime.MIMEWildcard, jsonMarshaler),
		runtime.WithMarshalerOption("application/json", jsonMarshaler),
		runtime.WithMarshalerOption("application/yaml", yamlMarshaler),
		runtime.WithRoutingErrorHandler(writeRoutingError),
		runtime.WithDisablePathLengthFallback(), // a form is no other method
	}
}

// writeRoutingError answers a wrong method as HTTP does; the gateway alone would
// say 501.
func writeRoutingError(ctx context.Context, mux *runtime.ServeMux, m runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	unread(w, r)
	if code == http.StatusMethodNotAllowed {
		allowed := http.MethodPost
		if _, ok := parameters[r.URL.Path]; ok {
			allowed = http.MethodGet
		}
		w.Header().Set("Allow", allowed)
		err := &runtime.HTTPStatusError{HTTPStatus: code, Err: status.Errorf(codes.Unimplemented, "%s is not allowed here: use %s", r.Method, allowed)}
		runtime.DefaultHTTPErrorHandler(ctx, mux, m, w, r, err)
		return
	}
	runtime.DefaultRoutingErrorHandler(ctx, mux, m, w, r, code)
}

// recovered answers a panic as gRPC does, in place of a broken connection.
func (g *guard) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				http.Error(w, status.Convert(panicked(g.log, p)).Message(), http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// fixed serves content that never changes.
func fixed(contentType string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(content) // the client is gone when this fails
	})
}
