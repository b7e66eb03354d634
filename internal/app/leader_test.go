package app

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/poolwright/poolwright/internal/access"
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

func (active) StreamIsActive(_ *externalscaler.ScaledObjectRef, stream grpc.ServerStreamingServer[externalscaler.IsActiveResponse]) error {
	<-stream.Context().Done()
	return nil
}

// What is logged of an election is who leads, or that nobody does.
func TestElectionsAreLogged(t *testing.T) {
	var out strings.Builder
	l := &clusterLoop{log: slog.New(slog.NewTextHandler(&out, nil))}
	l.elected(election.Leader{Identity: "this one", Self: true})
	require.Contains(t, out.String(), `msg="a leader was elected" leader="this one" self=true`)
	out.Reset()
	l.elected(election.Leader{})
	require.Contains(t, out.String(), `msg="nobody leads"`)
	_, _, err := l.leader.ask()
	require.ErrorIs(t, err, errNobodyLeads)
}

func TestLeaderIsAsked(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer(grpc.MaxConcurrentStreams(1))
	externalscaler.RegisterExternalScalerServer(s, active{})
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)

	nobody, err := access.New(access.Config{}, nil)
	require.NoError(t, err)
	l := leader{access: nobody}
	_, _, err = l.ask()
	require.EqualError(t, err, "no process is known to lead")
	require.NoError(t, l.changed(election.Leader{Identity: "other", Address: listener.Addr().String()}))
	conn, until, err := l.ask()
	require.NoError(t, err)
	_, err = externalscaler.NewExternalScalerClient(conn).StreamIsActive(t.Context(), &externalscaler.ScaledObjectRef{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer, err := externalscaler.NewExternalScalerClient(conn).IsActive(ctx, &externalscaler.ScaledObjectRef{})
	require.NoError(t, err, "streams take no place from calls")
	require.True(t, answer.GetResult())
	require.NoError(t, until.Err())

	require.NoError(t, l.changed(election.Leader{Identity: "unreachable"}))
	require.Error(t, until.Err(), "it leads no longer")
	_, _, err = l.ask()
	require.EqualError(t, err, "unreachable leads, and has not said where it is reached")

	require.NoError(t, l.changed(election.Leader{Identity: "other", Address: listener.Addr().String()}))
	_, until, err = l.ask()
	require.NoError(t, err)
	require.Error(t, l.changed(election.Leader{Identity: "mistaken", Address: "\x7f"}))
	require.Error(t, until.Err(), "it leads no longer, though nobody can be asked in its place")
	_, _, err = l.ask()
	require.ErrorContains(t, err, "mistaken leads")

	require.NoError(t, l.changed(election.Leader{Identity: "other", Address: listener.Addr().String()}))
	require.NoError(t, l.changed(election.Leader{Identity: "this one", Address: "127.0.0.1:1", Self: true}))
	conn, until, err = l.ask()
	require.NoError(t, err)
	require.Nil(t, conn)
	l.resigned()
	require.Error(t, until.Err())
	_, _, err = l.ask()
	require.ErrorIs(t, err, errNobodyLeads)

	require.NoError(t, l.changed(election.Leader{Identity: "unreachable"}))
	l.resigned() // late
	_, _, err = l.ask()
	require.ErrorContains(t, err, "unreachable leads")
}
