//go:build e2e && linux

package scale

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
)

var (
	workloads = flag.Int("workloads", 100, "number of workloads, each of three variants")
	file      = flag.String("figures", "", "write what was measured into this `file`, as JSON")
)

const (
	// interval of scrapes, cycle of the loop.
	interval = 5 * time.Second
	cycle    = 10 * time.Second
	// nodeLease spares the processors on which the cycle is measured what kubelets have machines of
	// their own for: with 40 s, 1,503 nodes that say they are there keep 0.9 of two busy.
	nodeLease = 10 * time.Minute
	// patience is for what takes long on a busy machine and is not measured.
	patience = 15 * time.Minute
	// tick is how often the program is asked for what it counts. Its answers are long, and take time
	// of the processors on which the cycle is measured.
	tick = 5 * time.Second
)

// What is promised of a cycle of 2,000 workloads: observe, plan, write what has changed.
const (
	mostTime    = 5 * time.Second
	mostQueries = 12
	mostMemory  = 500 << 20
)

// Where the demand of a tenth of the workloads grows so that each needs another replica, no
// cycle takes longer, asks more or needs more memory than is promised.
func TestCycle(t *testing.T) {
	f := newFleet(t, controlplane.New(t, controlplane.Config{ScrapeInterval: interval, NodeLease: nodeLease}), *workloads)
	f.create(t)
	p := f.start(t)
	p.wait(t, "to be planned whole", func(m sample) bool { return m["poolwright_workloads planned"] == float64(*workloads) })
	before := p.wait(t, "a cycle to pass", p.passed(2))
	f.grow(*workloads / 10)
	// All of the growth is seen within a window, and acted upon in a few cycles.
	after := p.wait(t, "the growth to be served", func(m sample) bool {
		return m["poolwright_changes_total up"]-before["poolwright_changes_total up"] >= float64(*workloads/10)
	})
	figures := measure(before, after)
	figures.Longest, figures.PeakBytes = p.longest, p.peak(t)
	figures.Versions = f.versions(t)
	keep(t, figures)
	for _, stage := range stages {
		t.Logf("%s: %.3f s a cycle", stage, figures.Stages[stage])
	}
	t.Logf("%d workloads of 3 variants: %.3f s a cycle (longest of all %.3f s), %.3g queries and %.3g requests to the API server, %d MiB at most",
		figures.Workloads, figures.Seconds, figures.Longest, figures.Queries, figures.Requests, figures.PeakBytes>>20)
	require.LessOrEqual(t, figures.Longest, mostTime.Seconds())
	require.LessOrEqual(t, figures.Queries, float64(mostQueries))
	require.LessOrEqual(t, figures.PeakBytes, uint64(mostMemory))
}

// stages are the parts of a cycle.
var stages = []string{"read", "observe", "plan", "act", "record", "publish"}

// measure returns the means over the cycles between two samples.
func measure(before, after sample) Figures {
	cycles := after[cycleCount] - before[cycleCount]
	mean := func(name string) float64 { return (after[name] - before[name]) / cycles }
	f := Figures{
		Workloads: *workloads, Cycles: cycles, Seconds: mean(cycleSum), Stages: map[string]float64{},
		Queries: mean("poolwright_observe_queries_total"), Requests: (after.requests() - before.requests()) / cycles,
	}
	for _, stage := range stages {
		f.Stages[stage] = mean("poolwright_cycle_stage_duration_seconds " + stage + "_sum")
	}
	return f
}

// keep writes the figures where they are asked for.
func keep(t *testing.T, f Figures) {
	t.Helper()
	if *file == "" {
		return
	}
	text, err := json.Marshal(f)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(*file, text, 0o600))
}
