//go:build e2e && linux

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

const (
	// base is the load of each workload at 1×, in requests/s.
	base queueing.Rate = 10
	// devices of each pool.
	devices = 10
)

// world is a cluster with the fleet, the program and a witness.
type world struct {
	*cluster
	pace    pace
	witness *witness
	program *program
	ways    []string
}

// newWorld has a fleet with its base load, on which the program runs. Worlds live side by
// side: what they do most is wait.
func newWorld(t *testing.T, s setup, ways ...string) *world {
	t.Helper()
	t.Parallel()
	p := newPace()
	w := &world{cluster: newCluster(t, controlplane.Config{ScrapeInterval: p.scrape}), pace: p, ways: ways}
	w.install()
	w.nodes("h100", devices)
	w.nodes("a100", devices)
	w.operate()
	w.witness = w.cluster.witness(map[string]int{"h100": devices, "a100": devices})
	w.applyFleet(p, ways...)
	w.offer(base, ways...)
	w.program = w.start("poolwright", p, s)
	return w
}

// settle waits until everything was measured and nothing changed for longer than the
// policy keeps what it need not.
func (w *world) settle() {
	w.t.Helper()
	cycles, began := int(w.pace.scaleDown/w.pace.cycle)+3, w.program.last()
	w.until(func() bool {
		require.True(w.t, w.program.runs(), "the program has ended")
		last := w.program.last()
		// What is being carried out is not in the ledger yet.
		if last < max(uint64(cycles), began+2) { //nolint:gosec // a few
			return false
		}
		for _, d := range w.program.decided(last - uint64(cycles)) { //nolint:gosec // a few
			if len(d.GetChanges()) > 0 || d.GetFailure() != "" || !sees(d, len(w.ways)) {
				return false
			}
		}
		return true
	}, "settled: %v", printed{w})
}

// sees tells whether a decision knows the demand of so many workloads.
func sees(d *poolwrightv1.Decision, workloads int) bool {
	for _, plan := range d.GetPlan().GetWorkloads() {
		for _, condition := range plan.GetConditions() {
			if slices.Contains(blind, condition.GetType()) {
				return false
			}
		}
	}
	return len(d.GetPlan().GetWorkloads()) == workloads
}

// blind are the conditions of workloads of which not all is measured.
var blind = []string{"DemandUnknown", "DemandIncomplete", "LengthsUnknown"}

// String is what the program says, for messages.
func (w *world) String() string {
	decided := w.program.decided(0)
	if len(decided) == 0 {
		return "nothing decided"
	}
	return decided[len(decided)-1].String()
}

// TestLoad: load goes from 1× to 4×, to half of 1× and away, on a fleet that is declared in every
// way there is.
func TestLoad(t *testing.T) { //nolint:tparallel // one step after the other
	w := newWorld(t, setup{}, slices.Sorted(maps.Keys(declarations))...)
	w.settle()
	w.optimal()

	t.Run("SLOs are back within start-up and two cycles", func(t *testing.T) {
		step := time.Now()
		w.offer(4*base, w.ways...)
		passAwake(t, time.Until(step.Add(w.pace.load+w.pace.cycles(2))))
		back := time.Now()
		pass(t, w.pace.load+w.pace.cycles(5))
		for _, way := range w.ways {
			ttft, itl, n := w.attainment(way, back)
			t.Logf("%s: %.3g of %d requests hold TTFT, and ITL is %.3g s", way, ttft, n, itl)
			assert.GreaterOrEqual(t, ttft, ttftShare, "%s: TTFT of %d requests; %v", way, n, w.story(way, 0))
			assert.LessOrEqual(t, itl, itlMeanMost, "%s: ITL of %d requests", way, n)
		}
	})
	t.Run("the mix is the cheapest", func(t *testing.T) {
		w.settle()
		w.optimal()
		assert.Positive(t, w.witness.running("h100"))
		assert.Positive(t, w.witness.running("a100"))
	})
	t.Run("statuses say what was decided", func(*testing.T) { w.statuses() })
	t.Run("replicas go within the window", func(t *testing.T) {
		before := w.witness.total()
		// So little that the band around it, wide after a step, makes no second replica wanted.
		w.offer(base/2, w.ways...)
		began := time.Now()
		w.until(func() bool { return w.witness.total() < before }, "fewer than %d replicas", before)
		// The window begins when rates have fallen, which takes as long as they are taken over.
		assert.Less(t, time.Since(began), w.pace.window+w.pace.scaleDown+w.pace.cycles(2))
		w.settle()
		w.optimal()
	})
	t.Run("without load the least is left", func(t *testing.T) {
		w.offer(0, w.ways...)
		pass(t, w.pace.window+w.pace.scaleDown+w.pace.cycles(2))
		w.settle()
		require.Equal(t, len(w.ways), w.witness.total(), "one replica of each: %v", w.witness)
		require.Zero(t, w.witness.running("h100"), "A100 are cheaper")
	})
	w.proven()
}

// proven checks what must hold of every story: pools were never exceeded, what was decided
// was written, once, and the ledger makes the same decisions again.
func (w *world) proven() {
	w.t.Helper()
	w.witness.check(w.cluster)
	w.until(func() bool {
		return maps.EqualFunc(byTarget(carriedOut(w.program.decided(0))), byTarget(w.witness.seen()), slices.Equal)
	},
		"decided: %v\nseen: %v", printed{carriedOut(w.program.decided(0))}, printed{w.witness.seen()})
	w.program.kill()
	w.program.replay()
}

// byTarget are the changes of each target, in order.
func byTarget(changes []change) map[string][]change {
	all := map[string][]change{}
	for _, c := range changes {
		all[c.target] = append(all[c.target], c)
	}
	return all
}

// story tells what demand of a workload was expected in each cycle after one, and what was
// done.
func (w *world) story(way string, after uint64) string {
	var b strings.Builder
	for _, d := range w.program.decided(after) {
		for _, plan := range d.GetPlan().GetWorkloads() {
			if plan.GetName() == namespace+"/"+declared[way] {
				e := plan.GetExpected()
				fmt.Fprintf(&b, "\n%d %s: %.3g/s observed, %.3g/s expected, %.3g/s of backlog; %s %v", d.GetSequence(), d.GetTime().AsTime().Format("05.0"),
					e.GetObservedRps(), e.GetUpperRps(), e.GetBacklogRps(), plan.GetReason(), plan.GetConditions())
			}
		}
	}
	return b.String()
}

// stories are those of all workloads.
func (w *world) stories(after uint64) string {
	var b strings.Builder
	for _, way := range w.ways {
		b.WriteString(w.story(way, after))
	}
	return b.String()
}

// optimal checks that what there is, is as cheap as what `poolwright optimize` plans for
// the same measured load, up to what a change of replicas must at least save.
func (w *world) optimal() {
	w.t.Helper()
	response, err := w.program.fleet.GetFleet(w.t.Context(), &poolwrightv1.GetFleetRequest{View: poolwrightv1.Decision_FULL})
	require.NoError(w.t, err)
	best := w.program.optimum(response.GetFleet())
	plan := response.GetDecision().GetPlan()
	require.InEpsilon(w.t, best.GetPricePerHour(), plan.GetPricePerHour(), 1e-6, "plan %v, optimum %v", plan, best)
}
