package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/proto/externalscaler"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// startAging is a server whose connections and streams grow old soon.
func startAging(t *testing.T, services server.Services, age time.Duration) *running {
	t.Helper()
	s, err := server.NewAging(server.Config{Services: services, Registry: prometheus.NewRegistry()}, age)
	require.NoError(t, err)
	return serve(t, s)
}

// drain reads a stream to its end.
func drain[M any](stream grpc.ServerStreamingClient[M]) (err error) {
	for err == nil {
		_, err = stream.Recv()
	}
	return err
}

// Streams end in order before their connection does, also those that another process passes on.
func TestStreamsEndBeforeTheirConnection(t *testing.T) {
	t.Parallel()
	x := newCluster(controller.HistoryConfig{}, "a/chat")
	x.ticks(t, "a/chat", 3)
	services := servicesOf(x)
	services.Simulation = server.NewSimulation(server.SimulationConfig{Simulator: endless(make(chan struct{}, 10), make(chan struct{}, 10)), Concurrent: 1})
	r := startAging(t, services, time.Second)
	follower, _ := following(t, newCluster(controller.HistoryConfig{}), always(r.conn))
	for name, conn := range map[string]grpc.ClientConnInterface{"watch": r.conn, "watch by a follower": follower.conn} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 3 {
				stream, err := poolwrightv1.NewFleetServiceClient(conn).WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
				require.NoError(t, err)
				require.Equal(t, io.EOF, drain(stream))
			}
		})
	}
	t.Run("REST", func(t *testing.T) {
		t.Parallel()
		code, text := r.do(t, http.MethodGet, "/v1/decisions:watch", "", "")
		assert.Equal(t, http.StatusOK, code)
		assert.Contains(t, text, `{"result":`)
		assert.NotContains(t, text, "error")
	})
	t.Run("KEDA", func(t *testing.T) {
		t.Parallel()
		stream, err := externalscaler.NewExternalScalerClient(r.conn).StreamIsActive(t.Context(), &externalscaler.ScaledObjectRef{
			Namespace: "a", ScalerMetadata: map[string]string{"workload": "chat"},
		})
		require.NoError(t, err)
		require.Equal(t, io.EOF, drain(stream))
	})
	t.Run("simulation", func(t *testing.T) {
		t.Parallel()
		stream, err := poolwrightv1.NewSimulationServiceClient(r.conn).Simulate(t.Context(), &poolwrightv1.Simulation{})
		require.NoError(t, err)
		err = drain(stream)
		require.Equal(t, codes.DeadlineExceeded, status.Code(err), "%v", err)
		require.ErrorContains(t, err, "a simulation may take 1s")
	})
}

// Calls that are made one after the other do not notice that connections end.
func TestCallsOutliveConnections(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	x.ticks(t, "chat", 3)
	r := startAging(t, servicesOf(x), 200*time.Millisecond)
	_, follower := following(t, newCluster(controller.HistoryConfig{}), always(r.conn))
	for began := time.Now(); time.Since(began) < 2*time.Second; {
		_, err := poolwrightv1.NewFleetServiceClient(r.conn).GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
		require.NoError(t, err)
		_, err = follower.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
		require.NoError(t, err)
		code, text := r.do(t, http.MethodGet, "/v1/fleet", "", "")
		require.Equal(t, http.StatusOK, code, text)
	}
}

// seen is a connection that tells when it ends.
type seen struct {
	net.Conn
	ended chan<- error
}

func (s seen) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if err != nil {
		s.ended <- err
	}
	return n, err
}

// An answer by gRPC that nobody reads is kept for no longer than its connection.
func TestAnswersEndWithTheirConnection(t *testing.T) {
	r := startAging(t, server.Services{Optimizer: lengthy{}}, 200*time.Millisecond)
	ended := make(chan error, 10)
	conn, err := grpc.NewClient(r.conn.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			return seen{conn, ended}, err
		}))
	require.NoError(t, err)
	defer conn.Close() //nolint:errcheck // of the test
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, poolwrightv1.OptimizerService_Optimize_FullMethodName)
	require.NoError(t, err)
	require.NoError(t, stream.SendMsg(named("a")))
	require.NoError(t, stream.CloseSend())
	_, err = stream.Header()
	require.NoError(t, err)
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(10 * time.Second):
		require.Fail(t, "the connection stands")
	}
}
