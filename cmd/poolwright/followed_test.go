package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/handbook"
)

// A reader who follows these pages word for word gets what they show.
func TestFollowedPages(t *testing.T) {
	t.Parallel()
	const serve = "bin/poolwright serve > poolwright.log 2>&1 &\n" +
		"curl -sf --retry 30 --retry-connrefused --retry-delay 1 localhost:8080/readyz"
	for page, followed := range map[string]struct {
		blocks int
		first  string
	}{
		"README.md":                    {blocks: 5, first: serve},
		"docs/quick-start.md":          {blocks: 8},
		"docs/calibration.md":          {blocks: 3, first: serve},
		"docs/fleet.md":                {blocks: 2},
		"docs/server.md":               {blocks: 2},
		"docs/tutorials/file.md":       {blocks: 7},
		"docs/tutorials/controller.md": {blocks: 4},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			http, grpc := freeAddress(t), freeAddress(t)
			folder := checkout(t)
			t.Cleanup(func() {
				if log, err := os.ReadFile(filepath.Join(folder, "poolwright.log")); err == nil && t.Failed() { //nolint:gosec // the test's own
					t.Logf("what serve said:\n%s", log)
				}
			})
			assert.Equal(t, followed.blocks, handbook.Follow(t, filepath.Join("..", "..", page), handbook.Place{
				Folder: folder, First: followed.first,
				Here: []string{
					// There is one already, and tests are what this is.
					"git clone https://github.com/poolwright/poolwright && cd poolwright", "true",
					"make build", "true", "make run", "true", "make test", "true",
					// tools/first-run.sh has grpcurl at hand.
					"go tool -modfile=tools/go.mod grpcurl", "true",
					"examples/what-if.yaml", "shorter.yaml",
					"--retry 30 ", "--retry 240 ", // seconds, as readers don't share their machine with other tests
					"poolwright serve", "poolwright serve --http-address " + http + " --grpc-address " + grpc,
					"localhost:8080", http,
				},
				Patience: 5 * time.Minute, // with the race detector, on a busy machine
				Update:   os.Getenv("UPDATE_SCRIPTS") != "",
			}))
		})
	}
}

// checkout is a folder like that of the repository after make build.
func checkout(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "bin"), 0o700))
	program, err := exec.LookPath("poolwright")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(folder, "bin", "poolwright")))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shorter.yaml"), shorterExample(t), 0o600))
	for _, name := range []string{"deploy", "examples"} {
		original, err := filepath.Abs(filepath.Join("..", "..", name))
		require.NoError(t, err)
		require.NoError(t, os.Symlink(original, filepath.Join(folder, name)))
	}
	return folder
}

// firstPort is where freeAddress begins: anywhere, so that tests of another process, at the
// same time, get other ports. portsTried are those behind it that have been looked at.
var (
	firstPort  = 10_000 + rand.Int32N(20_000)
	portsTried atomic.Int32
)

// freeAddress is one that nobody listens on and, until a program does, nobody is given who
// asks the system for any: its port is below those.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1_000 {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+portsTried.Add(1))
		if l, err := net.Listen("tcp", address); err == nil {
			require.NoError(t, l.Close())
			return address
		}
	}
	require.FailNow(t, "no port is free")
	return ""
}
