package kthena

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// What is read of the objects of a cluster, told in files: `go test -rewrite` writes the
// answers anew. Common objects are there in all that follows.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		var common string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "common":
				common = d.Input
				return ""
			case "read":
				workloads, skipped := new(Reader).Read(resourcetest.New(t, common, d.Input))
				return describe(workloads, skipped)
			case "example":
				workloads, skipped := new(Reader).Read(resourcetest.New(t, examples(t, d.CmdArgs[0].Key)...))
				return describe(workloads, skipped)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// examples are the files of a folder in examples/cluster/kthena.
func examples(t testing.TB, folder string) []string {
	t.Helper()
	return resourcetest.Examples(t, "../../examples/cluster/kthena/"+folder)
}

func describe(workloads []resource.Workload, skipped []resource.Skipped) string {
	var b strings.Builder
	for i := range workloads {
		describeWorkload(&b, &workloads[i])
	}
	for _, s := range skipped {
		fmt.Fprintf(&b, "skipped %v: %s: %s\n", s.Object, s.Reason, s.Message)
	}
	return b.String()
}

func describeWorkload(b *strings.Builder, w *resource.Workload) {
	fmt.Fprintf(b, "%s by %s: model %q, engine %q", w.QualifiedName(), w.Object.Kind, w.Model, w.Series.Engine)
	if w.Series.Port != 0 {
		fmt.Fprintf(b, ", pods report at :%d%s", w.Series.Port, w.Series.Path)
	}
	if w.ExpansionRate != nil {
		fmt.Fprintf(b, ", batches at %d %%", *w.ExpansionRate)
	}
	fmt.Fprintln(b)
	if k := w.Policy.Kthena; k != nil {
		fmt.Fprintf(b, "  policy: tolerance %d %%, metrics %v\n    up %+v\n    panic %+v\n    down %+v\n", k.TolerancePercent, k.Metrics, k.ScaleUp, k.Panic, k.ScaleDown)
	}
	if w.ZeroGrace > 0 {
		fmt.Fprintf(b, "  nothing for %v before zero\n", w.ZeroGrace)
	}
	for j := range w.Declared {
		v := &w.Declared[j]
		fmt.Fprintf(b, "  %s: %d of %d..%d replicas of %d devices %q on %d nodes", v.Name, v.CurrentReplicas,
			v.MinReplicas, v.MaxReplicas.Value, v.DevicesPerReplica, v.Accelerator, v.NodesPerReplica)
		if v.Priced {
			fmt.Fprintf(b, " at %v", v.PricePerReplicaHour)
		}
		fmt.Fprintf(b, "\n    scales %v; leaders %v\n", v.Target, v.Leaders)
		for _, part := range w.Series.Parts[v.Name] {
			does := "answer"
			if part.Prefill {
				does = "prefill"
			}
			fmt.Fprintf(b, "    %d of each that %s: %v\n", part.Count, does, part.Pods)
		}
		for _, reporters := range v.Reporters {
			fmt.Fprintf(b, "    reporters %v\n", reporters)
		}
	}
	for _, c := range w.Conditions {
		fmt.Fprintf(b, "  %s=%s, %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
}
