package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

// TestMain lets this test be the program that simulates in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-case" {
		main()
	}
	os.Exit(m.Run())
}

func TestCommandLine(t *testing.T) {
	o, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.InDelta(t, 1, o.share, 0)
	for _, wrong := range [][]string{{"-share", "0"}, {"-share", "2"}, {"-share", "NaN"}, {"-share", "x"}, {"-repeats", "0"}} {
		_, err := parse(wrong, io.Discard)
		assert.Error(t, err, wrong)
	}
}

func TestEveryCaseServesItsRequests(t *testing.T) {
	for i, b := range cases() {
		var out bytes.Buffer
		require.NoError(t, probe(i, 0.01, &out), b.name)
		var m measurement
		require.NoError(t, json.Unmarshal(out.Bytes(), &m))
		assert.InEpsilon(t, 0.01*b.requests, m.Requests, 0.1, b.name)
		assert.Positive(t, m.Memory)
	}
	assert.Error(t, probe(len(cases()), 0.01, io.Discard))
}

func TestReportIsLeft(t *testing.T) {
	o, err := parse([]string{"-share", "0.001", "-repeats", "1", "-report", filepath.Join(t.TempDir(), "simulation.json")}, io.Discard)
	require.NoError(t, err)
	// A thousandth of the requests may be too slow: most of the time is not theirs.
	if err := run(t.Context(), o, io.Discard); err != nil {
		require.ErrorContains(t, err, "missed")
	}
	r, err := report.Read(o.Report)
	require.NoError(t, err)
	assert.Len(t, r.Tables[0].Rows, len(cases()))
	assert.Len(t, r.Ratios, 7)
}

// Twice the time for twice the replicas, and as much memory.
func TestGrowth(t *testing.T) {
	var all []measured
	for _, n := range []int{1, 2, 4} {
		all = append(all, measured{
			benchmark{name: byReplicas, replicas: n},
			[]measurement{{Requests: 10, Processor: time.Duration(n) * time.Second, Memory: 5e6}},
		})
	}
	time, memory := growth(all, byReplicas, func(m *measured) float64 { return float64(m.replicas) })
	assert.InDelta(t, 1, time, 1e-9)
	assert.InDelta(t, 0, memory, 1e-9)
}

func TestTargets(t *testing.T) {
	m := measured{
		benchmark{name: "x", replicas: 1, requests: 1000, rate: 100, megabytes: 10},
		[]measurement{{Requests: 1000, Processor: 5 * time.Second, Memory: 9e6}},
	}
	assert.False(t, newReport([]measured{m}).Missed())
	slow, large := m, m
	slow.all = []measurement{{Requests: 1000, Processor: 11 * time.Second, Memory: 9e6}}
	large.all = []measurement{{Requests: 1000, Processor: 5 * time.Second, Memory: 11e6}}
	assert.True(t, newReport([]measured{slow}).Missed())
	assert.True(t, newReport([]measured{large}).Missed())
}
