package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/planner"
)

// catalogOf is a catalog that has seen a view.
func catalogOf(t testing.TB, r resource.Reader, v *View) *Catalog {
	t.Helper()
	c := &Catalog{config: Config{Readers: []resource.Reader{r}}}
	c.latest.Store(c.snapshot(v, overlayOf(t, "")))
	return c
}

// entryOf is a cycle of the catalog's fleet, in which nothing was changed.
func entryOf(c *Catalog) *controller.Entry {
	fleet := c.latest.Load().fleet
	plans := make([]planner.WorkloadPlan, len(fleet.Workloads))
	return &controller.Entry{Decision: planner.Decision{At: time.Unix(100, 0).UTC(), Fleet: fleet, Plans: plans}}
}

// writer writes down the outcomes that it is told of.
type writer struct {
	reader
	outcomes map[string]resource.Outcome
}

func (w *writer) Patches(_ resource.View, of *resource.Workload, o *resource.Outcome) []resource.Patch {
	w.outcomes[of.QualifiedName()] = *o
	return []resource.Patch{{Object: of.Object}}
}

func typesOf(conditions []resource.Condition) []string {
	var all []string
	for _, c := range conditions {
		all = append(all, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	return all
}

func TestReport(t *testing.T) {
	w := &writer{outcomes: map[string]resource.Outcome{}}
	c := catalogOf(t, w, viewOf(t, nodeOf("n1", h100, 8, ""),
		deployment("a", "x", 2, onH100+", found: Doubt"), podOf("a", "x-1", "r-a-x", "n1", "ready"), deployment("a", "gone", 1, onH100)))
	e := entryOf(c)
	change := planner.Change{Workload: "a/x", Variant: "v", From: 2, To: 3}
	e.Decision.Changes = []planner.Change{change, {Workload: "a/x", Variant: "w"}}
	e.Dropped = []controller.Drop{{Change: e.Decision.Changes[1], Reason: "it is gone"}}
	e.Snapshot.Observations = []planner.Observation{{Workload: "a/x", ArrivalRate: planner.Measurement{State: planner.Fresh, Value: 3}}}
	i := c.latest.Load().of["a/x"]
	e.Decision.Plans[i].Conditions = []planner.Condition{{Type: planner.DemandUnmet, Message: "1 request/s"}}
	e.Decision.Fleet.Workloads = append([]planner.Workload(nil), e.Decision.Fleet.Workloads...)
	e.Decision.Fleet.Workloads[1-i].Variants = nil // it has another variant since

	patches, _ := c.Report(e)
	require.Len(t, patches, 1)
	require.Len(t, w.outcomes, 1)
	o := w.outcomes["a/x"]
	assert.Equal(t, e.Decision.At, o.Now)
	assert.Equal(t, []int{1}, o.Ready)
	assert.Equal(t, []bool{false}, o.Advised)
	assert.Equal(t, []planner.Change{change}, o.Changes)
	assert.Equal(t, []string{"w: it is gone"}, o.Dropped)
	assert.InDelta(t, 3, o.Observation.ArrivalRate.Value, 0)
	assert.Same(t, &e.Decision.Plans[i], o.Plan)
	assert.Equal(t, []string{"Doubt=True", "DemandUnmet=True"}, typesOf(o.Conditions))
}

const autoscaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {namespace: a, name: h}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}}
---
`

// declaring says which objects declare the variants of the workload a/x.
type declaring struct{ reader }

func (d declaring) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	all, skipped := d.reader.Read(v)
	for i := range all {
		if all[i].Name == "x" {
			all[i].Declared[0].Object = all[i].Object
		}
	}
	return all, skipped
}

func TestObjects(t *testing.T) {
	c := catalogOf(t, declaring{}, viewOf(t, deployment("a", "x", 2, onH100), deployment("a", "other", 2, onH100)))
	var found []string
	c.Objects(func(workload, variant, object string) { found = append(found, workload+" "+variant+" "+object) })
	assert.Equal(t, []string{"a/x v x"}, found)
}

func TestTargets(t *testing.T) {
	w := &writer{outcomes: map[string]resource.Outcome{}}
	c := catalogOf(t, w, viewOf(t, autoscaler, deployment("a", "x", 2, onH100+", mode: dry-run"), deployment("a", "free", 2, onH100)))
	target, ok := c.Target("a/x", "v")
	require.True(t, ok)
	assert.Equal(t, "d-a-x", string(target.Object.UID))
	assert.Equal(t, int64(7), target.Object.Generation)
	assert.Equal(t, resource.DryRun, target.Mode)
	assert.Equal(t, []string{"HorizontalPodAutoscaler a/h"}, target.Owners)
	target, ok = c.Target("a/free", "v")
	require.True(t, ok)
	assert.Equal(t, resource.Apply, target.EffectiveMode())
	for _, name := range [][2]string{{"a/x", "w"}, {"a/none", "v"}} {
		_, ok = c.Target(name[0], name[1])
		assert.False(t, ok, name)
	}
	c.Report(entryOf(c))
	assert.Contains(t, typesOf(w.outcomes["a/x"].Conditions), "OwnershipConflict=True")
	assert.NotContains(t, typesOf(w.outcomes["a/free"].Conditions), "OwnershipConflict=True")
	assert.Equal(t, []string{"a/x"}, c.Contested())

	before := New(Config{Watch: NewWatch(WatchConfig{})})
	_, ok = before.Target("a/x", "v")
	assert.False(t, ok, "before the first fleet")
	before.Objects(func(_, _, object string) { assert.Fail(t, "before the first fleet", object) })
	before.Advised(func(workload, _ string) { assert.Fail(t, "before the first fleet", workload) })
}

// Two of our own installations, or we and somebody else, must not fight over a target.
func TestOwnershipIsSaidAndTakenOverOnlyIfAsked(t *testing.T) {
	s := snapshotOf(t, viewOf(t, autoscaler, deployment("a", "x", 2, onH100)), "")
	assert.Equal(t, []resource.Condition{{
		Type: OwnershipConflict, Status: resource.True, Reason: OwnershipConflict,
		Message: "Deployment a/x is scaled by HorizontalPodAutoscaler a/h: replicas are recommended only",
	}}, s.ownership(0))
	s.workloads[0].TakeOver = true
	assert.Equal(t, resource.False, s.ownership(0)[0].Status)
}

// What others carry out may come in steps: KEDA where it asks us alone, or who is told to follow
// recommendations. That somebody scales on their own is another matter.
func TestDelegated(t *testing.T) {
	scaled := func(name, address string) string {
		return fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {namespace: a, name: %[1]s}
spec: {scaleTargetRef: {name: %[1]s}, triggers: [{type: external-push, metadata: {scalerAddress: "%[2]s:9090"}}]}
---
`, name, address)
	}
	c := &Catalog{config: Config{Readers: []resource.Reader{reader{}}, Self: resource.Self{ScalerHosts: []string{"poolwright.system"}}}}
	s := c.snapshot(viewOf(t, autoscaler, scaled("asks", "poolwright.system"), scaled("asks-another", "another.system"),
		deployment("a", "x", 2, onH100), deployment("a", "asks", 2, onH100), deployment("a", "asks-another", 2, onH100),
		deployment("a", "applied", 2, onH100), deployment("a", "recommended", 2, onH100+", mode: recommend"), deployment("a", "dry", 2, onH100+", mode: dry-run"),
	), overlayOf(t, ""))
	for name, delegated := range map[string]bool{
		"a/x": false, "a/asks": true, "a/asks-another": false, "a/applied": false, "a/recommended": true, "a/dry": false,
	} {
		assert.Equal(t, delegated, variant(t, s, name).Delegated, name)
	}
}

func TestPods(t *testing.T) {
	c := catalogOf(t, reader{}, viewOf(t, nodeOf("n1", h100, 8, ""), deployment("a", "x", 2, onH100),
		podOf("a", "x-1", "r-a-x", "n1", "ready"), podOf("a", "x-2", "r-a-x", "n1", "starting"),
		podOf("a", "x-3", "r-a-x", "n1", "leaving"), podOf("a", "x-4", "r-a-x", "n1", "ended"), podOf("a", "o", "", "n1", "ready")))
	started := time.Date(2026, 1, 1, 0, 0, 10, 0, time.UTC)
	pods := c.Pods("a/x")
	for i := range pods {
		assert.True(t, started.Equal(pods[i].Started))
		pods[i].Started = time.Time{}
	}
	assert.Equal(t, []metrics.Pod{
		{Name: "x-1", Variant: "v", Address: "10.0.0.1", Ready: true},
		{Name: "x-2", Variant: "v", Address: "10.0.0.1"},
	}, pods)
	assert.Nil(t, c.Pods("a/none"))
	_, ok := c.Series("a/x")
	assert.True(t, ok)
	_, ok = c.Series("a/none")
	assert.False(t, ok)
}

// groups reads what reader does, but that a replica is a group of pods: x-1 says whether it is
// ready, and x-2 reports beside it.
type groups struct{ reader }

func (r groups) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	all, skipped := r.reader.Read(v)
	leader, other := labels.SelectorFromSet(labels.Set{"app": "x-1"}), labels.SelectorFromSet(labels.Set{"app": "x-2"})
	for i := range all {
		all[i].Declared[0].Leaders, all[i].Declared[0].Reporters = leader, []labels.Selector{leader, other}
	}
	return all, skipped
}

// More pods report than there are replicas.
func TestPodsOfGroups(t *testing.T) {
	c := catalogOf(t, groups{}, viewOf(t, nodeOf("n1", h100, 8, ""), deployment("a", "x", 1, onH100),
		podOf("a", "x-1", "r-a-x", "n1", "ready"), podOf("a", "x-2", "r-a-x", "n1", "starting"), podOf("a", "x-3", "r-a-x", "n1", "ready")))
	var pods []string
	for _, p := range c.Pods("a/x") {
		pods = append(pods, fmt.Sprint(p.Name, " ", p.Ready))
	}
	assert.Equal(t, []string{"x-1 true", "x-2 false"}, pods)
	assert.Equal(t, 0, variant(t, c.latest.Load(), "a/x").StartingReplicas, "the leader says so")
}

// What people are told of are transitions: once, however often it is reported.
func TestEventsTellOfTransitions(t *testing.T) {
	c := catalogOf(t, reader{}, viewOf(t, nodeOf("n1", h100, 8, ""), deployment("a", "x", 2, onH100+", found: Doubt")))
	tell := func(conditions ...planner.Condition) []string {
		e := entryOf(c)
		e.Decision.Plans[0].Conditions = conditions
		_, events := c.Report(e)
		var all []string
		for _, event := range events {
			kind := "Normal"
			if event.Warning {
				kind = "Warning"
			}
			assert.Equal(t, "d-a-x", string(event.Object.UID))
			all = append(all, kind+" "+event.Reason+": "+event.Message)
		}
		return all
	}
	unmet := planner.Condition{Type: planner.DemandUnmet, Message: "1 request/s"}
	assert.Equal(t, []string{
		"Warning DemandUnmet: 1 request/s",
		"Warning Doubt: by the reader",
	}, tell(unmet, planner.Condition{Type: planner.Waiting, Message: "in the normal course"}))
	unmet.Message = "2 requests/s"
	assert.Empty(t, tell(unmet), "the same in other numbers")
	assert.Equal(t, []string{"Normal DemandUnmetEnded: no longer: 1 request/s"}, tell())
	assert.Equal(t, []string{"Normal Paused: by a person"}, tell(planner.Condition{Type: planner.Paused, Message: "by a person"}))
}

// Of a workload that is being changed nothing is known for a moment, and one that was
// deleted is not told of.
func TestEventsOfWorkloadsThatChange(t *testing.T) {
	c := catalogOf(t, reader{}, viewOf(t, deployment("a", "x", 2, onH100+", found: Doubt"), deployment("a", "gone", 2, onH100+", found: Doubt")))
	_, events := c.Report(entryOf(c))
	assert.Len(t, events, 2+2) // and the capacity of their pool is unknown
	e := entryOf(c)
	e.Decision.Fleet.Workloads = append([]planner.Workload(nil), e.Decision.Fleet.Workloads...)
	e.Decision.Fleet.Workloads[c.latest.Load().of["a/x"]].Variants = nil
	_, events = c.Report(e)
	assert.Empty(t, events)

	c.latest.Store(c.snapshot(viewOf(t, deployment("a", "x", 2, onH100+", found: Doubt")), overlayOf(t, "")))
	_, events = c.Report(entryOf(c))
	assert.Empty(t, events)
}

// What a process has told is not told again by the next one, where it is written.
func TestEventsOfAnotherProcess(t *testing.T) {
	text := deployment("a", "x", 2, onH100+", found: Doubt")
	for status, want := range map[string]int{
		`{type: poolwright.dev/Doubt, status: "True", reason: Doubt}`:  0,
		`{type: poolwright.dev/Doubt, status: "True", reason: Other}`:  1,
		`{type: poolwright.dev/Doubt, status: "False", reason: Doubt}`: 1,
		`{type: Doubt, status: "True", reason: Doubt}`:                 1,
	} {
		before := strings.Replace(text, "\nspec:", "\nstatus: {conditions: ["+status+"]}\nspec:", 1)
		c := catalogOf(t, reader{}, viewOf(t, nodeOf("n1", h100, 8, ""), before))
		_, events := c.Report(entryOf(c))
		assert.Len(t, events, want, status)
		_, events = c.Report(entryOf(c))
		assert.Empty(t, events)
	}
}

func TestEventsAreBounded(t *testing.T) {
	var objects []string
	for i := range mostEvents + 20 {
		objects = append(objects, deployment("a", fmt.Sprintf("x%d", i), 1, onH100+", found: Doubt"))
	}
	c := catalogOf(t, reader{}, viewOf(t, append(objects, nodeOf("n1", h100, 8, ""))...))
	for _, want := range []int{mostEvents, 20, 0} {
		_, events := c.Report(entryOf(c))
		assert.Len(t, events, want)
	}
}

// An object that can't be used is told so: by an event, and by a condition if its API has
// conditions.
func TestSkippedObjectsAreToldWhy(t *testing.T) {
	const binding = `
apiVersion: example.com/v1
kind: Binding
metadata: {namespace: a, name: b, uid: b, generation: 3}
%s
---
`
	v := viewOf(t, fmt.Sprintf(binding, "status: {conditions: [{type: Ready, status: \"True\"}]}"))
	c := catalogOf(t, skipper{}, v)
	patches, events := c.Report(entryOf(c))
	require.Len(t, events, 1)
	assert.Equal(t, "Malformed", events[0].Reason)
	assert.True(t, events[0].Warning)
	require.Len(t, patches, 1)
	conditions := patches[0].Merge["status"].(map[string]any)["conditions"].([]any)
	assert.Len(t, conditions, 2)
	assert.Equal(t, "Malformed", conditions[1].(map[string]any)["reason"])

	c = catalogOf(t, skipper{}, viewOf(t, fmt.Sprintf(binding, "")))
	patches, events = c.Report(entryOf(c))
	assert.Len(t, events, 1)
	assert.Empty(t, patches, "nothing says that the API has conditions")
}

// skipper understands nothing.
type skipper struct{ reader }

func (skipper) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	for kind := range v.(*View).kinds {
		for _, object := range v.List(kind) {
			return nil, []resource.Skipped{{Object: resource.ReferenceTo(object), Reason: "Malformed", Message: strings.ToLower(kind.Kind)}}
		}
	}
	return nil, nil
}

// An object that is refused for two reasons has one condition: of two, each would overwrite
// the other in every cycle.
func TestRefusalsOfOneObject(t *testing.T) {
	v := viewOf(t, `
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q, uid: q}
status: {conditions: [{type: Active, status: "True"}]}
`)
	q := resource.ReferenceTo(v.List(clusterQueueKind)[0])
	s := &snapshot{view: v, skipped: []resource.Skipped{{Object: q, Reason: "First", Message: "one"}, {Object: q, Reason: "Second", Message: "two"}}}
	found := map[told]resource.Condition{}
	patches := s.refusals(found, time.Unix(100, 0))
	require.Len(t, patches, 1)
	assert.Equal(t, map[told]resource.Condition{toldOf(q, resource.Accepted): {Type: resource.Accepted, Status: resource.False, Reason: "First", Message: "one; two"}}, found)
}

// Changes that are only recommended are advice, but for those that KEDA carries out.
func TestAdvised(t *testing.T) {
	w := &writer{outcomes: map[string]resource.Outcome{}}
	c := catalogOf(t, w, viewOf(t, nodeOf("n1", h100, 8, ""),
		deployment("a", "applied", 1, onH100), deployment("a", "recommended", 1, onH100+", mode: recommend"), deployment("a", "dry", 1, onH100+", mode: dry-run")))
	c.Report(entryOf(c))
	for name, advised := range map[string]bool{"a/applied": false, "a/recommended": true, "a/dry": true} {
		assert.Equal(t, []bool{advised}, w.outcomes[name].Advised, name)
	}
	var found []string
	c.Advised(func(workload, variant string) { found = append(found, workload+" "+variant) })
	assert.ElementsMatch(t, []string{"a/recommended v", "a/dry v"}, found)
}
