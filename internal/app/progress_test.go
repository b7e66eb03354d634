package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func TestProgressInALog(t *testing.T) {
	var out bytes.Buffer
	shown := newProgress(&out)
	shown.at(0.01, "too early")
	shown.end()
	assert.Empty(t, out.String())

	lines := &lines{w: &out}
	lines.at(0.25, "1 of 4 runs")
	lines.at(0.5, "2 of 4 runs")
	lines.end()
	assert.Equal(t, "25 %: 1 of 4 runs\n50 %: 2 of 4 runs\n", out.String())
	assert.NotContains(t, out.String(), "\r")
	lines.every = time.Hour
	lines.at(0.75, "3 of 4 runs")
	assert.NotContains(t, out.String(), "75 %")
}

// A bar is redrawn in its place, and nothing of it is left in the end.
func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	bar := newBar(&out, 0)
	bar.at(0.25, "1 of 4 runs")
	assert.Contains(t, out.String(), "25%")
	assert.Contains(t, out.String(), "1 of 4 runs")
	bar.at(1, "4 of 4 runs")
	assert.Contains(t, out.String(), "4 of 4 runs")
	assert.NotContains(t, out.String(), "\n")
	bar.end()
	last := out.String()[strings.LastIndex(strings.TrimRight(out.String(), "\r"), "\r"):]
	assert.Empty(t, strings.TrimSpace(last))
}

func TestProgressText(t *testing.T) {
	m := &poolwrightv1.SimulationProgress{RunsDone: 1, Runs: 4, Requests: 4321}
	assert.Equal(t, "1 of 4 runs, 4321 requests", runsText(m))
	m.Requests, m.Remaining = 2_345_678, durationpb.New(83456*time.Millisecond)
	assert.Equal(t, "1 of 4 runs, 2.3 million requests, 1m23s left", runsText(m))
	m.Requests = 45_678
	assert.Equal(t, "1 of 4 runs, 46 thousand requests, 1m23s left", runsText(m))
}
