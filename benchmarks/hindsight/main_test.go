package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

func TestCommandLine(t *testing.T) {
	data, err := parse([]string{"-data", "x"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "x", data)
	_, err = parse([]string{"-nothing"}, io.Discard)
	assert.Error(t, err)
}

func TestWithoutDataNothingIsComputed(t *testing.T) {
	var b strings.Builder
	require.NoError(t, run(t.TempDir(), &b))
	assert.Equal(t, 2, strings.Count(b.String(), "left out, there is no"))
}

// write writes arrivals at even times, at a rate for each ten minutes.
func write(t *testing.T, file string, rates ...int) {
	t.Helper()
	f, err := os.Create(file) //nolint:gosec // a test's own folder
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	_, err = fmt.Fprintln(w, "arrival_s,input_tokens,output_tokens")
	require.NoError(t, err)
	for k, rate := range rates {
		for i := range 600 * rate {
			_, err = fmt.Fprintf(w, "%.6f,512,256\n", 600*float64(k)+(float64(i)+0.5)/float64(rate))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

// A step like the recorded one has its figures; another one has not.
func TestFigures(t *testing.T) {
	data := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(data, "autoscale"), 0o750))
	file := filepath.Join(data, "autoscale", "stepA.csv.gz")

	write(t, file, 3, 12, 12, 3, 3)
	var b strings.Builder
	require.ErrorIs(t, run(data, &b), command.ErrMissed)

	write(t, file, 30, 120, 120, 30, 30)
	b.Reset()
	require.NoError(t, run(data, &b))
	for _, row := range []string{
		"stepA        0s     5400            5400         9000", "stepA       30s     5400            5460         9000",
		"stepA      4m0s     5400            5880         9000",
	} {
		assert.Contains(t, b.String(), row)
	}
}
