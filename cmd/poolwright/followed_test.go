package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
		"quick-start.md":    {blocks: 8},
		"calibration.md":    {blocks: 3, first: serve},
		"fleet.md":          {blocks: 2},
		"server.md":         {blocks: 2},
		"tutorials/file.md": {blocks: 7},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			http, grpc := freeAddress(t), freeAddress(t)
			assert.Equal(t, followed.blocks, handbook.Follow(t, filepath.Join("..", "..", "docs", page), handbook.Place{
				Folder: checkout(t), First: followed.first,
				Here: []string{
					// There is one already.
					"git clone https://github.com/poolwright/poolwright && cd poolwright", "true", "make build", "true",
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
	for _, name := range []string{"deploy", "examples"} {
		original, err := filepath.Abs(filepath.Join("..", "..", name))
		require.NoError(t, err)
		require.NoError(t, os.Symlink(original, filepath.Join(folder, name)))
	}
	return folder
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}
