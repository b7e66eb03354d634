package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// output is what a command prints while it runs.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

var restURL = regexp.MustCompile(`REST +(http://[^/]+)/`)

// serve runs the command until the test ends, and returns the URL of its REST side.
func serve(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out output
	root := newRoot()
	root.SetArgs([]string{"serve", "--grpc-address=127.0.0.1:0", "--http-address=127.0.0.1:0"})
	root.SetOut(&out)
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	var url string
	require.Eventually(t, func() bool {
		found := restURL.FindStringSubmatch(out.String())
		if found != nil {
			url = found[1]
		}
		return found != nil
	}, 30*time.Second, 10*time.Millisecond)
	return url
}

// simulateByREST returns the last message of the answer, and the status.
func simulateByREST(t *testing.T, url, body string) (*poolwrightv1.SimulateResponse, string, int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/simulate", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/yaml")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // only read
	var last string
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		last = lines.Text()
	}
	require.NoError(t, lines.Err())
	message := &poolwrightv1.SimulateResponse{}
	if inner, ok := strings.CutPrefix(last, `{"result":`); ok {
		require.NoError(t, protojson.Unmarshal([]byte(strings.TrimSuffix(inner, "}")), message))
	}
	return message, last, response.StatusCode
}

// The service answers what the command does, within its limits and without opening files.
func TestServeSimulates(t *testing.T) {
	url := serve(t)
	example, err := os.ReadFile(filepath.Join("..", "..", "examples", "what-if.yaml"))
	require.NoError(t, err)
	text := strings.Replace(string(example), "seeds: [1, 2, 3]", "seeds: [5]", 1)
	answer, _, code := simulateByREST(t, url, text)
	require.Equal(t, http.StatusOK, code)

	root := newRoot()
	root.SetArgs([]string{"simulate", "-f", filepath.Join("..", "..", "examples", "what-if.yaml"), "--seed", "5", "-o", "json"})
	var out bytes.Buffer
	root.SetOut(&out)
	require.NoError(t, root.ExecuteContext(t.Context()))
	want := &poolwrightv1.SimulationResult{}
	require.NoError(t, protojson.Unmarshal(out.Bytes(), want))
	for _, m := range []*poolwrightv1.SimulationResult{want, answer.GetResult()} {
		require.Len(t, m.GetAutoscalers(), 1)
		m.Autoscalers[0].Runs[0].ProcessorSeconds = 0
	}
	assert.True(t, proto.Equal(want, answer.GetResult()))

	month := strings.Replace(string(example), "duration: 2h", "duration: 744h\nwindow: 1h", 1)
	_, refused, code := simulateByREST(t, url, month)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, refused, "more than the 100 million allowed here")

	fleet, _, _ := strings.Cut(text, "traffic:")
	_, refused, code = simulateByREST(t, url, fleet+"traffic: [{workload: chat, parts: [{trace: {file: what-if.yaml}}]}]\n")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, refused, "files can't be read over the network")
}
