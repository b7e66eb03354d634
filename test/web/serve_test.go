package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program is what `make build` leaves.
const program = "../../bin/poolwright"

// service is a process of `poolwright serve` with its simulated fleet.
type service struct {
	url  string
	stop func()
}

var listens = regexp.MustCompile(`(?m)^page +(http://[^/\s]+)/`)

// serve starts a service on a port, or on one that is free for "0".
func serve(t *testing.T, port string, flags ...string) service {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	arguments := append([]string{
		"serve", "--interval", "500ms", "--speed", "1200", "--http-address", "127.0.0.1:" + port, "--grpc-address", "127.0.0.1:0",
	}, flags...)
	command := exec.CommandContext(ctx, program, arguments...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start(), "run 'make build' first")
	s := service{stop: func() {
		cancel()
		_ = command.Wait() // it was told to end
	}}
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(out)
	for s.url == "" && lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
		}
	}
	require.NotEmpty(t, s.url, "the first output names the page")
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
	return s
}

// get returns what the API answers.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url) //nolint:gosec // the test's own service
	require.NoError(t, err)
	defer func() { assert.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, string(text))
	return string(text)
}

// port is that of a service.
func (s service) port() string { return s.url[strings.LastIndex(s.url, ":")+1:] }
