package app

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/kube"
)

func TestReachIsFollowed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))

	write("limits: {rate: -1}")
	_, err := newReach(file, log)
	var input *InputError
	require.ErrorAs(t, err, &input)

	write("insecure: true\nlimits: {connections: 7}")
	r, err := newReach(file, log)
	require.NoError(t, err)
	require.NoError(t, r.open(kube.Config{}))
	require.NoError(t, r.listening(&net.TCPAddr{Port: 9090}))
	require.Equal(t, 7, r.limits().Connections)
	require.NoError(t, r.follow())
	require.Empty(t, out.String())

	write("insecure: true\nlimits: {connections: 8}\ntracing: {endpoint: 'a:1'}")
	require.ErrorIs(t, r.follow(), errRestart)
	require.Equal(t, 8, r.limits().Connections)
	require.Nil(t, r.now.Load().Tracing)
	write("insecure: true\nlimits: {connections: 8}")
	require.NoError(t, r.follow())

	// What would not have been accepted at the start is not taken over.
	for _, text := range []string{"limits: {rate: -1}", "limits: {connections: 9}", "insecure: true\ntls: {certificateFile: a, keyFile: b}"} {
		write(text)
		out.Reset()
		r.look()
		require.Equal(t, 1, strings.Count(out.String(), "not all of the configuration"), text)
		require.Equal(t, 8, r.limits().Connections)
		r.look()
		require.Equal(t, 1, strings.Count(out.String(), "not all of the configuration"), "it was said before")
		require.False(t, r.file.valid(), text)
		write("insecure: true\nlimits: {connections: 8}")
		r.look()
		require.True(t, r.file.valid())
	}
}

func TestReachOfThisMachine(t *testing.T) {
	r, err := newReach("", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, r.open(kube.Config{}))
	require.NoError(t, r.listening(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	var input *InputError
	require.ErrorAs(t, r.listening(&net.TCPAddr{}), &input)
}
