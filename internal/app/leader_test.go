package app

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/poolwright/poolwright/internal/election"
	"github.com/poolwright/poolwright/proto/externalscaler"
)

// active says that all is.
type active struct {
	externalscaler.UnimplementedExternalScalerServer
}

func (active) IsActive(context.Context, *externalscaler.ScaledObjectRef) (*externalscaler.IsActiveResponse, error) {
	return &externalscaler.IsActiveResponse{Result: true}, nil
}

func TestLeaderIsAsked(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	externalscaler.RegisterExternalScalerServer(s, active{})
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)

	var l leader
	require.Nil(t, l.scaler(), "nobody is elected")
	require.NoError(t, l.changed(election.Leader{Identity: "other", Address: listener.Addr().String()}))
	answer, err := l.scaler().IsActive(t.Context(), &externalscaler.ScaledObjectRef{})
	require.NoError(t, err)
	require.True(t, answer.GetResult())

	require.NoError(t, l.changed(election.Leader{Identity: "unreachable"}))
	require.Nil(t, l.scaler())
	require.NoError(t, l.changed(election.Leader{Identity: "other", Address: listener.Addr().String()}))
	require.NoError(t, l.changed(election.Leader{Identity: "this one", Address: "127.0.0.1:1", Self: true}))
	require.Nil(t, l.scaler())
}
