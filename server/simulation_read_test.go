package server

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// talkative tells of progress until it is to end.
type talkative struct{}

func (talkative) Simulate(ctx context.Context, _ *poolwrightv1.Simulation, progress func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error) {
	for ctx.Err() == nil {
		progress(&poolwrightv1.SimulationProgress{Done: 0.5})
	}
	return nil, ctx.Err()
}

// Who does not read what a simulation says keeps its place from nobody.
func TestSimulationsThatNobodyReads(t *testing.T) {
	service := NewSimulation(SimulationConfig{Simulator: talkative{}, Concurrent: 1})
	service.patience /= 300
	server := grpc.NewServer()
	poolwrightv1.RegisterSimulationServiceServer(server, service)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })

	stream, err := poolwrightv1.NewSimulationServiceClient(conn).Simulate(t.Context(), &poolwrightv1.Simulation{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	require.Len(t, service.places, 1)
	require.Eventually(t, func() bool { return len(service.places) == 0 }, 10*time.Second, 10*time.Millisecond)
}
