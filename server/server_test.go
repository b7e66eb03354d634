package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/sources"
)

// running is a server on loopback.
type running struct {
	conn *grpc.ClientConn
	url  string
	// end asks for the end; done gives what Serve returned, once.
	end  func()
	done chan error
}

func start(t *testing.T) *running {
	t.Helper()
	return startService(t, server.NewOptimizer(planner.New(lp.Simplex())))
}

func startService(t testing.TB, service poolwrightv1.OptimizerServiceServer) *running {
	t.Helper()
	return startServices(t, server.Services{Optimizer: service}, prometheus.NewRegistry())
}

func startServices(t testing.TB, services server.Services, registry *prometheus.Registry) *running {
	t.Helper()
	return startServer(t, server.Config{Services: services, Registry: registry})
}

func startServer(t testing.TB, c server.Config) *running {
	t.Helper()
	s, err := server.New(c)
	require.NoError(t, err)
	return serve(t, s)
}

func serve(t testing.TB, s *server.Server) *running {
	t.Helper()
	grpcListener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	httpListener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	conn, err := grpc.NewClient(grpcListener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	r := &running{conn: conn, url: "http://" + httpListener.Addr().String(), end: cancel, done: make(chan error, 1)}
	go func() {
		r.done <- s.Serve(ctx, grpcListener, httpListener)
		close(r.done)
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		r.end()
		assert.NoError(t, <-r.done)
	})
	return r
}

func (r *running) do(t *testing.T, method, path, contentType, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

// fleet has one workload that needs three replicas of the cheaper variant.
func fleet() *poolwrightv1.Fleet {
	return &poolwrightv1.Fleet{
		Pools: []*poolwrightv1.Pool{
			{Accelerator: "H100", PricePerHour: 4, Capacity: proto.Int32(8)},
			{Accelerator: "A100", PricePerHour: 2, Capacity: proto.Int32(8)},
		},
		Workloads: []*poolwrightv1.Workload{{
			Name: "chat", Load: &poolwrightv1.Load{ArrivalRate: 12},
			Variants: []*poolwrightv1.Variant{
				{Name: "chat-h100", Accelerator: "H100", CapacityRps: 7},
				{Name: "chat-a100", Accelerator: "A100", CapacityRps: 4},
			},
		}},
	}
}

func TestSamePlanOverGRPCAndREST(t *testing.T) {
	r := start(t)
	overGRPC, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Optimize(t.Context(), fleet())
	require.NoError(t, err)
	assert.Equal(t, poolwrightv1.Plan_OPTIMAL, overGRPC.GetProof())
	assert.InDelta(t, 6, overGRPC.GetPricePerHour(), 1e-9)

	body, err := protojson.Marshal(fleet())
	require.NoError(t, err)
	code, answer := r.do(t, http.MethodPost, "/v1/optimize", "application/x-www-form-urlencoded", string(body))
	require.Equal(t, http.StatusOK, code, answer)
	var overREST poolwrightv1.Plan
	require.NoError(t, protojson.Unmarshal([]byte(answer), &overREST))
	assert.True(t, proto.Equal(overGRPC, &overREST), "gRPC %v\nREST %v", overGRPC, &overREST)
}

func TestSameExplanationOverGRPCAndREST(t *testing.T) {
	r := start(t)
	short := fleet()
	short.Workloads[0].Load.ArrivalRate = 100
	client := poolwrightv1.NewOptimizerServiceClient(r.conn)
	overGRPC, err := client.Explain(t.Context(), short)
	require.NoError(t, err)
	require.Len(t, overGRPC.GetShortage().GetIncreases(), 2)
	assert.Equal(t, poolwrightv1.Increase_HELPS, overGRPC.GetShortage().GetIncreases()[0].GetVerdict())
	assert.NotEmpty(t, overGRPC.GetCurves())
	assert.Empty(t, overGRPC.GetLeftOut())
	plan, err := client.Optimize(t.Context(), short)
	require.NoError(t, err)
	assert.True(t, proto.Equal(plan, overGRPC.GetPlan()))

	body, err := protojson.Marshal(short)
	require.NoError(t, err)
	code, answer := r.do(t, http.MethodPost, "/v1/explain", "application/json", string(body))
	require.Equal(t, http.StatusOK, code, answer)
	var overREST poolwrightv1.Explanation
	require.NoError(t, protojson.Unmarshal([]byte(answer), &overREST))
	assert.True(t, proto.Equal(overGRPC, &overREST), "gRPC %v\nREST %v", overGRPC, &overREST)
}

// The time limit covers plan and explanation: what it leaves no time for is listed.
func TestExplanationKeepsTheTimeLimit(t *testing.T) {
	f := fleet()
	for i := range 500 { // far more than a millisecond's work
		w := proto.Clone(f.Workloads[0]).(*poolwrightv1.Workload)
		w.Name = fmt.Sprint("chat", i)
		f.Workloads = append(f.Workloads, w)
	}
	f.Objective = &poolwrightv1.Objective{TimeLimit: durationpb.New(time.Millisecond)}
	explanation, err := poolwrightv1.NewOptimizerServiceClient(start(t).conn).Explain(t.Context(), f)
	require.NoError(t, err)
	assert.Len(t, explanation.GetPlan().GetWorkloads(), 501)
	assert.NotEmpty(t, explanation.GetLeftOut())
}

func TestYAMLBody(t *testing.T) {
	code, answer := start(t).do(t, http.MethodPost, "/v1/capacity", "application/yaml", `
pools: [{accelerator: H100}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 2.5}]}]
`)
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, answer, "capacityRps: 2.5")
}

// broken has one mistake of each kind that a decoded message can have.
func broken() *poolwrightv1.Fleet {
	f := fleet()
	f.Pools[0].PricePerHour = -1
	f.Workloads[0].Load.ArrivalRate = -2
	f.Workloads[0].Variants[1].Name = "chat-h100"
	f.Workloads[0].Variants[1].Accelerator = "B200"
	return f
}

var brokenPaths = []string{
	"pools[0].pricePerHour",
	"workloads[0].load.arrivalRate",
	"workloads[0].variants[1].accelerator",
	"workloads[0].variants[1].name",
}

func TestEveryViolationOverGRPC(t *testing.T) {
	_, err := poolwrightv1.NewOptimizerServiceClient(start(t).conn).Optimize(t.Context(), broken())
	s := status.Convert(err)
	require.Equal(t, codes.InvalidArgument, s.Code())
	require.Len(t, s.Details(), 1)
	var paths []string
	for _, v := range s.Details()[0].(*errdetails.BadRequest).GetFieldViolations() {
		paths = append(paths, v.GetField())
		assert.NotEmpty(t, v.GetDescription())
	}
	assert.Equal(t, brokenPaths, paths)
}

func TestEveryViolationOverREST(t *testing.T) {
	body, err := protojson.Marshal(broken())
	require.NoError(t, err)
	// An unknown field beside the others: mistakes in the text and in the meaning come together.
	text := strings.Replace(string(body), `"pools"`, `"polls":1,"pools"`, 1)
	code, answer := start(t).do(t, http.MethodPost, "/v1/optimize", "application/json", text)
	assert.Equal(t, http.StatusBadRequest, code)
	var decoded struct {
		Code    int
		Details []struct {
			FieldViolations []struct{ Field, Description string }
		}
	}
	require.NoError(t, json.NewDecoder(bytes.NewReader([]byte(answer))).Decode(&decoded))
	assert.Equal(t, int(codes.InvalidArgument), decoded.Code)
	require.Len(t, decoded.Details, 1, answer)
	var paths []string
	for _, v := range decoded.Details[0].FieldViolations {
		paths = append(paths, v.Field)
	}
	assert.ElementsMatch(t, append([]string{"polls"}, brokenPaths...), paths)
}

func TestUnmetDemandIsAnAnswer(t *testing.T) {
	f := fleet()
	f.Workloads[0].Load.ArrivalRate = 1000
	plan, err := poolwrightv1.NewOptimizerServiceClient(start(t).conn).Optimize(t.Context(), f)
	require.NoError(t, err)
	assert.Equal(t, poolwrightv1.Plan_PARTIAL, plan.GetDemand())
	assert.InDelta(t, 1000-8*7-8*4, plan.GetWorkloads()[0].GetUnmetRps(), 1e-6)
	assert.Contains(t, plan.GetWorkloads()[0].GetBinding(), "pool/")
}

func TestEmptyBodyIsBadInput(t *testing.T) {
	code, answer := start(t).do(t, http.MethodPost, "/v1/optimize", "application/json", "")
	assert.Equal(t, http.StatusBadRequest, code, answer)
	assert.Contains(t, answer, "empty")
}

func TestLargeBodyIsRefused(t *testing.T) {
	code, answer := start(t).do(t, http.MethodPost, "/v1/optimize", "application/json",
		`{"x":"`+strings.Repeat("x", server.DefaultMaxRequestBytes)+`"}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, code)
	assert.Contains(t, answer, "too large")
}

func TestOtherMethodsAreNotAllowed(t *testing.T) {
	code, answer := start(t).do(t, http.MethodGet, "/v1/optimize", "", "")
	assert.Equal(t, http.StatusMethodNotAllowed, code)
	assert.Contains(t, answer, "use POST")
}

// panicking is a service with a bug.
type panicking struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
}

func (panicking) Optimize(context.Context, *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	panic("division by zero")
}

func TestPanicIsAnInternalError(t *testing.T) {
	var log bytes.Buffer
	r := startServer(t, server.Config{
		Services: server.Services{Optimizer: panicking{}}, Registry: prometheus.NewRegistry(), Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	_, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Optimize(t.Context(), fleet())
	assert.Equal(t, codes.Internal, status.Code(err))
	body, err := protojson.Marshal(fleet())
	require.NoError(t, err)
	code, answer := r.do(t, http.MethodPost, "/v1/optimize", "application/json", string(body))
	assert.Equal(t, http.StatusInternalServerError, code)
	assert.Contains(t, answer, "division by zero")
	r.end()
	require.NoError(t, <-r.done)
	assert.Equal(t, 2, strings.Count(log.String(), `panic="division by zero"`))
	assert.Equal(t, 2, strings.Count(log.String(), "panicking.Optimize("), "the log says where")
}

func TestHostileListsAreCheap(t *testing.T) {
	body := `{"pools":[` + strings.Repeat("{},", 300_000) + `{}]}`
	code, answer := start(t).do(t, http.MethodPost, "/v1/optimize", "application/json", body)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Less(t, len(answer), 1000)
	assert.Contains(t, answer, "300001 are more than the 10000 allowed")
}

func TestOperationalEndpoints(t *testing.T) {
	r := start(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		code, answer := r.do(t, http.MethodGet, path, "", "")
		assert.Equal(t, http.StatusOK, code)
		assert.Equal(t, "ok\n", answer)
	}
	code, answer := r.do(t, http.MethodGet, "/openapi.json", "", "")
	assert.Equal(t, http.StatusOK, code)
	assert.True(t, json.Valid([]byte(answer)))
	assert.Contains(t, answer, "/v1/optimize")

	_, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Optimize(t.Context(), fleet())
	require.NoError(t, err)
	_, answer = r.do(t, http.MethodGet, "/metrics", "", "")
	assert.Contains(t, answer, `grpc_server_handled_total{grpc_code="OK",grpc_method="Optimize"`)

	answered, err := healthv1.NewHealthClient(r.conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	assert.Equal(t, healthv1.HealthCheckResponse_SERVING, answered.GetStatus())
}

func TestReflectionListsTheService(t *testing.T) {
	stream, err := reflectionv1.NewServerReflectionClient(start(t).conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
	}))
	answer, err := stream.Recv()
	require.NoError(t, err)
	var names []string
	for _, s := range answer.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	assert.Contains(t, names, "poolwright.v1.OptimizerService")
}

// slowService answers once released.
type slowService struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
	called, release chan struct{}
}

func (s *slowService) Optimize(context.Context, *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	close(s.called)
	<-s.release
	return &poolwrightv1.Plan{Objective: 42}, nil
}

func TestShutdownLetsCallsFinish(t *testing.T) {
	slow := &slowService{called: make(chan struct{}), release: make(chan struct{})}
	r := startService(t, slow)
	answers := make(chan *poolwrightv1.Plan, 1)
	go func() {
		plan, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Optimize(context.Background(), fleet())
		assert.NoError(t, err)
		answers <- plan
	}()
	<-slow.called
	r.end()
	require.Eventually(t, func() bool { // no new connection is taken any more
		c, err := net.Dial("tcp", r.conn.Target())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, 5*time.Second, time.Millisecond)
	close(slow.release)
	assert.InDelta(t, 42, (<-answers).GetObjective(), 0)
	assert.NoError(t, <-r.done)
}

// Whether the end comes before the listeners are served or after is a matter of luck.
func TestEndBeforeTheBeginning(t *testing.T) {
	for range 20 {
		r := start(t)
		r.end()
		require.NoError(t, <-r.done)
	}
}

// leaving is the context of a client that leaves after it was looked for some times.
type leaving struct {
	context.Context
	looks atomic.Int64
}

func (l *leaving) Err() error {
	if l.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// What clients have asked for who leave is given up, in the middle of the work.
func TestWorkEndsWhenTheClientLeaves(t *testing.T) {
	mix, err := sources.ReadFleet(examples.Mix)
	require.NoError(t, err)
	for i := range 50 {
		w := proto.CloneOf(mix.GetWorkloads()[i%3])
		w.Name = fmt.Sprintf("more-%d", i)
		w.Load.InputTokens += float64(i)
		mix.Workloads = append(mix.Workloads, w)
	}
	service := server.NewOptimizer(planner.New(lp.Simplex()))
	for name, call := range map[string]func(context.Context) error{
		"optimize": func(ctx context.Context) error { _, err := service.Optimize(ctx, mix); return err },
		"explain":  func(ctx context.Context) error { _, err := service.Explain(ctx, mix); return err },
		"evaluate": func(ctx context.Context) error { _, err := service.Evaluate(ctx, mix); return err },
		"capacity": func(ctx context.Context) error { _, err := service.Capacity(ctx, mix); return err },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := &leaving{Context: t.Context()}
			ctx.looks.Store(5)
			assert.Equal(t, codes.Canceled, status.Code(call(ctx)))
			ctx.looks.Store(1 << 40)
			assert.NoError(t, call(ctx))
		})
	}
}
