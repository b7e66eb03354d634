package server

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// deaf is a connection whose client reads nothing any more once it is to.
type deaf struct {
	net.Conn
	reads *atomic.Bool
	done  <-chan struct{}
}

func (d deaf) Read(p []byte) (int, error) {
	if !d.reads.Load() {
		<-d.done
	}
	return d.Conn.Read(p)
}

// Who no longer reads from a connection of HTTP/2 keeps no answer waiting for longer than from one of
// HTTP/1.1.
func TestAnswersThatNobodyReads(t *testing.T) {
	s, err := New(Config{Services: Services{Optimizer: poolwrightv1.UnimplementedOptimizerServiceServer{}}, Registry: prometheus.NewRegistry()})
	require.NoError(t, err)
	let, ended := make(chan struct{}), make(chan error, 100)
	s.http.Handler = patient(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-let
		for {
			if _, err := w.Write(make([]byte, writeBytes)); err != nil {
				ended <- err
				return
			}
		}
	}))
	s.http.Protocols = new(http.Protocols)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	s.http.HTTP2.WriteByteTimeout /= 300 // of what it would be
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(listener) }()

	var reads atomic.Bool
	reads.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		Protocols: s.http.Protocols,
		DialContext: func(ctx2 context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx2, network, address)
			return deaf{conn, &reads, ctx.Done()}, err
		},
	}}
	const calls = 16 // which have more to say than there are buffers in between
	for range calls {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String(), http.NoBody)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		require.Equal(t, 2, response.ProtoMajor)
		t.Cleanup(func() { _ = response.Body.Close() })
	}
	reads.Store(false)
	close(let)
	for range calls {
		select {
		case err := <-ended:
			require.Error(t, err)
		case <-time.After(10 * time.Second):
			require.Fail(t, "the answer waits")
		}
	}
	cancel()
	require.NoError(t, s.http.Close())
	require.ErrorIs(t, <-served, http.ErrServerClosed)
}
