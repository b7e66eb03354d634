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
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/sources/llmd"
)

// cluster is read, planned and changed, as the loop does it.
type cluster struct {
	t      testing.TB
	view   *resourcetest.View
	reader *llmd.Reader
	pools  []planner.Pool
	// capacities are what a configuration says of variants, in requests/s.
	capacities map[string]float64
	memory     planner.Memory
	now        time.Time
}

func newCluster(t testing.TB, texts ...string) *cluster {
	t.Helper()
	return &cluster{
		t: t, view: resourcetest.New(t, texts...), reader: llmd.NewReader(llmd.Config{}),
		capacities: make(map[string]float64),
		now:        time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
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
func (c *cluster) cycle(s seen) string {
	c.t.Helper()
	rules := statusSchema(c.t)
	workloads, _ := c.reader.Read(c.view)
	outcomes, changes := c.decide(workloads, &s)
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

// decide returns what becomes of each workload, and all changes.
func (c *cluster) decide(workloads []resource.Workload, s *seen) ([]resource.Outcome, []planner.Change) {
	c.t.Helper()
	fleet := c.fleet(workloads, s)
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
	return outcomes, d.Changes
}

// fleet is what a catalog makes of the workloads: variants get the pools of their
// accelerators, those without one the first. A variant without a pool is left out.
func (c *cluster) fleet(workloads []resource.Workload, s *seen) planner.Fleet {
	f := planner.Fleet{Pools: c.pools}
	for i := range workloads {
		w := workloads[i].Workload
		w.Shape = queueing.Shape{InputTokens: queueing.Tokens(s.in), OutputTokens: queueing.Tokens(s.out), InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}
		w.Priority = max(1, w.Priority)
		for _, d := range workloads[i].Declared {
			v := d.Variant
			for p := range c.pools {
				if c.pools[p].Accelerator == d.Accelerator || d.Accelerator == "" && p == 0 {
					v.Pools = append(v.Pools, p)
				}
			}
			if v.Pools == nil {
				continue
			}
			v.DevicesPerReplica, v.NodesPerReplica = max(1, v.DevicesPerReplica), 1
			if capacity, ok := c.capacities[v.Name]; ok {
				v.Replica, v.Capacity = nil, queueing.Rate(capacity)
			}
			w.Variants = append(w.Variants, v)
		}
		f.Workloads = append(f.Workloads, w)
	}
	return f
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

func (c *cluster) scale(workloads []resource.Workload, changes []planner.Change) {
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
func (c *cluster) addPool(accelerator string, price float64, capacity int) {
	c.pools = append(c.pools, planner.Pool{
		Name: accelerator, Accelerator: accelerator, PricePerHour: price, Capacity: optimizer.Bound{Limited: true, Value: capacity},
	})
}
