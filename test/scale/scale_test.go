//go:build e2e && linux

package scale

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
)

var workloads = flag.Int("workloads", 100, "number of workloads, each of three variants")

const (
	// interval of scrapes, cycle of the loop.
	interval = 5 * time.Second
	cycle    = 10 * time.Second
	// patience is for what takes long on a busy machine and is not measured.
	patience = 15 * time.Minute
	tick     = 500 * time.Millisecond
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
	f := newFleet(t, controlplane.New(t, controlplane.Config{ScrapeInterval: interval}), *workloads)
	f.create(t)
	p := f.start(t)
	p.wait(t, "to be planned whole", func(m sample) bool { return m["poolwright_workloads planned"] == float64(*workloads) })
	before := p.wait(t, "a cycle to pass", p.passed(2))
	f.grow(*workloads / 10)
	// All of the growth is seen within a window, and acted upon in a few cycles.
	after := p.wait(t, "the growth to be served", func(m sample) bool {
		return m["poolwright_changes_total up"]-before["poolwright_changes_total up"] >= float64(*workloads/10)
	})
	cycles := after[cycleCount] - before[cycleCount]
	queries := (after["poolwright_observe_queries_total"] - before["poolwright_observe_queries_total"]) / cycles
	for _, stage := range []string{"read", "observe", "plan", "act", "record", "publish"} {
		spent := after["poolwright_cycle_stage_duration_seconds "+stage+"_sum"] - before["poolwright_cycle_stage_duration_seconds "+stage+"_sum"]
		t.Logf("%s: %.3f s a cycle", stage, spent/cycles)
	}
	t.Logf("%d workloads of 3 variants: %.3f s a cycle (longest of all %.3f s), %.3g queries, %d MiB at most",
		*workloads, (after[cycleSum]-before[cycleSum])/cycles, p.longest, queries, p.peak(t)>>20)
	require.LessOrEqual(t, p.longest, mostTime.Seconds())
	require.LessOrEqual(t, queries, float64(mostQueries))
	require.LessOrEqual(t, p.peak(t), uint64(mostMemory))
}
