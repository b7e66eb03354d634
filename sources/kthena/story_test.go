package kthena_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/kthena"
	"github.com/poolwright/poolwright/sources/overlay"
)

// story is a cluster of Kthena that is read, completed, planned, changed and written about
// as the loop does it. Replicas are ready in the cycle after the one that asked for them.
type story struct {
	t       *testing.T
	view    *resourcetest.View
	reader  *kthena.Reader
	overlay *overlay.Overlay
	memory  planner.Memory
	now     time.Time
}

// The stories are told in files: `go test -rewrite` writes the answers anew.
//
//	example FILE            the objects of examples/cluster/kthena/FILE
//	overlay                 what the configuration says of the fleet
//	cycle requests=R        arrivals per second of each workload, or
//	cycle waiting=N         requests that wait, as a metric of each replica; and
//	  for=D                 cycles for so long; only the changes are printed
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &story{reader: new(kthena.Reader), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			switch d.Cmd {
			case "example":
				text, err := fs.ReadFile(os.DirFS("../../examples/cluster/kthena"), d.CmdArgs[0].Key)
				require.NoError(t, err)
				s.view = resourcetest.New(t, string(text))
				return ""
			case "overlay":
				said := &poolwrightv1.Overlay{}
				require.NoError(t, document.UnmarshalYAML([]byte(d.Input), said))
				var err error
				s.overlay, err = overlay.New(said)
				require.NoError(t, err)
				return ""
			case "cycle":
				return s.cycles(d)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// A minimum of 0 in a binding is one that is said, and it counts without a gateway, too.
func TestMinimumOfZero(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS("../../examples/cluster/kthena"), "v0.4/mix.yaml")
	require.NoError(t, err)
	view := resourcetest.New(t, strings.ReplaceAll(string(text), "minReplicas: 1", "minReplicas: 0"))
	declared, skipped := new(kthena.Reader).Read(view)
	require.Empty(t, skipped)
	o, err := overlay.New(&poolwrightv1.Overlay{})
	require.NoError(t, err)
	completed := o.Complete(view, nil, declared)
	require.Len(t, completed.Workloads, 1)
	require.Zero(t, completed.Workloads[0].MinReplicas)
	for _, v := range completed.Workloads[0].Declared {
		require.Zero(t, v.MinReplicas)
	}
	for _, c := range completed.Workloads[0].Conditions {
		require.NotEqual(t, overlay.MinimumAssumed, c.Type)
	}
}

func (s *story) cycles(d *datadriven.TestData) string {
	s.t.Helper()
	requests, waiting, span := -1.0, -1.0, "0s"
	d.MaybeScanArgs(s.t, "requests", &requests)
	d.MaybeScanArgs(s.t, "waiting", &waiting)
	d.MaybeScanArgs(s.t, "for", &span)
	length, err := time.ParseDuration(span)
	require.NoError(s.t, err)
	begin := s.now
	var lines []string
	for {
		for _, line := range s.cycle(requests, waiting) {
			lines = append(lines, fmt.Sprintf("%v %s", s.now.Sub(begin), line))
		}
		s.now = s.now.Add(planner.DefaultCycle)
		if s.now.Sub(begin) > length {
			break
		}
	}
	return strings.Join(append(lines, ""), "\n")
}

// cycle says what was changed and written, and why nothing was planned.
func (s *story) cycle(requests, waiting float64) []string {
	s.t.Helper()
	declared, skipped := s.reader.Read(s.view)
	require.Empty(s.t, skipped)
	completed := s.overlay.Complete(s.view, nil, declared)
	require.Empty(s.t, completed.Skipped)
	snapshot := planner.Snapshot{Now: s.now, Fleet: completed.Fleet, Observations: []planner.Observation{}}
	for i := range completed.Fleet.Workloads {
		snapshot.Observations = append(snapshot.Observations, observe(&completed.Fleet.Workloads[i], requests, waiting))
	}
	d, memory, err := planner.New(lp.Simplex()).Plan(snapshot, s.memory, nil)
	require.NoError(s.t, err)
	s.memory = memory
	var lines []string
	for i := range completed.Workloads {
		w, plan := &completed.Workloads[i], &d.Plans[i]
		o := &resource.Outcome{Now: s.now, Fleet: &d.Fleet, Workload: &d.Fleet.Workloads[i], Plan: plan, Conditions: w.Conditions}
		for _, c := range d.Changes {
			if c.Workload == w.QualifiedName() {
				o.Changes = append(o.Changes, c)
			}
		}
		for j := range o.Workload.Variants {
			o.Ready = append(o.Ready, o.Workload.Variants[j].CurrentReplicas)
		}
		if plan.Held {
			lines = append(lines, plan.Reason)
		}
		for _, p := range s.reader.Patches(s.view, w, o) {
			lines = append(lines, s.written(p))
		}
	}
	for _, c := range d.Changes {
		lines = append(lines, fmt.Sprintf("%s %s: %d → %d, %s", c.Target.Kind, c.Target.Name, c.From, c.To, c.Reason))
		s.scale(&c)
	}
	return lines
}

// observe is what is measured of a workload.
func observe(w *planner.Workload, requests, waiting float64) planner.Observation {
	o := planner.Observation{Workload: w.QualifiedName()}
	if requests >= 0 {
		o.ArrivalRate = planner.Measurement{State: planner.Fresh, Value: requests}
	}
	for j := range w.Variants {
		if waiting >= 0 {
			values := slices.Repeat([]float64{waiting}, w.Variants[j].CurrentReplicas)
			metric := planner.MetricValues{Name: w.Policy.Kthena.Metrics[0].Name, Values: values}
			o.Variants = append(o.Variants, planner.VariantObservation{Variant: w.Variants[j].Name, Metrics: []planner.MetricValues{metric}})
		}
	}
	return o
}

// written says what a patch changes, and changes it.
func (s *story) written(p resource.Patch) string {
	s.t.Helper()
	s.view.Apply(s.t, p)
	line := p.Object.String()
	if status, ok := p.Merge["status"].(map[string]any); ok {
		for _, target := range status["heterogeneousStatus"].([]any) {
			of := target.(map[string]any)
			line += fmt.Sprintf(", %v %v → %v", of["name"], of["currentReplicas"], of["desiredReplicas"])
		}
		return line
	}
	for _, rule := range p.Merge["spec"].(map[string]any)["rules"].([]any) {
		for _, target := range rule.(map[string]any)["targetModels"].([]any) {
			of := target.(map[string]any)
			line += fmt.Sprintf(", %v %v", of["modelServerName"], of["weight"])
		}
	}
	return line
}

func (s *story) scale(c *planner.Change) {
	s.t.Helper()
	for _, object := range s.view.List(schema.GroupKind{Group: "workload.serving.volcano.sh", Kind: "ModelServing"}) {
		if object.GetName() == c.Target.Name {
			s.view.Apply(s.t, resource.Patch{
				Object: resource.ReferenceTo(object), ResourceVersion: object.GetResourceVersion(),
				Merge: map[string]any{"spec": map[string]any{"replicas": int64(c.To)}},
			})
		}
	}
}
