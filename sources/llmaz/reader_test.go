package llmaz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
	"github.com/poolwright/poolwright/policy/hpa"
)

// What is read of the objects of a cluster, told in files: `go test -rewrite` writes the
// answers anew.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		var common string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "common":
				common = d.Input
				return ""
			case "read":
				workloads, skipped := Reader{}.Read(resourcetest.New(t, common, d.Input))
				return describe(workloads, skipped)
			case "examples":
				workloads, skipped := Reader{}.Read(resourcetest.New(t, examples(t)...))
				return describe(workloads, skipped)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// examples are the files in examples/cluster/llmaz.
func examples(t testing.TB) []string {
	t.Helper()
	return resourcetest.Examples(t, "../../examples/cluster/llmaz")
}

func describe(workloads []resource.Workload, skipped []resource.Skipped) string {
	var b strings.Builder
	for i := range workloads {
		w := &workloads[i]
		fmt.Fprintf(&b, "workload %s: model %s, engine %q, mode %q, declared by %s\n", w.QualifiedName(), w.Model, w.Series.Engine, w.Mode, w.Object)
		for j := range w.Declared {
			describeVariant(&b, &w.Declared[j])
		}
		describePolicy(&b, w.Policy.HPA)
		for _, c := range w.Conditions {
			fmt.Fprintf(&b, "  %s %s, %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	for _, s := range skipped {
		fmt.Fprintf(&b, "skipped %s, %s: %s\n", s.Object, s.Reason, s.Message)
	}
	return b.String()
}

func describeVariant(b *strings.Builder, v *resource.Variant) {
	fmt.Fprintf(b, "  variant %s: %q, %d devices on %d nodes, %d replicas of %d", v.Name, v.Accelerator, v.DevicesPerReplica, v.NodesPerReplica, v.CurrentReplicas, v.MinReplicas)
	if v.MaxReplicas.Limited {
		fmt.Fprintf(b, " to %d", v.MaxReplicas.Value)
	}
	fmt.Fprintf(b, ", starts within %v, place %d\n", v.StartupLimit, v.Preference)
	if r := v.Replica; r != nil {
		fmt.Fprintf(b, "    at most %d requests and %v tokens at once\n", r.MaxBatch, r.MaxBatchedTokens)
	}
	fmt.Fprintf(b, "    scales %s %s, leaders %s\n", v.ScaleTarget.APIVersion, v.Target, v.Leaders)
}

func describePolicy(b *strings.Builder, c *hpa.Config) {
	if c == nil {
		return
	}
	fmt.Fprintf(b, "  policy hpa: %d to %d replicas\n", c.MinReplicas, c.MaxReplicas)
	for _, m := range c.Metrics {
		fmt.Fprintf(b, "    metric %d %s%s, target %d of type %d\n", m.Source, m.Name, m.Container, m.Target.Value, m.Target.Type)
	}
	if c.Behavior != nil {
		fmt.Fprintf(b, "    up %+v\n    down %+v\n", c.Behavior.ScaleUp, c.Behavior.ScaleDown)
	}
}
