//go:build e2e && linux

package llmd_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/cluster/clustertest"
	"github.com/poolwright/poolwright/sources/llmd"
)

// loop is the production loop, but for what it measures, with the rights of its service
// account.
type loop struct {
	*apiServer
	production *clustertest.Loop
	// demand is in requests/s.
	demand atomic.Int64
}

// Observe implements [controller.Observer]: every workload has the same demand.
func (l *loop) Observe(_ context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	measured := func(value float64) planner.Measurement {
		return planner.Measurement{State: planner.Fresh, Value: value}
	}
	var all []planner.Observation
	for i := range fleet.Workloads {
		rate := measured(float64(l.demand.Load()))
		all = append(all, planner.Observation{
			Workload: fleet.Workloads[i].QualifiedName(), ArrivalRate: rate, CompletionRate: rate,
			InputTokens: measured(512), OutputTokens: measured(128), InputSCV: measured(1), OutputSCV: measured(1),
		})
	}
	return all, nil
}

func newLoop(t *testing.T) *loop {
	t.Helper()
	l := &loop{apiServer: newServer(t)}
	l.Apply("../../deploy/kubernetes/rbac.yaml")
	said := parse(t, "replicas: [{match: {accelerator: H100}, capacityRps: 4}, {match: {accelerator: L40S}, capacityRps: 1.5}]")
	l.production = clustertest.New(t, l.ControlPlane, l, said, llmd.NewReader(llmd.Config{}))
	return l
}

// cycle goes round once, and writes what it means.
func (l *loop) cycle() error {
	_, err := l.production.Cycle(l.t.Context())
	return err
}

// becomes goes round until a query has an answer.
func (l *loop) becomes(want string, arguments ...string) {
	l.t.Helper()
	last := ""
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		if err := l.cycle(); err != nil {
			last = err.Error()
			continue
		}
		if last = strings.Join(strings.Fields(l.Do(arguments...)), " "); last == want {
			return
		}
	}
	require.Fail(l.t, "never became "+want, "last: %s", last)
}

func status(name, namespace string, fields ...string) []string {
	paths := make([]string, len(fields))
	for i, f := range fields {
		paths[i] = fmt.Sprintf("{.status.%s}", f)
	}
	return []string{"get", "va", name, "-n", namespace, "-o", "jsonpath=" + strings.Join(paths, " ")}
}

func condition(kind string) string { return fmt.Sprintf(`conditions[?(@.type==%q)].status`, kind) }

func TestLoopOnAPIServer(t *testing.T) {
	l := newLoop(t)
	l.demand.Store(1)

	// One A100 sustains 0.84 requests/s of these lengths. The accelerators that have a profile
	// and no node are not there to be recommended.
	flat := status("vllme-deployment", "llm-d-sim", "currentAlloc.accelerator", "currentAlloc.numReplicas", "currentAlloc.load.arrivalRate",
		"desiredOptimizedAlloc.accelerator", "desiredOptimizedAlloc.numReplicas", "actuation.applied", condition("MetricsAvailable"), condition("OptimizationReady"))
	l.becomes("A100 2 60.00 A100 2 true True True", flat...)

	l.demand.Store(4)
	l.becomes("A100 5 240.00 A100 5 true True True", flat...)
	l.becomes("5 5", "get", "deployment", "vllme-deployment", "-n", "llm-d-sim", "-o", "jsonpath={.spec.replicas} {.status.readyReplicas}")

	// Both objects of the third shape are variants of one workload: its traffic counts once.
	mixed := strings.Fields(l.Do("get", "va", "-n", "llm-d-prod", "-o", "jsonpath={.items[*].status.actuation.applied}"))
	assert.Equal(t, []string{"true", "true"}, mixed)

	// More than the pool has devices for: demand that is not met comes through as a condition.
	l.demand.Store(40)
	l.becomes("True", status("vllme-deployment", "llm-d-sim", condition("poolwright.dev/DemandUnmet"))...)
	events := l.Do("get", "events", "-n", "llm-d-sim", "-o", "jsonpath={range .items[*]}{.involvedObject.kind} {.reason}{\"\\n\"}{end}")
	assert.Contains(t, events, "VariantAutoscaling DemandUnmet\n")

	// An object that can't be read says so, and its target stays.
	replicas := []string{"get", "deployment", "vllme-deployment", "-n", "llm-d-sim", "-o", "jsonpath={.spec.replicas}"}
	before := l.Do(replicas...)
	l.Do("patch", "va", "vllme-deployment", "-n", "llm-d-sim", "--type=merge", "-p", `{"spec": {"sloClassRef": {"name": "gone", "key": "gone"}, "modelID": "gone"}}`)
	l.becomes("False", status("vllme-deployment", "llm-d-sim", condition("poolwright.dev/Accepted"))...)
	assert.Equal(t, before, l.Do(replicas...))
	l.Do("apply", "--server-side", "--force-conflicts", "-f", "../../examples/cluster/llmd/flat.yaml")
	l.becomes("", status("vllme-deployment", "llm-d-sim", condition("poolwright.dev/Accepted"))...)

	// A target that is deleted has no replicas until it is there again.
	resolved := status("vllme-deployment", "llm-d-sim", condition("TargetResolved"), condition("poolwright.dev/TargetMissing"), "actuation.applied")
	l.Do("delete", "deployment", "vllme-deployment", "-n", "llm-d-sim", "--wait=true")
	l.becomes("False True false", resolved...)
	l.Apply("../../examples/cluster/llmd/flat.yaml")
	l.demand.Store(1)
	l.becomes("True true", resolved...)
}
