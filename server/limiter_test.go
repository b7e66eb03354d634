package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
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
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/proto/externalscaler"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
	"github.com/poolwright/poolwright/sources"
)

// held is a service that computes until it is let go, or asks whether to stop until then.
type held struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
	began chan string
	let   chan struct{}
}

func newHeld() *held { return &held{began: make(chan string, 100), let: make(chan struct{})} }

func (h *held) Optimize(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	h.began <- m.GetWorkloads()[0].GetName()
	select {
	case <-h.let:
		return &poolwrightv1.Plan{}, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

func (h *held) Explain(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Explanation, error) {
	h.began <- m.GetWorkloads()[0].GetName()
	for stop := server.Stop(ctx); !stop(); {
		select {
		case <-h.let:
			return &poolwrightv1.Explanation{}, nil
		case <-time.After(time.Millisecond):
		}
	}
	return nil, status.FromContextError(ctx.Err()).Err()
}

// limited is a server with limits.
type limited struct {
	*running
	*held
	client poolwrightv1.OptimizerServiceClient
	// loop goes before calls.
	loop *server.Precedence
}

func startLimited(t *testing.T, limits server.Limits) limited {
	t.Helper()
	l := limited{held: newHeld(), loop: &server.Precedence{}}
	x := newCluster(controller.HistoryConfig{}, "a")
	x.tick(t, "a", 5)
	l.running = startServer(t, server.Config{
		Services: server.Services{Optimizer: l.held, Fleet: server.NewFleet(x)},
		Registry: prometheus.NewRegistry(), Limits: func() server.Limits { return limits }, Precedence: l.loop,
	})
	l.client = poolwrightv1.NewOptimizerServiceClient(l.conn)
	return l
}

// named is a fleet of one workload.
func named(workload string) *poolwrightv1.Fleet {
	return &poolwrightv1.Fleet{Workloads: []*poolwrightv1.Workload{{Name: workload}}}
}

// one is such a fleet as text.
const one = `{"workloads":[{"name":"one"}]}`

// optimize calls, and sends what became of it.
func (l limited) optimize(ctx context.Context, name string, done chan<- error) {
	_, err := l.client.Optimize(ctx, named(name))
	done <- err
}

// has waits for metrics.
func (l limited) has(t *testing.T, lines ...string) {
	t.Helper()
	var text string
	if !assert.Eventually(t, func() bool {
		_, text = l.do(t, http.MethodGet, "/metrics", "", "")
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line+"\n") {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond, "%s", lines) {
		t.Log(text)
	}
}

func TestCallsBeyondTheQueueAreRefused(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1, Queue: 2})
	done := make(chan error, 3)
	go l.optimize(t.Context(), "first", done)
	assert.Equal(t, "first", <-l.began)
	for waiting, name := range []string{"second", "third"} {
		go l.optimize(t.Context(), name, done)
		l.has(t, "poolwright_calls_waiting "+strconv.Itoa(waiting+1))
	}
	_, err := l.client.Optimize(t.Context(), fleet())
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	require.Len(t, status.Convert(err).Details(), 1)
	info, ok := status.Convert(err).Details()[0].(*errdetails.RetryInfo)
	require.True(t, ok)
	assert.Positive(t, info.GetRetryDelay().AsDuration())

	for _, path := range []string{"/v1/optimize", "/read/fleet"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url+path, strings.NewReader("{}"))
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusTooManyRequests, response.StatusCode, path)
		assert.Equal(t, "1", response.Header.Get("Retry-After"), path)
	}
	// What is not computed is answered all the same.
	code, _ := l.do(t, http.MethodGet, "/v1/fleet", "", "")
	assert.Equal(t, http.StatusOK, code)
	l.has(t, "poolwright_calls_computing 1", `poolwright_calls_shed_total{reason="queue"} 3`)

	for _, next := range []string{"second", "third"} {
		l.let <- struct{}{}
		require.NoError(t, <-done)
		assert.Equal(t, next, <-l.began, "who comes first is computed first")
	}
	l.let <- struct{}{}
	require.NoError(t, <-done)
	l.has(t, "poolwright_calls_computing 0", "poolwright_calls_waiting 0", "poolwright_call_wait_seconds_count 3")
}

func TestWhoLeavesTheQueueMakesPlace(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1, Queue: 1})
	done, left := make(chan error, 2), make(chan error, 1)
	go l.optimize(t.Context(), "first", done)
	<-l.began
	ctx, leave := context.WithCancel(t.Context())
	go l.optimize(ctx, "second", left)
	l.has(t, "poolwright_calls_waiting 1")
	leave()
	assert.Equal(t, codes.Canceled, status.Code(<-left))
	l.has(t, "poolwright_calls_waiting 0", `poolwright_calls_shed_total{reason="left"} 1`)
	go l.optimize(t.Context(), "third", done)
	l.has(t, "poolwright_calls_waiting 1")
	close(l.let)
	assert.Equal(t, "third", <-l.began)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}

func TestDeadlineOfCalls(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1, Deadline: 50 * time.Millisecond})
	done := make(chan error, 2)
	go l.optimize(t.Context(), "first", done)
	<-l.began
	go l.optimize(t.Context(), "second", done)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(<-done))
	code, _ := l.do(t, http.MethodPost, "/v1/optimize", "", one)
	assert.Equal(t, http.StatusGatewayTimeout, code)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(<-done))
}

// A request that does not come is waited for no longer than a call may take.
func TestDeadlineOfRequests(t *testing.T) {
	l := startLimited(t, server.Limits{Deadline: 50 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, method := range []string{
		poolwrightv1.OptimizerService_Optimize_FullMethodName, poolwrightv1.FleetService_WatchDecisions_FullMethodName, poolwrightv1.FleetService_GetFleet_FullMethodName,
	} {
		stream, err := l.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		require.NoError(t, err)
		err = stream.RecvMsg(&poolwrightv1.Plan{})
		assert.Equal(t, codes.DeadlineExceeded, status.Code(err), "%s: %v", method, err)
		assert.NoError(t, ctx.Err(), method)
	}
}

// A large request takes all slots, whatever it is worth, and those that come after it wait.
func TestLargeRequestsTakeMore(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 3})
	large, small := make(chan error, 1), make(chan error, 1)
	go l.optimize(t.Context(), strings.Repeat("x", 1<<20), large)
	<-l.began
	go l.optimize(t.Context(), "small", small)
	l.has(t, "poolwright_calls_waiting 1", "poolwright_calls_computing 1")
	l.let <- struct{}{}
	require.NoError(t, <-large)
	assert.Equal(t, "small", <-l.began)
	close(l.let)
	require.NoError(t, <-small)
}

// One that takes long keeps nobody waiting for long.
func TestLongCallsGiveWay(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1})
	long, done := make(chan error, 1), make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		_, err := l.client.Explain(ctx, named("long"))
		long <- err
	}()
	assert.Equal(t, "long", <-l.began)
	for range 3 {
		go l.optimize(t.Context(), "short", done)
		assert.Equal(t, "short", <-l.began)
		l.has(t, "poolwright_calls_waiting 1", "poolwright_calls_computing 1")
		l.let <- struct{}{}
		require.NoError(t, <-done)
	}
	select {
	case err := <-long:
		require.Fail(t, "ended", "%v", err)
	default:
	}
	leave()
	assert.Equal(t, codes.Canceled, status.Code(<-long))
	l.has(t, "poolwright_calls_waiting 0", "poolwright_calls_computing 0")
}

// noted is the service, and notes what it has computed that has no search in it.
type noted struct {
	*server.Optimizer
	computed atomic.Int32
}

func (n *noted) Evaluate(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	defer n.computed.Add(1)
	return n.Optimizer.Evaluate(ctx, m)
}

func (n *noted) Capacity(ctx context.Context, m *poolwrightv1.Fleet) (*poolwrightv1.Capacities, error) {
	defer n.computed.Add(1)
	return n.Optimizer.Capacity(ctx, m)
}

// What has no search in it gives way, too.
func TestSizingAndPredictionGiveWay(t *testing.T) {
	mix, err := sources.ReadFleet(examples.Mix)
	require.NoError(t, err)
	for i := range 20_000 { // far more than is computed while others are
		w := proto.CloneOf(mix.GetWorkloads()[i%3])
		w.Name = fmt.Sprintf("more-%d", i)
		w.Load.InputTokens += float64(i)
		mix.Workloads = append(mix.Workloads, w)
	}
	service := &noted{Optimizer: server.NewOptimizer(planner.New(lp.Simplex()))}
	l := limited{running: startServer(t, server.Config{
		Services: server.Services{Optimizer: service},
		Registry: prometheus.NewRegistry(), Limits: func() server.Limits { return server.Limits{Concurrency: 1} },
	})}
	client := poolwrightv1.NewOptimizerServiceClient(l.conn)
	for name, call := range map[string]func(context.Context) error{
		"evaluate": func(ctx context.Context) error { _, err := client.Evaluate(ctx, mix); return err },
		"capacity": func(ctx context.Context) error { _, err := client.Capacity(ctx, mix); return err },
	} {
		t.Run(name, func(t *testing.T) {
			service.computed.Store(0)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			long := make(chan error, 1)
			go func() { long <- call(ctx) }()
			l.has(t, "poolwright_calls_computing 1")
			for range 3 {
				_, err := client.Optimize(t.Context(), fleet())
				require.NoError(t, err)
			}
			assert.Zero(t, service.computed.Load(), "it had ended before")
			leave()
			assert.Equal(t, codes.Canceled, status.Code(<-long))
			l.has(t, "poolwright_calls_computing 0")
		})
	}
}

// While the loop is at work, calls leave it a processor: those that come then wait, and one that
// takes long gives way.
func TestLoopGoesBeforeCalls(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 2})
	long, done := make(chan error, 1), make(chan error, 2)
	go func() {
		_, err := l.client.Explain(t.Context(), named("long"))
		long <- err
	}()
	go l.optimize(t.Context(), "first", done)
	assert.ElementsMatch(t, []string{"long", "first"}, []string{<-l.began, <-l.began})
	l.has(t, "poolwright_calls_computing 2")
	end := l.loop.Begin()
	l.has(t, "poolwright_calls_waiting 1", "poolwright_calls_computing 1")
	go l.optimize(t.Context(), "second", done)
	l.has(t, "poolwright_calls_waiting 2", "poolwright_calls_computing 1")
	l.loop.Begin()() // of two that are under way, one ends
	l.has(t, "poolwright_calls_waiting 2", "poolwright_calls_computing 1")
	end()
	l.has(t, "poolwright_calls_waiting 1", "poolwright_calls_computing 2")
	close(l.let)
	require.NoError(t, <-long)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}

// Where one call computes at once, one does whatever the loop does.
func TestLoopLeavesCallsAProcessor(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1})
	close(l.let)
	defer l.loop.Begin()()
	done := make(chan error, 1)
	l.optimize(t.Context(), "one", done)
	require.NoError(t, <-done)
}

// One that has given way, and whose client leaves meanwhile, does not come back.
func TestClientLeavesWhileItsCallGivesWay(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1})
	long, done := make(chan error, 1), make(chan error, 1)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		_, err := l.client.Explain(ctx, named("long"))
		long <- err
	}()
	<-l.began
	go l.optimize(t.Context(), "short", done)
	assert.Equal(t, "short", <-l.began)
	leave()
	assert.Equal(t, codes.Canceled, status.Code(<-long))
	l.has(t, "poolwright_calls_waiting 0", "poolwright_calls_computing 1")
	close(l.let)
	require.NoError(t, <-done)
	l.has(t, "poolwright_calls_computing 0")
}

func TestRateOfCallers(t *testing.T) {
	l := startLimited(t, server.Limits{Rate: 0.001, Burst: 2})
	close(l.let)
	_, err := l.client.Optimize(t.Context(), fleet())
	require.NoError(t, err)
	code, _ := l.do(t, http.MethodPost, "/v1/optimize", "", one)
	assert.Equal(t, http.StatusOK, code)
	_, err = l.client.Optimize(t.Context(), fleet())
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	for method, path := range map[string]string{http.MethodPost: "/v1/optimize", http.MethodGet: "/v1/fleet"} {
		code, answer := l.do(t, method, path, "", "")
		assert.Equal(t, http.StatusTooManyRequests, code, path)
		assert.Contains(t, answer, "RetryInfo")
	}
	stream, err := poolwrightv1.NewFleetServiceClient(l.conn).WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	// Who asks whether the process is well is always answered.
	_, err = healthv1.NewHealthClient(l.conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	code, _ = l.do(t, http.MethodGet, "/healthz", "", "")
	assert.Equal(t, http.StatusOK, code)
	l.has(t, `poolwright_calls_shed_total{reason="rate"} 4`)
}

// from calls from an address of this machine.
func from(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
}

// Who has as many streams open as they may is refused, over REST as over gRPC. What has one answer is answered
// while as many are open as may be.
func TestStreamsOfCallers(t *testing.T) {
	l := startLimited(t, server.Limits{Streams: 4})
	_, end := lines(t, l.running, "")
	lines(t, l.running, "")
	code, answer := l.do(t, http.MethodGet, "/v1/decisions:watch", "", "")
	assert.Equal(t, http.StatusTooManyRequests, code)
	assert.Contains(t, answer, "2 streams of yours are open")
	refused, err := poolwrightv1.NewFleetServiceClient(l.conn).WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
	require.NoError(t, err)
	_, err = refused.Recv()
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	other := http.Client{Transport: &http.Transport{DialContext: from("127.0.0.2").DialContext}}
	get := func(ctx context.Context, path string) int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path, http.NoBody)
		require.NoError(t, err)
		response, err := other.Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response.StatusCode
	}
	for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		require.Equal(t, want, get(t.Context(), "/v1/decisions:watch"))
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.Equal(t, http.StatusOK, get(soon, "/v1/fleet"))
	l.has(t, `poolwright_calls_shed_total{reason="streams"} 3`)

	end()
	require.Eventually(t, func() bool {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		stream, err := poolwrightv1.NewFleetServiceClient(l.conn).WatchDecisions(ctx, &poolwrightv1.WatchDecisionsRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		return err == nil
	}, 10*time.Second, time.Millisecond)
}

func TestLimitOfSize(t *testing.T) {
	l := startLimited(t, server.Limits{MaxRequestBytes: 1000})
	_, err := l.client.Optimize(t.Context(), named(strings.Repeat("x", 1000)))
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	code, _ := l.do(t, http.MethodPost, "/v1/optimize", "", `{"workloads":[{"name":"`+strings.Repeat("x", 1000)+`"}]}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, code)
}

// What comes of requests takes memory, until they are answered.
func TestRequestsTakeMemory(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1, RequestMemory: 64 << 10})
	large := make(chan error, 1)
	go l.optimize(t.Context(), strings.Repeat("x", 600), large)
	<-l.began
	_, err := l.client.Optimize(t.Context(), named(strings.Repeat("x", 600)))
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	require.Len(t, status.Convert(err).Details(), 1, err)
	for _, path := range []string{"/v1/optimize", "/v1/simulate"} {
		code, text := l.do(t, http.MethodPost, path, "", `{"name":"`+strings.Repeat("x", 600)+`"}`)
		assert.Equal(t, http.StatusTooManyRequests, code, text)
		assert.Contains(t, text, "of memory")
	}
	code, text := l.do(t, http.MethodPost, "/v1/workloads/a:pause", "", `{"reason":"`+strings.Repeat("x", 600)+`"}`)
	assert.Equal(t, http.StatusOK, code, text)
	code, text = l.do(t, http.MethodPut, "/v1/optimize", "", `{"name":"`+strings.Repeat("x", 600)+`"}`)
	assert.Equal(t, http.StatusMethodNotAllowed, code, "which needs none: %s", text)
	small := make(chan error, 1)
	go l.optimize(t.Context(), "small", small)
	l.has(t, "poolwright_calls_waiting 1", `poolwright_calls_shed_total{reason="memory"} 3`)
	close(l.let)
	require.NoError(t, <-large)
	require.NoError(t, <-small)
	_, err = l.client.Optimize(t.Context(), named(strings.Repeat("x", 600)))
	require.NoError(t, err, "it was given back")
	_, err = l.client.Optimize(t.Context(), named(strings.Repeat("x", 1100)))
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	assert.Empty(t, status.Convert(err).Details(), "there will never be enough")
}

// lengthy is a service whose answers fit into no buffer.
type lengthy struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
}

func (lengthy) Optimize(context.Context, *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	return &poolwrightv1.Plan{Workloads: []*poolwrightv1.WorkloadPlan{{Name: strings.Repeat("x", 32<<20)}}}, nil
}

// What an answer takes that is not read is taken from nobody's processor, but from the memory.
func TestAnswersTakeMemory(t *testing.T) {
	l := limited{running: startServer(t, server.Config{
		Services: server.Services{Optimizer: lengthy{}}, Registry: prometheus.NewRegistry(),
		Limits: func() server.Limits { return server.Limits{RequestMemory: 64 << 10} },
	})}
	body := `{"workloads":[{"name":"` + strings.Repeat("x", 600) + `"}]}`
	conn, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "POST /v1/optimize HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	l.has(t, "poolwright_call_wait_seconds_count 1", "poolwright_calls_computing 0")
	code, text := l.do(t, http.MethodPost, "/v1/optimize", "", body)
	assert.Equal(t, http.StatusTooManyRequests, code, "%.300s", text)
	require.NoError(t, conn.Close())
	assert.Eventually(t, func() bool {
		code, _ := l.do(t, http.MethodPost, "/v1/optimize", "", body)
		return code != http.StatusTooManyRequests
	}, 10*time.Second, 10*time.Millisecond, "it is given back")
}

// A caller whose requests do not come keeps nobody from health, and takes no place.
func TestRequestsThatDoNotCome(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1, Queue: 1})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var slow []grpc.ClientStream
	for range 100 { // as many as may be read wait for the others
		stream, err := l.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, poolwrightv1.OptimizerService_Optimize_FullMethodName)
		require.NoError(t, err)
		slow = append(slow, stream)
	}
	_, err := healthv1.NewHealthClient(l.conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	leave()
	for _, stream := range slow {
		assert.Equal(t, codes.Canceled, status.Code(stream.RecvMsg(&poolwrightv1.Plan{})))
	}
	close(l.let)
	_, err = l.client.Optimize(t.Context(), named("a"))
	require.NoError(t, err)
}

// Callers whose requests do not come keep KEDA waiting for less time than it waits for, and nobody from
// health, which reads nothing.
func TestSlowCallersStopNobodyElse(t *testing.T) {
	d := newDecisions()
	d.decide(0, 2, 5)
	r := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Scaler: server.NewScaler(server.ScalerConfig{Decisions: d}),
	}, prometheus.NewRegistry())
	for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
		conn, err := grpc.NewClient(r.conn.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) {
				return from(address).DialContext(ctx, "tcp", to)
			}))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		for _, method := range []string{
			poolwrightv1.OptimizerService_Optimize_FullMethodName, externalscaler.ExternalScaler_IsActive_FullMethodName, healthv1.Health_Watch_FullMethodName,
		} {
			for range 20 {
				_, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
				require.NoError(t, err)
			}
		}
		check, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, healthv1.Health_Check_FullMethodName)
		require.NoError(t, err)
		require.NoError(t, check.RecvMsg(&healthv1.HealthCheckResponse{}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := healthv1.NewHealthClient(r.conn).Check(ctx, &healthv1.HealthCheckRequest{Service: strings.Repeat("x", 1<<20)})
	require.NoError(t, err)
	ask := func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err = externalscaler.NewExternalScalerClient(r.conn).IsActive(ctx, ofChat())
		return err
	}
	require.Eventually(t, func() bool { return ask(20*time.Millisecond) != nil }, 5*time.Second, time.Millisecond, "all places are taken")
	require.NoError(t, ask(3*time.Second))
}

// Over REST, too, what is small is to come soon.
func TestSmallRequestsComeSoon(t *testing.T) {
	l := startLimited(t, server.Limits{})
	conn, err := net.Dial("tcp", strings.TrimPrefix(l.url, "http://"))
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // only read
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = conn.Write([]byte("POST /v1/workloads/a:pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"))
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
}

// slowCollector collects nothing until it is let go.
type slowCollector struct {
	began, let chan struct{}
}

func (c slowCollector) Describe(chan<- *prometheus.Desc) {}

func (c slowCollector) Collect(chan<- prometheus.Metric) {
	c.began <- struct{}{}
	<-c.let
}

// Metrics are collected for some at once.
func TestWhatIsBesideTheAPIIsLimited(t *testing.T) {
	slow := slowCollector{make(chan struct{}), make(chan struct{})}
	registry := prometheus.NewRegistry()
	registry.MustRegister(slow)
	r := startServices(t, server.Services{Optimizer: newHeld()}, registry)
	answered := make(chan error, 4)
	for range cap(answered) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/metrics", nil)
		require.NoError(t, err)
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err == nil {
				err = response.Body.Close()
			}
			answered <- err
		}()
		<-slow.began
	}
	code, text := r.do(t, http.MethodGet, "/metrics", "", "")
	assert.Equal(t, http.StatusTooManyRequests, code)
	assert.Contains(t, text, "RetryInfo")
	close(slow.let)
	for range cap(answered) {
		require.NoError(t, <-answered)
	}
}

// What is neither computed nor simulated is small.
func TestOtherRequestsAreSmall(t *testing.T) {
	l := startLimited(t, server.Limits{})
	fleet := poolwrightv1.NewFleetServiceClient(l.conn)
	_, err := fleet.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{Workload: "a", Reason: strings.Repeat("x", 60_000)})
	assert.Equal(t, codes.InvalidArgument, status.Code(err), err)
	_, err = fleet.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{Workload: "a", Reason: strings.Repeat("x", 70_000)})
	assert.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	for size, want := range map[int]int{60_000: http.StatusBadRequest, 70_000: http.StatusRequestEntityTooLarge} {
		code, text := l.do(t, http.MethodPost, "/v1/workloads/a:pause", "", `{"reason":"`+strings.Repeat("x", size)+`"}`)
		assert.Equal(t, want, code, text)
	}
}

// Who does not send its request has a place for as long as a call may take.
func TestPlacesOfRequestsThatDoNotCome(t *testing.T) {
	l := startLimited(t, server.Limits{Concurrency: 1, Queue: 1, Deadline: 100 * time.Millisecond})
	var streams []grpc.ClientStream
	for range 2 {
		stream, err := l.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true}, poolwrightv1.OptimizerService_Optimize_FullMethodName)
		require.NoError(t, err)
		streams = append(streams, stream)
	}
	for _, stream := range streams {
		assert.Equal(t, codes.DeadlineExceeded, status.Code(stream.RecvMsg(&poolwrightv1.Plan{})))
	}
	close(l.let)
	_, err := l.client.Optimize(t.Context(), named("a"))
	require.NoError(t, err)
}
