package server_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// always is a leader that never changes.
func always(leader grpc.ClientConnInterface) server.Leader {
	return func() (grpc.ClientConnInterface, context.Context, error) { return leader, context.Background(), nil }
}

// following serves the loop of a leader.
func following(t *testing.T, x *cluster, leader server.Leader) (*running, poolwrightv1.FleetServiceClient) {
	t.Helper()
	r := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.Follow(server.NewFleet(x), leader),
	}, prometheus.NewRegistry())
	return r, poolwrightv1.NewFleetServiceClient(r.conn)
}

// A process that does not lead answers as the leader does.
func TestFollowerShowsTheLeader(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "prod/chat")
	leader, own := x.serve(t)
	x.ticks(t, "prod/chat", 3)
	f, client := following(t, newCluster(controller.HistoryConfig{}), always(leader.conn))

	want, err := own.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	got, err := client.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.NoError(t, err)
	assert.True(t, proto.Equal(want, got))
	code, page := f.do(t, http.MethodGet, "/v1/decisions", "", "")
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, page, `"oldestSequence": "1"`)

	pause, err := client.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{Workload: "prod/chat", Reason: "maintenance"})
	require.NoError(t, err)
	assert.Equal(t, "maintenance", pause.GetReason())
	require.Len(t, x.At(x.now), 1, "the leader holds it")
	resumed, err := client.ResumeWorkload(t.Context(), &poolwrightv1.ResumeWorkloadRequest{Workload: "prod/chat"})
	require.NoError(t, err)
	assert.True(t, proto.Equal(pause, resumed.GetPause()))

	next, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{AfterSequence: proto.Uint64(2)})
	assert.EqualValues(t, 3, next().GetDecision().GetSequence())
	x.tick(t, "prod/chat", 9)
	assert.EqualValues(t, 4, next().GetDecision().GetSequence())

	_, err = client.GetFleet(metadata.AppendToOutgoingContext(t.Context(), "poolwright-relayed", "true"), &poolwrightv1.GetFleetRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err), "who take each other for the leader do not ask in circles: %v", err)
}

func TestNobodyLeads(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	x.ticks(t, "chat", 1)
	_, client := following(t, x, func() (grpc.ClientConnInterface, context.Context, error) {
		return nil, nil, errors.New("nobody leads")
	})
	_, err := client.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.Equal(t, status.Error(codes.Unavailable, "nobody leads").Error(), err.Error())
	stream, err := client.WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.Equal(t, codes.Unavailable, status.Code(err))
}

// waiting is a leader that answers nothing until it is left.
type waiting struct {
	poolwrightv1.UnimplementedFleetServiceServer
	asked chan struct{}
}

func (w *waiting) GetFleet(ctx context.Context, _ *poolwrightv1.GetFleetRequest) (*poolwrightv1.GetFleetResponse, error) {
	w.asked <- struct{}{}
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

func (w *waiting) WatchDecisions(_ *poolwrightv1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[poolwrightv1.WatchDecisionsResponse]) error {
	w.asked <- struct{}{}
	<-stream.Context().Done()
	return status.FromContextError(stream.Context().Err()).Err()
}

// Who asks while the leader changes is told to ask again.
func TestLeaderChangesUnderCalls(t *testing.T) {
	w := &waiting{asked: make(chan struct{}, 1)}
	leader := startServices(t, server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: w}, prometheus.NewRegistry())
	f, client := following(t, newCluster(controller.HistoryConfig{}), always(leader.conn))
	one, all := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := client.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
		one <- err
	}()
	<-w.asked
	go func() {
		stream, err := client.WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		all <- err
	}()
	<-w.asked
	require.NoError(t, leader.conn.Close())
	_, afterwards := client.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	for _, err := range []error{<-one, <-all, afterwards} {
		assert.Equal(t, "rpc error: code = Unavailable desc = another process leads", err.Error())
		assert.Len(t, status.Convert(err).Details(), 1)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/fleet", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "1", response.Header.Get("Retry-After"))
}

// Whoever watches a process that leads no longer is told so, and may ask again.
func TestWatchEndsWithTheTerm(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	x.ticks(t, "chat", 1)
	term, end := context.WithCancel(t.Context())
	_, client := following(t, x, func() (grpc.ClientConnInterface, context.Context, error) { return nil, term, nil })
	stream, err := client.WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	end()
	_, err = stream.Recv()
	require.Equal(t, status.Error(codes.Unavailable, "another process leads").Error(), err.Error())
}

// Readiness and life are told as they are, by HTTP and by gRPC.
func TestHealth(t *testing.T) {
	var unready, dead atomic.Bool
	condition := func(fails *atomic.Bool, why string) func() error {
		return func() error {
			if fails.Load() {
				return errors.New(why)
			}
			return nil
		}
	}
	r := startServer(t, server.Config{
		Services: server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex()))}, Registry: prometheus.NewRegistry(),
		Ready: condition(&unready, "nothing is known yet"), Live: condition(&dead, "it hangs"),
	})
	expect := func(path string, code int, text string) {
		t.Helper()
		got, answer := r.do(t, http.MethodGet, path, "", "")
		assert.Equal(t, code, got)
		assert.Equal(t, text, answer)
	}
	ready := func() healthv1.HealthCheckResponse_ServingStatus {
		answer, err := healthv1.NewHealthClient(r.conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		require.NoError(t, err)
		return answer.GetStatus()
	}
	expect("/healthz", http.StatusOK, "ok\n")
	expect("/readyz", http.StatusOK, "ok\n")
	unready.Store(true)
	expect("/healthz", http.StatusOK, "ok\n")
	expect("/readyz", http.StatusServiceUnavailable, "nothing is known yet\n")
	require.Eventually(t, func() bool { return ready() == healthv1.HealthCheckResponse_NOT_SERVING }, 10*time.Second, time.Millisecond)
	unready.Store(false)
	dead.Store(true)
	expect("/healthz", http.StatusServiceUnavailable, "it hangs\n")
	require.Eventually(t, func() bool { return ready() == healthv1.HealthCheckResponse_SERVING }, 10*time.Second, time.Millisecond)
}
