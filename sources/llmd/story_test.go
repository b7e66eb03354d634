package llmd_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// The stories are told by the reader and the production planner. Set UPDATE_SCRIPTS to
// rewrite what they are expected to print. Their commands:
//
//	example FILE           adds the objects of examples/cluster/llmd/FILE
//	apply                  adds the objects of the input
//	pool NAME price=P capacity=N
//	overlay                says what the configuration does of the fleet
//	read                   prints workloads and what was skipped
//	cycle rate=R in=N out=N itl=MS ttft=MS waiting=N state=S after=D paused dropped
func TestStories(t *testing.T) {
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		require.NoError(t, flag.Set("rewrite", "true"))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "stories", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c := newWorld(t)
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return c.run(t, d) })
		})
	}
}

func (c *world) run(t *testing.T, d *datadriven.TestData) string {
	c.t = t
	switch d.Cmd {
	case "example":
		c.view.Add(t, example(t, d.CmdArgs[0].Key))
	case "apply":
		c.view.Add(t, d.Input)
	case "pool":
		var price float64
		var capacity int
		d.ScanArgs(t, "price", &price)
		d.ScanArgs(t, "capacity", &capacity)
		c.addPool(d.CmdArgs[0].Key, price, capacity)
	case "overlay":
		c.overlay = d.Input
	case "read":
		return printRead(c.reader.Read(c.view))
	case "cycle":
		return c.cycle(c.seen(d))
	default:
		d.Fatalf(t, "no such command")
	}
	return ""
}

func example(t testing.TB, name string) string {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS("../../examples/cluster/llmd"), name)
	require.NoError(t, err)
	return string(text)
}

func (c *world) seen(d *datadriven.TestData) seen {
	s := seen{state: planner.Fresh, paused: d.HasArg("paused"), dropped: d.HasArg("dropped")}
	for key, value := range map[string]*float64{
		"rate": &s.rate, "in": &s.in, "out": &s.out, "itl": &s.itl, "ttft": &s.ttft, "waiting": &s.waiting,
	} {
		if d.HasArg(key) {
			d.ScanArgs(c.t, key, value)
		}
	}
	for state := planner.Missing; state <= planner.Incomplete; state++ {
		if arg, ok := d.Arg("state"); ok && arg.Vals[0] == state.String() {
			s.state = state
		}
	}
	if arg, ok := d.Arg("after"); ok {
		after, err := time.ParseDuration(arg.Vals[0])
		require.NoError(c.t, err)
		c.now = c.now.Add(after)
	}
	return s
}

func printRead(workloads []resource.Workload, skipped []resource.Skipped) string {
	var b strings.Builder
	for i := range workloads {
		w := &workloads[i]
		fmt.Fprintf(&b, "%s model=%s class=%s priority=%d mixing=%s min=%d engine=%s object=%v\n",
			w.QualifiedName(), w.Model, w.ServiceClass, w.Priority, map[optimizer.Mixing]string{optimizer.Allowed: "allowed", optimizer.Single: "single"}[w.Mixing],
			w.MinReplicas, w.Series.Engine, w.Object)
		for _, l := range w.SLO.Limits {
			fmt.Fprintf(&b, "  %v <= %v s\n", l, l.Value)
		}
		for _, v := range w.Declared {
			fmt.Fprintf(&b, "  %s accelerator=%s devices=%d replicas=%d in [%d, %s]", v.Name, v.Accelerator, v.DevicesPerReplica, v.CurrentReplicas, v.MinReplicas, bound(v.MaxReplicas))
			if v.Product != "" {
				fmt.Fprintf(&b, " product=%s", v.Product)
			}
			if v.Priced {
				fmt.Fprintf(&b, " price=%v", v.PricePerReplicaHour)
			}
			if v.Target.Name != "" {
				fmt.Fprintf(&b, " target=%v", v.Target)
			}
			if v.Leaders != nil {
				fmt.Fprintf(&b, " leaders=%v", v.Leaders)
			}
			b.WriteString("\n")
			if v.Replica != nil {
				p := v.Replica.Profile
				fmt.Fprintf(&b, "    %s alpha=%v beta=%v gamma=%v delta=%v s, batch=%d\n", serviceModel(v.Replica.Model), p.Alpha, p.Beta, p.Gamma, p.Delta, v.Replica.MaxBatch)
			}
		}
		for _, c := range w.Conditions {
			fmt.Fprintf(&b, "  %s=%s: %s\n", c.Type, c.Status, c.Message)
		}
	}
	for _, s := range skipped {
		fmt.Fprintf(&b, "skipped %v: %s: %s\n", s.Object, s.Reason, s.Message)
	}
	return b.String()
}

func bound(b optimizer.Bound) string {
	if !b.Limited {
		return "unlimited"
	}
	return fmt.Sprint(b.Value)
}

func serviceModel(m queueing.ServiceModel) string {
	return map[queueing.ServiceModel]string{queueing.LLMDV0: "LLMD_V0", queueing.LLMDV1: "LLMD_V1"}[m]
}
