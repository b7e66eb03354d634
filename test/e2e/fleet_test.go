//go:build e2e && linux

package e2e

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/queueing"
)

// declarations are the ways in which the fleet declares its workloads, each a file of
// testdata/fleet with one workload that may run on both accelerators, and its model.
var declarations = map[string]string{"plain": "chat", "llmd": "summarize", "kthena": "translate", "llmaz": "code"}

// declared are the names of those workloads.
var declared = map[string]string{"plain": "chat", "llmd": "summarize-a100", "kthena": "translate", "llmaz": "code"}

// namespace of the fleet.
const namespace = "prod"

// applyFleet creates workloads that are declared in some ways.
func (c *cluster) applyFleet(p pace, ways ...string) {
	c.t.Helper()
	c.kubectl("create", "namespace", namespace)
	for _, way := range ways {
		c.declare(p, way)
	}
}

// declare applies the file of a way.
func (c *cluster) declare(p pace, way string) {
	c.t.Helper()
	alpha, beta := map[string]string{}, map[string]string{}
	for accelerator, e := range engines {
		alpha[accelerator] = fmt.Sprint(e.Profile.Alpha * 1000)
		beta[accelerator] = fmt.Sprint(e.Profile.Beta * 1000)
	}
	c.kubectl("apply", "--server-side", "-f", c.fill("fleet/"+way+".yaml", map[string]any{
		"Products": products, "LoadTime": p.load, "ScaleDownWindow": p.scaleDown, "Alpha": alpha, "Beta": beta, "Cost": map[string]int{"h100": 4, "a100": 2},
	}))
}

// offer gives workloads that are declared in some ways a load each.
func (c *cluster) offer(rate queueing.Rate, ways ...string) {
	c.t.Helper()
	for _, way := range ways {
		require.NoError(c.t, c.engines.Offer(modelOf(way), rate, shape))
	}
}

func modelOf(way string) fakeengine.ModelName {
	return fakeengine.ModelName{Namespace: namespace, Model: declarations[way]}
}

// attainment is the share of the requests of a workload that arrived since a time and have
// ended within the SLO of testdata/poolwright.yaml, and their number.
func (c *cluster) attainment(way string, since time.Time) (ttft float64, itl queueing.Seconds, requests int) {
	completed := c.engines.Completed(modelOf(way), since)
	var sum queueing.Seconds
	within := 0
	for i := range completed {
		if completed[i].TTFT() <= ttftLimit {
			within++
		}
		sum += completed[i].ITL()
	}
	n := len(completed)
	return float64(within) / float64(n), sum / queueing.Seconds(n), n
}

// What testdata/poolwright.yaml and testdata/fleet promise.
const (
	ttftLimit   queueing.Seconds = 0.5
	ttftShare                    = 0.95
	itlMeanMost queueing.Seconds = 0.020
)

// readyPods are those of a namespace.
func (c *cluster) readyPods(namespace string) []corev1.Pod {
	c.t.Helper()
	list, err := c.typed.CoreV1().Pods(namespace).List(c.t.Context(), metav1.ListOptions{})
	require.NoError(c.t, err)
	var ready []corev1.Pod
	for _, p := range list.Items {
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				ready = append(ready, p)
			}
		}
	}
	return ready
}
