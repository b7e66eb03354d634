package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

func TestCommandLine(t *testing.T) {
	o, err := parse([]string{"-data", "x", "-docs", "y"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "y"}, []string{o.Data, o.Docs})
	_, err = parse([]string{"-nothing"}, io.Discard)
	assert.Error(t, err)
}

func TestWithoutDataNothingIsWritten(t *testing.T) {
	docs := t.TempDir()
	var b strings.Builder
	require.NoError(t, run(command.Places{Data: filepath.Join(docs, "none"), Docs: docs}, &b))
	assert.Contains(t, b.String(), "left out, there is no")
	files, err := os.ReadDir(docs)
	require.NoError(t, err)
	assert.Empty(t, files)
}

// days returns demand with a profile of the day and noise.
func days(n int) []float64 {
	random := rand.New(rand.NewPCG(1, 1))
	rates := make([]float64, n*perDay)
	for i := range rates {
		rates[i] = (10 + 5*math.Sin(2*math.Pi*float64(i)/float64(perDay))) * (1 + 0.1*random.NormFloat64())
	}
	return rates
}

// writeData writes two weeks of demand as they are recorded, the last series a day long.
func writeData(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "traces"), 0o750))
	f, err := os.Create(filepath.Join(folder, "traces", "servegen_rates_14d_10min.csv.gz")) //nolint:gosec // a test's own folder
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	_, err = fmt.Fprintln(w, "t,servegen_msmall_rps,servegen_mmid_rps,servegen_mlarge_rps,servegen_deepseekr1_rps")
	require.NoError(t, err)
	for i, rate := range days(14) {
		last := ""
		if i < perDay {
			last = fmt.Sprint(rate)
		}
		_, err = fmt.Fprintf(w, "%d,%v,%v,%v,%s\n", 600*i, rate, 3*rate, rate/7, last)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return folder
}

func TestPage(t *testing.T) {
	docs := t.TempDir()
	var b strings.Builder
	o, err := parse([]string{"-data", writeData(t), "-docs", docs, "-report", filepath.Join(docs, "report.json")}, io.Discard)
	require.NoError(t, err)
	require.NoError(t, run(o, &b))
	text, err := os.ReadFile(filepath.Clean(filepath.Join(docs, "forecast-accuracy.md")))
	require.NoError(t, err)
	for _, want := range []string{"# How well demand is predicted", "Targets, %:", "| servegen_mlarge_rps | 30m0s |", "| servegen_deepseekr1_rps | 5m0s |", "| all |"} {
		assert.Contains(t, string(text), want)
	}
	assert.NotContains(t, string(text), "NaN")
	r, err := report.Read(o.Report)
	require.NoError(t, err)
	assert.Len(t, r.Standings, 3, "one for each start-up time")
	assert.Len(t, r.Targets, 4)
	assert.Contains(t, b.String(), "chosen")
}

func TestUnitsDoNotMatter(t *testing.T) {
	found := measureAll([]series{{"a", days(14)}, {"b", scaled(days(14), 1024)}})
	n := len(startUps())
	for i := range n {
		assert.Equal(t, found[i].errors, found[n+i].errors)
		assert.Equal(t, found[i].losses, found[n+i].losses)
		assert.Equal(t, found[i].covered, found[n+i].covered)
	}
}

func scaled(rates []float64, factor float64) []float64 {
	for i := range rates {
		rates[i] *= factor
	}
	return rates
}

func TestMissedTarget(t *testing.T) {
	p := page{targets: []target{{"x", 0.5, 1}}}
	assert.False(t, p.missed())
	p.targets = append(p.targets, target{"y", 1.1, 1})
	assert.True(t, p.missed())
	assert.Contains(t, p.text(), "**no**")
	p.targets[1].measured = math.NaN()
	assert.True(t, p.missed(), "what could not be measured is missed")
}
