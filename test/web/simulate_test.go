package web

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// simulated opens the page and runs its example.
func simulated(t *testing.T) tab {
	t.Helper()
	s := serve(t, "0")
	b := newTab(t)
	b.open(s.url + "/simulate")
	b.until(`document.querySelectorAll('#autoscalers input:checked').length > 0 && document.getElementById('text').value !== ''`)
	b.fill("#duration", "10")
	b.until(`JSON.parse(document.getElementById('text').value).duration === '600s'`)
	b.click("#run")
	b.drawn()
	return b
}

func TestSimulateRunsWhatIsWritten(t *testing.T) {
	b := simulated(t)
	assert.Contains(t, b.text("#report"), "Totals")
	assert.Contains(t, b.text("#report"), "10 min")
	b.seen()
	b.pictures("simulate")

	folder := t.TempDir()
	_, err := chromedp.CallBrowser(b.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
	})
	require.NoError(t, err)
	b.click("#save-page")
	var saved []string
	require.Eventually(t, func() bool {
		saved, _ = filepath.Glob(filepath.Join(folder, "*.html"))
		return len(saved) == 1
	}, patience, 50*time.Millisecond)
	b.open("file://" + saved[0])
	b.drawn()
	assert.Contains(t, b.text("h1"), "Chat on two accelerators")
	assert.Contains(t, b.text("#report"), "10 min")
}

func TestSimulateShowsMistakes(t *testing.T) {
	s := serve(t, "0")
	b := newTab(t)
	b.quiet.Store(true)
	b.open(s.url + "/simulate")
	b.until(`document.getElementById('text').value !== ''`)
	b.fill("#text", "name: [")
	b.until(`document.getElementById('text-mistake').textContent.includes('line 1')`)
	b.click("#example")
	b.until(`document.getElementById('text-mistake').textContent === ''`)
	b.fill("#duration", "-1")
	b.click("#run")
	b.until(`!document.getElementById('problem').hidden`)
	assert.Contains(t, b.text("#problem"), "duration")
	assert.Equal(t, "true", value[string](b, `document.getElementById('duration').ariaInvalid`))
	b.picture("simulate-mistake")
}

// slow is a simulation that says how far it is, and ends when told to.
type slow struct {
	poolwrightv1.UnimplementedSimulationServiceServer
	end       chan struct{}
	cancelled chan struct{}
}

func (s slow) Simulate(_ *poolwrightv1.Simulation, stream grpc.ServerStreamingServer[poolwrightv1.SimulateResponse]) error {
	progress := &poolwrightv1.SimulationProgress{Done: 0.25, RunsDone: 2, Runs: 10, Requests: 1_234_567}
	if err := stream.Send(&poolwrightv1.SimulateResponse{Kind: &poolwrightv1.SimulateResponse_Progress{Progress: progress}}); err != nil {
		return err
	}
	select {
	case <-stream.Context().Done():
		close(s.cancelled)
		return stream.Context().Err()
	case <-s.end:
		return stream.Send(&poolwrightv1.SimulateResponse{Kind: &poolwrightv1.SimulateResponse_Result{Result: day()}})
	}
}

// simulating serves the pages with a slow simulation.
func simulating(t *testing.T) (string, slow) {
	t.Helper()
	s := slow{end: make(chan struct{}), cancelled: make(chan struct{})}
	return answering(t, server.Services{Simulation: s}), s
}

// answering serves the pages, and what the test says.
func answering(t *testing.T, services server.Services) string {
	t.Helper()
	services.Optimizer = poolwrightv1.UnimplementedOptimizerServiceServer{}
	srv, err := server.New(server.Config{Services: services, Registry: prometheus.NewRegistry()})
	require.NoError(t, err)
	var listeners [2]net.Listener
	for i := range listeners {
		listeners[i], err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, listeners[0], listeners[1]) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return "http://" + listeners[1].Addr().String()
}

func TestSimulateSaysHowFarItIs(t *testing.T) {
	url, _ := simulating(t)
	b := newTab(t)
	b.open(url + "/simulate")
	b.until(`document.getElementById('text').value !== ''`)
	b.click("#run")
	b.until(`document.getElementById('progress').value === 0.25`)
	assert.Equal(t, "25 % · 2 of 10 runs · 1,234,567 requests", b.text("#progress-text"))
	b.picture("simulate-progress")
}

func TestSimulateCancels(t *testing.T) {
	url, s := simulating(t)
	b := newTab(t)
	b.open(url + "/simulate")
	b.until(`document.getElementById('text').value !== ''`)
	b.click("#run")
	b.until(`document.getElementById('progress').value === 0.25`)
	b.click("#cancel")
	b.until(`!document.getElementById('run').disabled && document.getElementById('running').hidden`)
	select {
	case <-s.cancelled:
	case <-b.ctx.Done():
		assert.Fail(t, "the simulation goes on")
	}
	assert.Equal(t, "The simulation was cancelled", value[string](b, `document.getElementById('status').textContent`))
	assert.True(t, value[bool](b, `document.getElementById('problem').hidden`), "that is no mistake")
}
