package server_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/poolwright/poolwright/server"
)

// A stream takes no place from calls, even where a connection has one place.
func TestClientKeepsStreamsFromCalls(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer(grpc.MaxConcurrentStreams(1))
	healthv1.RegisterHealthServer(s, health.NewServer())
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	client, err := server.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := healthv1.NewHealthClient(client).Watch(ctx, &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	_, err = healthv1.NewHealthClient(client).Check(ctx, &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	_, err = stream.Recv()
	require.Error(t, err)
}
