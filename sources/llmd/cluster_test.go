package llmd_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/sources/llmd"
	"github.com/poolwright/poolwright/sources/overlay"
)

// world is a cluster that is read, planned and changed, as the loop does it.
type world struct {
	t      testing.TB
	view   *resourcetest.View
	reader *llmd.Reader
	// pools are those of the nodes, and overlay is what the configuration says.
	pools   []overlay.Pool
	overlay string
	memory  planner.Memory
	now     time.Time
}

func newWorld(t testing.TB, texts ...string) *world {
	t.Helper()
	return &world{
		t: t, view: resourcetest.New(t, texts...), reader: llmd.NewReader(llmd.Config{}),
		overlay: "{}", now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	}
}

// seen is what is measured of every workload.
type seen struct {
	state planner.MeasurementState
	// Latencies are in ms; 0 where they were not measured in this cycle.
	rate, in, out, itl, ttft, waiting float64
	paused, dropped                   bool
}

// cycle reads, plans, writes back and changes replicas, and says what was written.
func (c *world) cycle(s seen) string {
	c.t.Helper()
	rules := statusSchema(c.t)
	declared, _ := c.reader.Read(c.view)
	workloads, outcomes, changes := c.decide(declared, &s)
	var lines []string
	for _, change := range changes {
		lines = append(lines, fmt.Sprintf("%s %s: %d -> %d", change.Target.Kind, change.Target.Name, change.From, change.To))
	}
	for i := range workloads {
		for _, patch := range c.reader.Patches(c.view, &workloads[i], &outcomes[i]) {
			require.Equal(c.t, "status", patch.Subresource)
			require.Empty(c.t, violations("status", rules, patch.Merge["status"]))
			lines = append(lines, fmt.Sprintf("%v status", patch.Object))
			lines = append(lines, printStatus(patch.Merge["status"].(map[string]any))...)
			c.view.Apply(c.t, patch)
		}
		require.Empty(c.t, c.reader.Patches(c.view, &workloads[i], &outcomes[i]), "all is written already")
	}
	c.scale(workloads, changes)
	c.now = c.now.Add(planner.DefaultCycle)
	if len(lines) == 0 {
		return "nothing is written\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// decide returns the workloads as they are completed, what becomes of each, and all changes.
func (c *world) decide(workloads []resource.Workload, s *seen) ([]resource.Workload, []resource.Outcome, []planner.Change) {
	c.t.Helper()
	completed := c.complete(workloads, s)
	workloads = completed.Workloads
	fleet := completed.Fleet
	snapshot := planner.Snapshot{Now: c.now, Fleet: fleet, Observations: []planner.Observation{}}
	for i := range fleet.Workloads {
		snapshot.Observations = append(snapshot.Observations, s.observe(&fleet.Workloads[i]))
		if s.paused {
			snapshot.Paused = append(snapshot.Paused, planner.Pause{Workload: fleet.Workloads[i].QualifiedName(), Reason: "by hand"})
		}
	}
	d, memory, err := planner.New(lp.Simplex()).Plan(snapshot, c.memory, nil)
	require.NoError(c.t, err)
	c.memory = memory
	if s.dropped {
		d.Changes = nil
	}
	outcomes := make([]resource.Outcome, len(workloads))
	for i := range workloads {
		o := &outcomes[i]
		*o = resource.Outcome{
			Now: c.now, Fleet: &d.Fleet, Workload: &d.Fleet.Workloads[i], Plan: &d.Plans[i], Pools: d.Pools, Observation: &snapshot.Observations[i],
			Conditions: slices.Concat(workloads[i].Conditions, conditions(d.Plans[i].Conditions)),
		}
		for _, change := range d.Changes {
			if change.Workload == workloads[i].QualifiedName() {
				o.Changes = append(o.Changes, change)
			}
		}
	}
	return workloads, outcomes, d.Changes
}

// parse reads what a configuration says of the fleet.
func parse(t testing.TB, text string) *overlay.Overlay {
	t.Helper()
	said := &poolwrightv1.Overlay{}
	require.NoError(t, document.UnmarshalYAML([]byte(text), said))
	o, err := overlay.New(said)
	require.NoError(t, err)
	return o
}

// complete is what a catalog makes of the workloads.
func (c *world) complete(workloads []resource.Workload, s *seen) overlay.Completed {
	c.t.Helper()
	completed := parse(c.t, c.overlay).Complete(c.view, c.pools, workloads)
	for i := range completed.Fleet.Workloads {
		completed.Fleet.Workloads[i].Shape = queueing.Shape{
			InputTokens: queueing.Tokens(s.in), OutputTokens: queueing.Tokens(s.out), InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1,
		}
	}
	return completed
}

func (s *seen) observe(w *planner.Workload) planner.Observation {
	measured := func(value float64) planner.Measurement { return planner.Measurement{State: s.state, Value: value} }
	o := planner.Observation{Workload: w.QualifiedName(), ArrivalRate: measured(s.rate), CompletionRate: measured(s.rate)}
	if s.rate > 0 {
		o.InputTokens, o.OutputTokens = measured(s.in), measured(s.out)
	}
	for j := range w.Variants {
		if v := &w.Variants[j]; v.CurrentReplicas > 0 && s.itl > 0 {
			o.Variants = append(o.Variants, planner.VariantObservation{Variant: v.Name, Replica: calibration.Observation{
				Rate: calibration.Of(s.rate / float64(v.CurrentReplicas)), Waiting: calibration.Of(s.waiting),
				ITL: calibration.Of(s.itl / 1000), TTFT: calibration.Of(s.ttft / 1000),
			}})
		}
	}
	return o
}

// printStatus has a line for each field and each condition.
func printStatus(status map[string]any) []string {
	var lines []string
	for _, field := range slices.Sorted(maps.Keys(status)) {
		if list, ok := status[field].([]any); ok {
			for _, entry := range list {
				c := entry.(map[string]any)
				lines = append(lines, fmt.Sprintf("  %v=%v since %v: %v: %v", c["type"], c["status"], c["lastTransitionTime"], c["reason"], c["message"]))
			}
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s:%s", field, printFields(status[field].(map[string]any))))
	}
	return lines
}

func printFields(fields map[string]any) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if inner, ok := fields[name].(map[string]any); ok {
			text += fmt.Sprintf(" %s:{%s }", name, printFields(inner))
			continue
		}
		text += fmt.Sprintf(" %s=%v", name, fields[name])
	}
	return text
}

func conditions(of []planner.Condition) []resource.Condition {
	var all []resource.Condition
	for _, c := range of {
		all = append(all, resource.Condition{Type: string(c.Type), Status: resource.True, Reason: string(c.Type), Message: c.Message})
	}
	return all
}

func (c *world) scale(workloads []resource.Workload, changes []planner.Change) {
	for _, change := range changes {
		for i := range workloads {
			for _, d := range workloads[i].Declared {
				if workloads[i].QualifiedName() != change.Workload || d.Name != change.Variant {
					continue
				}
				target, ok := c.view.Get(d.Target.GroupKind(), d.Target.Namespace, d.Target.Name)
				require.True(c.t, ok)
				c.view.Apply(c.t, resource.Patch{
					Object: resource.ReferenceTo(target), ResourceVersion: target.GetResourceVersion(),
					Merge: map[string]any{"spec": map[string]any{"replicas": int64(change.To)}},
				})
			}
		}
	}
}

// addPool adds a pool of an accelerator.
func (c *world) addPool(accelerator string, price float64, capacity int) {
	c.pools = append(c.pools, overlay.Pool{Pool: planner.Pool{
		Name: accelerator, Accelerator: accelerator, PricePerHour: price, Capacity: optimizer.Bound{Limited: true, Value: capacity},
	}})
}
