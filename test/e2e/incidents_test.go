//go:build e2e && linux

package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// TestIncident23UnreadyPod: a pod that is no longer ready spoils nothing but itself.
func TestIncident23UnreadyPod(t *testing.T) {
	w := newWorld(t, setup{}, "plain")
	w.offer(4*base, w.ways...)
	w.settle()
	before, after := w.witness.total(), w.program.last()

	broken := w.readyPods(namespace)[0]
	healthy := broken.Status.DeepCopy()
	for i := range broken.Status.Conditions {
		if c := &broken.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status, c.Reason = corev1.ConditionFalse, "Broken"
		}
	}
	w.report(&broken)
	pass(t, w.pace.scaleDown+w.pace.cycles(3))
	assert.Empty(t, removals(w.program.decided(after)))

	broken.Status = *healthy
	broken.Status.ContainerStatuses[0].RestartCount++
	w.report(&broken)
	w.engines.Restart(modelOf("plain"))
	w.recovered(before)
	w.proven()
}

// report writes the status of a pod, whatever its version.
func (c *cluster) report(p *corev1.Pod) {
	c.t.Helper()
	p.ResourceVersion = ""
	_, err := c.typed.CoreV1().Pods(p.Namespace).UpdateStatus(c.t.Context(), p, metav1.UpdateOptions{})
	require.NoError(c.t, err)
}

// TestIncident27WakeFromZero: a workload without replicas gets one when requests arrive at
// the gateway.
func TestIncident27WakeFromZero(t *testing.T) {
	w := newWorld(t, setup{mayBeIdle: true, gateway: true}, "plain")
	w.engines.Gateway(namespace)
	w.settle()
	w.offer(0, w.ways...)
	w.until(func() bool { return w.witness.total() == 0 && len(w.readyPods(namespace)) == 0 }, "asleep: %v", printed{w})

	woken := time.Now()
	w.offer(base, w.ways...)
	w.until(func() bool { return w.witness.total() > 0 }, "awake: %v", printed{w})
	assert.Less(t, time.Since(woken), w.pace.window+w.pace.cycles(2))
	w.until(func() bool { _, _, n := w.attainment("plain", woken); return n > 0 }, "requests are served")
	w.proven()
}

// TestIncident30SomebodyElseScales: what an autoscaler already scales is left to it, and
// taken up when that is gone.
func TestIncident30SomebodyElseScales(t *testing.T) {
	w := newWorld(t, setup{}, "plain")
	w.settle()
	w.kubectl("autoscale", "-n", namespace, "deployment/chat-h100", "--min=1", "--max=2", "--cpu-percent=50")
	w.kubectl("autoscale", "-n", namespace, "deployment/chat-a100", "--min=1", "--max=2", "--cpu-percent=50")
	w.until(func() bool { return w.told("OwnershipConflict") }, "the conflict is told of")
	after, before := w.program.last(), w.witness.total()
	w.offer(4*base, w.ways...)
	pass(t, w.pace.window+w.pace.cycles(4))
	assert.Equal(t, before, w.witness.total())
	recommended := 0
	for _, d := range w.program.decided(after) {
		recommended = max(recommended, planned(d))
	}
	assert.Greater(t, recommended, before, "what would be needed is decided all the same")

	w.kubectl("delete", "-n", namespace, "hpa", "--all")
	w.until(func() bool { return w.witness.total() > before }, "taken up: %v", printed{w})
}

// planned are the replicas of a decision's plan.
func planned(d *poolwrightv1.Decision) int {
	n := 0
	for _, a := range d.GetPlan().GetAllocations() {
		n += int(a.GetReplicas())
	}
	return n
}

// told tells whether there is an event of a reason in the namespace of the fleet.
func (c *cluster) told(reason string) bool {
	c.t.Helper()
	events, err := c.typed.EventsV1().Events(namespace).List(c.t.Context(), metav1.ListOptions{})
	require.NoError(c.t, err)
	return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Reason == reason })
}

// TestIncident32LoadOfOneScalesNoOther: load and broken latencies of one workload are no reason
// to change another, whatever way it is declared in.
func TestIncident32LoadOfOneScalesNoOther(t *testing.T) {
	w := newWorld(t, setup{}, "llmd", "plain")
	w.settle()
	before, after := w.witness.total(), w.program.last()
	w.offer(4*base, "plain")
	w.until(func() bool { return w.witness.total() > before }, "one grows: %v", printed{w})
	pass(t, w.pace.load+w.pace.window+w.pace.cycles(2))
	for _, d := range w.program.decided(after) {
		for _, change := range d.GetChanges() {
			assert.Equal(t, namespace+"/"+declared["plain"], change.GetWorkload(), "%v", change)
		}
	}
	w.proven()
}
