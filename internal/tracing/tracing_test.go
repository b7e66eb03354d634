package tracing_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/tracing"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// collector keeps the spans that it is sent.
type collector struct {
	collectorv1.UnimplementedTraceServiceServer
	mu    sync.Mutex
	spans []*tracev1.Span
	of    []string // resources, as text
}

func (c *collector) Export(_ context.Context, m *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range m.GetResourceSpans() {
		c.of = append(c.of, r.GetResource().String())
		for _, s := range r.GetScopeSpans() {
			c.spans = append(c.spans, s.GetSpans()...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// collect starts a collector, and returns its address.
func collect(t *testing.T) (*collector, string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c, s := &collector{}, grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(s, c)
	done := make(chan error, 1)
	go func() { done <- s.Serve(listener) }()
	t.Cleanup(func() {
		s.Stop()
		assert.NoError(t, <-done)
	})
	return c, listener.Addr().String()
}

// traced runs do with a provider, and returns the spans that come of it.
func traced(t *testing.T, sampling float64, do func(trace.TracerProvider)) []*tracev1.Span {
	t.Helper()
	c, address := collect(t)
	provider, err := tracing.New(t.Context(), tracing.Config{Endpoint: address, Insecure: true, Sampling: sampling, Version: "v1.2.3"})
	require.NoError(t, err)
	do(provider)
	require.NoError(t, provider.Shutdown(t.Context()))
	for _, of := range c.of {
		assert.Contains(t, of, "poolwright")
		assert.Contains(t, of, "v1.2.3")
	}
	return c.spans
}

// world is a fleet of one workload that needs a replica, and asks url about it.
type world struct {
	url    string
	client *http.Client
	failed error
}

func (w world) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	return planner.Fleet{
		Pools:     []planner.Pool{{Name: "h100", Accelerator: "H100", PricePerHour: 4}},
		Objective: planner.Objective{TimeLimit: time.Minute},
		Workloads: []planner.Workload{{Name: "chat", Priority: 1, Variants: []planner.Variant{
			{Name: "v", Pools: []int{0}, DevicesPerReplica: 1, NodesPerReplica: 1, Capacity: 10},
		}}},
	}, nil, w.failed
}

func (w world) Observe(ctx context.Context, _ planner.Fleet) ([]planner.Observation, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	return []planner.Observation{{
		Workload: "chat", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 5},
	}}, response.Body.Close()
}

func (world) Apply(_ context.Context, changes []planner.Change) []error {
	return slices.Repeat([]error{errors.New("it is refused")}, len(changes))
}

func (world) Checkpoint(m planner.Memory) (planner.Memory, error) { return m, nil }
func (world) Intend(uint64, []planner.Change) error               { return nil }
func (world) Append(controller.Entry) error                       { return nil }

func run(t *testing.T, provider trace.TracerProvider, w world) {
	t.Helper()
	asked := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer asked.Close()
	w.url, w.client = asked.URL, &http.Client{Transport: tracing.Transport("query", http.DefaultTransport)}
	loop := tracing.NewLoop(provider)
	c := controller.New(loop.Traced(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: w, Observer: w, Actuator: w, Ledger: w}))
	ctx := loop.Begin(t.Context())
	entry, err := c.Tick(ctx, time.Now(), nil)
	if err == nil {
		loop.Publish(ctx, func(context.Context) {})
	}
	loop.End(&entry, err)
}

// All parts of a cycle are in one trace, in their order, and what fails says so.
func TestCycle(t *testing.T) {
	spans := traced(t, 1e-9, func(p trace.TracerProvider) { run(t, p, world{}) })                                                 // cycles are traced always
	slices.SortFunc(spans, func(a, b *tracev1.Span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) }) //nolint:gosec // this century
	var names []string
	for _, s := range spans {
		names = append(names, s.GetName())
		assert.Equal(t, spans[0].GetTraceId(), s.GetTraceId())
		assert.Less(t, s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
		switch s.GetName() {
		case "cycle":
			assert.Empty(t, s.GetParentSpanId())
			assert.Contains(t, s.GetStatus().GetMessage(), "it is refused")
			assert.Contains(t, s.String(), "poolwright.sequence")
		case "query POST":
			assert.Equal(t, spans[2].GetSpanId(), s.GetParentSpanId())
		default:
			assert.Equal(t, spans[0].GetSpanId(), s.GetParentSpanId())
		}
		assert.Equal(t, s.GetName() == "write" || s.GetName() == "cycle", s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_ERROR, s.GetName())
	}
	assert.Equal(t, []string{"cycle", "read", "observe", "query POST", "record", "solve", "read", "record", "write", "record", "publish"}, names)
}

func TestFailedCycle(t *testing.T) {
	spans := traced(t, 1, func(p trace.TracerProvider) { run(t, p, world{failed: errors.New("no answer")}) })
	require.Len(t, spans, 2)
	for _, s := range spans {
		assert.Equal(t, tracev1.Status_STATUS_CODE_ERROR, s.GetStatus().GetCode())
		assert.Contains(t, s.GetStatus().GetMessage(), "no answer")
	}
}

// Of calls only a part is traced, and requests outside of a trace never are.
func TestSampling(t *testing.T) {
	spans := traced(t, 0.25, func(p trace.TracerProvider) {
		for range 1000 {
			_, span := p.Tracer("test").Start(t.Context(), "call", trace.WithSpanKind(trace.SpanKindServer))
			span.End()
		}
		run(t, nil, world{})
	})
	assert.Greater(t, len(spans), 150)
	assert.Less(t, len(spans), 350)
}

func TestAuthoritiesThatCannotBeRead(t *testing.T) {
	_, err := tracing.New(t.Context(), tracing.Config{Endpoint: "localhost:4317", CAFile: t.TempDir() + "/none.pem", Sampling: 1})
	assert.ErrorContains(t, err, "caFile")
}
