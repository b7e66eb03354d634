//go:build e2e && linux

package e2e

import (
	"flag"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "cycles of 15 s, as in a real cluster, in place of 2 s")

// pace is how fast everything goes, in proportion.
type pace struct {
	// cycle of the loop, scrape is the interval of Prometheus, window that of rates.
	cycle, scrape, window time.Duration
	// load is how long a model takes to load, scaleDown the window of the policy, drain the
	// time in which what waits is to be served: a cycle, as SLOs are to be back with new replicas.
	load, scaleDown, drain time.Duration
	// lease of the leader, with the deadline to renew it and the time between attempts.
	lease, renew, retry time.Duration
}

func newPace() pace {
	if *long {
		return pace{
			cycle: 15 * time.Second, scrape: 15 * time.Second, window: time.Minute,
			load: time.Minute, scaleDown: 5 * time.Minute, drain: 15 * time.Second,
			lease: 15 * time.Second, renew: 10 * time.Second, retry: time.Second,
		}
	}
	return pace{
		cycle: 2 * time.Second, scrape: time.Second, window: 4 * time.Second,
		load: 8 * time.Second, scaleDown: 10 * time.Second, drain: 2 * time.Second,
		// Not in proportion: a lease counts in whole seconds, and this machine may be busy.
		lease: 5 * time.Second, renew: 3 * time.Second, retry: time.Second,
	}
}

// cycles is how long so many cycles take.
func (p pace) cycles(n int) time.Duration { return time.Duration(n) * p.cycle }

// pass lets time pass, where it is time that is tested.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// passAwake lets so much time pass, and as much again as the host of a virtual machine took of any
// processor meanwhile: what ran on it waited.
func passAwake(t *testing.T, d time.Duration) {
	t.Helper()
	before := stolen(t)
	pass(t, d)
	pass(t, stolen(t)-before)
}

// stolen is what the host took of the processors since the machine started.
func stolen(t *testing.T) time.Duration {
	t.Helper()
	fs, err := procfs.NewDefaultFS()
	require.NoError(t, err)
	stat, err := fs.Stat()
	require.NoError(t, err)
	return time.Duration(stat.CPUTotal.Steal * float64(time.Second))
}
