//go:build e2e && linux

package kthena

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/cluster/clustertest"
	"github.com/poolwright/poolwright/sources/overlay"
)

// said is the configuration: the costs of the bindings are the prices.
const said = `
accelerators:
- {name: H100, aliases: [NVIDIA-H100-80GB-HBM3]}
- {name: A100, aliases: [NVIDIA-A100-SXM4-80GB]}
replicas:
- {match: {accelerator: H100}, capacityRps: 8}
- {match: {accelerator: A100}, capacityRps: 5}
`

// loop is the production loop, but for what it measures, with the rights of its service
// account, in a cluster in which the test plays Kthena's controller of ModelServings.
type loop struct {
	*apiServer
	client     kubernetes.Interface
	production *clustertest.Loop
	// demand is in requests/s.
	demand atomic.Int64
	// reasons are those of the last plans.
	reasons []string
}

func newLoop(t *testing.T, release string) *loop {
	t.Helper()
	l := &loop{apiServer: newServer(t, release)}
	require.NoError(t, l.AddNodes(t.Context(),
		controlplane.GPUNode("a100-0", "NVIDIA-A100-SXM4-80GB", 8), controlplane.GPUNode("a100-1", "NVIDIA-A100-SXM4-80GB", 8),
		controlplane.GPUNode("h100-0", "NVIDIA-H100-80GB-HBM3", 8),
	))
	// What is left is one model on two types of devices.
	for _, namespace := range []string{"code", "search"} {
		l.Do("delete", "modelboosters,autoscalingpolicybindings,modelservings", "--all", "-n", namespace)
	}
	l.Apply("../../deploy/kubernetes/rbac.yaml")
	l.client = kubernetes.NewForConfigOrDie(l.Admin())
	message := &poolwrightv1.Overlay{}
	require.NoError(t, document.UnmarshalYAML([]byte(said), message))
	o, err := overlay.New(message)
	require.NoError(t, err)
	l.production = clustertest.New(t, l.ControlPlane, l, o, new(Reader))
	return l
}

// Observe implements [controller.Observer]: every workload has the same demand.
func (l *loop) Observe(_ context.Context, fleet planner.Fleet) ([]planner.Observation, error) {
	var all []planner.Observation
	for i := range fleet.Workloads {
		all = append(all, planner.Observation{
			Workload:    fleet.Workloads[i].QualifiedName(),
			ArrivalRate: planner.Measurement{State: planner.Fresh, Value: float64(l.demand.Load())},
		})
	}
	return all, nil
}

// cycle goes round once, writes what it means, and makes the pods that are asked for.
func (l *loop) cycle() error {
	e, err := l.production.Cycle(l.t.Context())
	if e.Sequence == 0 {
		return err // nothing was decided
	}
	l.reasons = nil
	for i := range e.Decision.Plans {
		l.reasons = append(l.reasons, e.Decision.Fleet.Workloads[i].QualifiedName()+": "+e.Decision.Plans[i].Reason)
	}
	l.makePods()
	return err
}

// makePods gives each ModelServing of one role an entry pod for each of its replicas, and
// no more.
func (l *loop) makePods() {
	l.t.Helper()
	for _, object := range l.View([]schema.GroupKind{servingKind}).List(servingKind) {
		m, problem := readServing(object)
		require.Nil(l.t, problem)
		role, pods := &m.roles[0], l.client.CoreV1().Pods(object.GetNamespace())
		if len(m.roles) > 1 {
			continue
		}
		for k := range m.replicas {
			_, err := pods.Create(l.t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Name:   fmt.Sprintf("%s-%d-%s-0-0", object.GetName(), k, role.Name),
					Labels: labels.Merge(m.entryLabels(role), labels.Set{"replica": fmt.Sprint(k)}),
				},
				Spec: role.EntryTemplate.Spec,
			}, metav1.CreateOptions{})
			require.True(l.t, err == nil || apierrors.IsAlreadyExists(err), "%v", err)
		}
		list, err := pods.List(l.t.Context(), metav1.ListOptions{LabelSelector: nameLabel + "=" + object.GetName()})
		require.NoError(l.t, err)
		for i := range list.Items {
			var k int
			_, err := fmt.Sscan(list.Items[i].Labels["replica"], &k)
			require.NoError(l.t, err)
			if k >= m.replicas {
				require.NoError(l.t, pods.Delete(l.t.Context(), list.Items[i].Name, metav1.DeleteOptions{}))
			}
		}
	}
}

// becomes goes round until a query has an answer.
func (l *loop) becomes(want string, arguments ...string) {
	l.t.Helper()
	last := ""
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); {
		if err := l.cycle(); err != nil {
			last = err.Error()
			continue
		}
		if last = strings.Join(strings.Fields(l.Do(arguments...)), " "); last == want {
			return
		}
	}
	require.Fail(l.t, "never became "+want, "last: %s, as %s", last, l.reasons)
}

// The mix is the cheapest that the nodes have room for, requests follow what is ready, and
// the rights are enough: through the scale subresource, and in v0.1 without one.
func TestLoopOnAPIServer(t *testing.T) {
	for _, release := range []string{"v0.1", "v0.4"} {
		t.Run(release, func(t *testing.T) {
			l := newLoop(t, release)
			replicas := []string{"get", "modelservings", "-n", "chat", "-o", "jsonpath={.items[*].spec.replicas}"}
			weights := []string{"get", "modelroute", "llama", "-n", "chat", "-o", "jsonpath={.spec.rules[0].targetModels[*].weight}"}
			l.demand.Store(10)
			l.becomes("2 0", replicas...)
			l.becomes("0 100", weights...)

			l.demand.Store(18)
			l.becomes("2 1", replicas...)
			l.becomes("44 56", weights...)

			l.demand.Store(40)
			l.becomes("2 2", replicas...)
			l.becomes("62 38", weights...)
			events := l.Do("get", "events", "-n", "chat", "-o", `jsonpath={range .items[*]}{.involvedObject.kind} {.reason}{"\n"}{end}`)
			assert.Contains(t, events, "AutoscalingPolicyBinding DemandUnmet\n")
		})
	}
}
