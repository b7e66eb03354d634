package server_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc/metadata"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// Calls of both kinds are traced, within the trace of the caller where there is one.
func TestCallsAreTraced(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	x := newCluster(controller.HistoryConfig{}, "a")
	x.tick(t, "a", 5)
	r := startServer(t, server.Config{
		Services: server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.NewFleet(x)},
		Registry: prometheus.NewRegistry(), Traces: sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)),
	})
	const caller = "0af7651916cd43dd8448eb211c80319c"
	parent := "00-" + caller + "-b7ad6b7169203331-01"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", parent)
	_, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Optimize(ctx, fleet())
	require.NoError(t, err)
	_, err = healthv1.NewHealthClient(r.conn).Check(ctx, &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	for _, path := range []string{"/v1/fleet", "/metrics"} {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, r.url+path, http.NoBody)
		require.NoError(t, err)
		request.Header.Set("traceparent", parent)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	names := map[string]int{}
	require.Eventually(t, func() bool { return len(recorder.Ended()) >= 5 }, 10*time.Second, time.Millisecond)
	for _, span := range recorder.Ended() {
		names[span.Name()]++
		assert.Equal(t, caller, span.SpanContext().TraceID().String(), span.Name())
	}
	assert.Equal(t, map[string]int{
		"poolwright.v1.OptimizerService/Optimize": 1, "solve": 1, "REST GET": 1,
		"poolwright.v1.FleetService/GetFleet": 2, // as client and as server
	}, names)
}
