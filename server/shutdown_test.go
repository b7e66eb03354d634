package server

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// endless answers when it is let go.
type endless struct {
	poolwrightv1.UnimplementedOptimizerServiceServer
	began, let chan struct{}
}

func (e *endless) Optimize(context.Context, *poolwrightv1.Fleet) (*poolwrightv1.Plan, error) {
	close(e.began)
	<-e.let
	return &poolwrightv1.Plan{}, nil
}

// A request that takes longer than the end may is broken off, which is no failure of the end.
func TestEndBreaksRequestsOff(t *testing.T) {
	e := &endless{began: make(chan struct{}), let: make(chan struct{})}
	defer close(e.let)
	s, err := New(Config{Services: Services{Optimizer: e}, Registry: prometheus.NewRegistry()})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.http.Serve(listener) }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String()+"/v1/optimize", strings.NewReader("{}"))
	require.NoError(t, err)
	answered := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		answered <- err
	}()
	<-e.began
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.NoError(t, s.shutdown(ctx))
	require.Error(t, <-answered)
}
