package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record is what a process logs while it runs.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *record) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is the text so far.
func (l *record) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// with are the records so far that have a message.
func (l *record) with(t *testing.T, message string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(l.String()) {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields), line)
		if fields["msg"] == message {
			all = append(all, fields)
		}
	}
	return all
}

// eventually waits for records with a message.
func (l *record) eventually(t *testing.T, message string) []map[string]any {
	t.Helper()
	var found []map[string]any
	require.Eventually(t, func() bool {
		found = l.with(t, message)
		return len(found) > 0
	}, 30*time.Second, 5*time.Millisecond, message)
	return found
}

// serving runs serve until the test ends.
func serving(t *testing.T, c ServeConfig) *record {
	t.Helper()
	out := &record{}
	c.GRPCAddress, c.HTTPAddress, c.Engine = "127.0.0.1:0", "127.0.0.1:0", "go"
	c.Simulation.Interval, c.Simulation.Speed = 50*time.Millisecond, 12_000
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, c, strings.NewReader(""), out) }()
	t.Cleanup(func() {
		end()
		assert.NoError(t, <-done)
	})
	return out
}

// All that is logged is structured, and what is of a decision says of which.
func TestLogsAreStructured(t *testing.T) {
	out := serving(t, ServeConfig{Log: LogConfig{Format: "json", Level: slog.LevelDebug}})
	listening := out.eventually(t, "listening")[0]
	for sequence, decided := range out.eventually(t, "decided") {
		assert.InDelta(t, sequence+1, decided["sequence"], 0)
		assert.Equal(t, "simulated", decided["fleet"])
		assert.Positive(t, decided["workloads"])
	}
	change := out.eventually(t, "change")[0]
	assert.Positive(t, change["sequence"])
	assert.NotEmpty(t, change["workload"])

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listening["http"].(string)+"/v1/fleet?view=FULL", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer hidden")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "/v1/fleet", out.eventually(t, "requested")[0]["path"])
	called := out.eventually(t, "called")[0]
	assert.Equal(t, "/poolwright.v1.FleetService/GetFleet", called["method"])
	assert.Equal(t, "OK", called["code"])
	assert.NotContains(t, out.String(), "hidden")
}

func TestFormatOfLogs(t *testing.T) {
	var input *InputError
	err := Serve(t.Context(), ServeConfig{Engine: "go", Log: LogConfig{Format: "xml"}}, strings.NewReader(""), &record{})
	require.ErrorAs(t, err, &input)
	require.ErrorContains(t, err, `"xml" is neither text nor json`)

	var out strings.Builder
	log, err := LogConfig{Level: slog.LevelWarn}.logger(&out)
	require.NoError(t, err)
	log.Info("not this")
	log.Warn("this")
	assert.Contains(t, out.String(), "level=WARN msg=this")
	assert.NotContains(t, out.String(), "not this")
}
