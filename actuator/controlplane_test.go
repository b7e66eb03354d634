//go:build e2e && linux

package actuator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/poolwright/poolwright/actuator"
	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/kube"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// patience is how long the control plane may take for anything.
const patience = time.Minute

// world is a real control plane with objects of every kind that is scaled.
type world struct {
	*controlplane.ControlPlane
	t      *testing.T
	client *kube.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{ControlPlane: controlplane.New(t, controlplane.Config{}), t: t}
	w.client = w.clientOf(w.Admin())
	w.install("inference.llmaz.io_playgrounds.yaml", "inference.llmaz.io_services.yaml", "kthena-v0.1/workload.serving.volcano.sh_modelservings.yaml")
	w.kubectl("create", "namespace", "team")
	return w
}

func (w *world) clientOf(user *rest.Config) *kube.Client {
	w.t.Helper()
	user.QPS = -1
	client, err := kube.New(user)
	require.NoError(w.t, err)
	return client
}

func (w *world) kubectl(arguments ...string) string {
	w.t.Helper()
	out, err := w.Kubectl(w.t.Context(), arguments...)
	require.NoError(w.t, err)
	return out
}

// install installs definitions of custom resources.
func (w *world) install(names ...string) {
	w.t.Helper()
	for _, name := range names {
		file := filepath.Join("..", "deploy", "crds", name)
		w.kubectl("apply", "--server-side", "-f", file)
		w.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", file)
	}
}

// apply creates or changes objects in the namespace team.
func (w *world) apply(objects string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "objects.yaml")
	require.NoError(w.t, os.WriteFile(file, []byte(objects), 0o600))
	w.kubectl("apply", "--namespace=team", "-f", file)
}

// target is an object as it is now.
func (w *world) target(apiVersion, kind, name string) (resource.Target, *unstructured.Unstructured) {
	w.t.Helper()
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	mapping, err := w.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	require.NoError(w.t, err)
	object, err := w.client.Dynamic.Resource(mapping.Resource).Namespace("team").Get(w.t.Context(), name, metav1.GetOptions{})
	require.NoError(w.t, err)
	return resource.Target{Object: resource.ReferenceTo(object), Mode: resource.Apply}, object
}

func replicasOf(t *testing.T, object *unstructured.Unstructured) int64 {
	t.Helper()
	n, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	require.NoError(t, err)
	return n
}

const deploymentOfNothing = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: 2
  paused: true
  selector: {matchLabels: {app: %[1]s}}
  template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: engine, image: engine}]}}
---
`

const kinds = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: chat}
spec:
  replicas: 2
  serviceName: chat
  selector: {matchLabels: {app: set}}
  template: {metadata: {labels: {app: set}}, spec: {containers: [{name: engine, image: engine}]}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: chat}
spec:
  replicas: 2
  selector: {matchLabels: {app: replicas}}
  template: {metadata: {labels: {app: replicas}}, spec: {containers: [{name: engine, image: engine}]}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {replicas: 2, modelClaim: {modelName: llama}}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: chat}
spec:
  replicas: 2
  schedulerName: volcano
  template: {roles: [{name: leader, workerReplicas: 0, entryTemplate: {spec: {containers: [{name: engine, image: engine}]}}}]}
`

func TestRealAPIServer(t *testing.T) {
	w := newWorld(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "chat") + kinds)
	t.Run("kinds", w.kinds)
	t.Run("dry run", w.dryRun)
	t.Run("Incident12SomebodyScalesByHand", w.byHand)
	t.Run("Incident30TwoInstallations", w.twoInstallations)
	t.Run("a writer that conflicts", w.conflicts)
	t.Run("a policy that refuses", w.policy)
	t.Run("rights", w.rights)
	t.Run("the roles that are shipped", w.roles)
	t.Run("a kind that gets a scale subresource", w.upgrade)
	t.Run("status and events", w.publish)
	t.Run("the API server is away", w.away)
	t.Run("hundreds of targets", w.many)
}

func (w *world) on(t *testing.T) *world { return &world{w.ControlPlane, t, w.client} }

func (w *world) kinds(t *testing.T) {
	w = w.on(t)
	for _, kind := range [][2]string{
		{"apps/v1", "Deployment"},
		{"apps/v1", "StatefulSet"},
		{"apps/v1", "ReplicaSet"},
		{"inference.llmaz.io/v1alpha1", "Playground"},
		{"workload.serving.volcano.sh/v1alpha1", "ModelServing"},
	} {
		target, _ := w.target(kind[0], kind[1], "chat")
		require.NoError(t, one(t, w.client, target), kind[1])
		_, object := w.target(kind[0], kind[1], "chat")
		require.EqualValues(t, 5, replicasOf(t, object), kind[1])
		require.Contains(t, managersOf(object), "poolwright", kind[1])
		require.ErrorContains(t, one(t, w.client, func() resource.Target {
			another := target
			another.Object.UID = "another"
			return another
		}()), "it is another object of that name now")
		a := actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}})
		require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", 5, 0)})[0], kind[1])
		require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", 0, 5)})[0], kind[1])
		_, object = w.target(kind[0], kind[1], "chat")
		require.EqualValues(t, 5, replicasOf(t, object), kind[1])
		if kind[1] == "Deployment" {
			require.NotContains(t, managersOf(object), "poolwright", "Kubernetes forgets who writes a scale that was 0, as docs/actuation.md says")
		}
	}
}

// managersOf are those who have written an object.
func managersOf(object *unstructured.Unstructured) []string {
	var managers []string
	for _, f := range object.GetManagedFields() {
		managers = append(managers, f.Manager)
	}
	return managers
}

func (w *world) dryRun(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "dry"))
	target, _ := w.target("apps/v1", "Deployment", "dry")
	target.Mode = resource.DryRun
	require.NoError(t, one(t, w.client, target))
	_, object := w.target("apps/v1", "Deployment", "dry")
	require.EqualValues(t, 2, replicasOf(t, object))

	w.apply(kinds)
	target, _ = w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	target.Mode = resource.DryRun
	w.kubectl("patch", "--namespace=team", "modelserving", "chat", "--type=merge", `--patch={"spec":{"replicas":2}}`)
	require.NoError(t, one(t, w.client, target))
	_, object = w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	require.EqualValues(t, 2, replicasOf(t, object))
}

// byHand: somebody scales between the snapshot and the write. What they asked for stays.
func (w *world) byHand(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "hand"))
	for kind, object := range map[string]string{"deployment": "hand", "modelserving": "chat"} {
		w.kubectl("patch", "--namespace=team", kind, object, "--type=merge", `--patch={"spec":{"replicas":2}}`)
	}
	hand, _ := w.target("apps/v1", "Deployment", "hand")
	serving, _ := w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	w.kubectl("scale", "--namespace=team", "deployment/hand", "--replicas=7")
	w.kubectl("patch", "--namespace=team", "modelserving", "chat", "--type=merge", `--patch={"spec":{"replicas":7}}`)
	require.ErrorContains(t, one(t, w.client, hand), "somebody else made it 7 replicas")
	require.ErrorContains(t, one(t, w.client, serving), "somebody else made it 7 replicas")
	_, object := w.target("apps/v1", "Deployment", "hand")
	require.EqualValues(t, 7, replicasOf(t, object))
	require.Empty(t, w.owners("hand"), "people make changes, and no claims")
}

// owners are those that one Poolwright finds of a Deployment.
func (w *world) owners(name string) []string {
	target, object := w.target("apps/v1", "Deployment", name)
	return resource.NewOwnership(alone{object}, resource.Self{}).Owners(target.Object, resource.Reference{})
}

// alone is a view of one object.
type alone struct{ *unstructured.Unstructured }

func (alone) List(schema.GroupKind) []*unstructured.Unstructured { return nil }

func (a alone) Get(kind schema.GroupKind, _, name string) (*unstructured.Unstructured, bool) {
	return a.Unstructured, kind == a.GroupVersionKind().GroupKind() && name == a.GetName()
}

// twoInstallations: what another one writes is seen in the object, and respected.
func (w *world) twoInstallations(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "fought-over"))
	target, _ := w.target("apps/v1", "Deployment", "fought-over")
	require.Empty(t, w.owners("fought-over"))
	other := actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}, FieldManager: "poolwright-b"})
	require.NoError(t, other.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0])

	target, _ = w.target("apps/v1", "Deployment", "fought-over")
	target.Owners = w.owners("fought-over")
	require.Equal(t, []string{"poolwright-b, which wrote the scale last"}, target.Owners)
	ours := actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}})
	require.NoError(t, ours.Apply(t.Context(), []planner.Change{change("h100", 5, 1)})[0])
	_, object := w.target("apps/v1", "Deployment", "fought-over")
	require.EqualValues(t, 5, replicasOf(t, object), "one of them steps back")

	target.TakeOver = true
	ours = actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}})
	require.NoError(t, ours.Apply(t.Context(), []planner.Change{change("h100", 5, 1)})[0])
	require.Empty(t, w.owners("fought-over"), "the replicas are ours now")
}

// conflicts: somebody writes the object all the time, but not its replicas.
func (w *world) conflicts(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "busy"))
	target, _ := w.target("apps/v1", "Deployment", "busy")
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"n":"%d"}}}`, n)
			if _, err := w.client.Typed.AppsV1().Deployments("team").Patch(ctx, "busy", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
		written <- n
	}()
	for n := 2; n < 40; n++ {
		a := actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}})
		require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", n, n+1)})[0])
	}
	cancel()
	require.Positive(t, <-written)
	_, object := w.target("apps/v1", "Deployment", "busy")
	require.EqualValues(t, 40, replicasOf(t, object), "no write lost, and none done twice")
}

// policy: what the cluster's own rules refuse is said as they say it, and not asked for again.
func (w *world) policy(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "limited") + `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limited}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments/scale], resourceNames: [limited]}]
  validations: [{expression: object.spec.replicas <= 4, message: four are enough}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limited}
spec: {policyName: limited, validationActions: [Deny]}
`)
	target, _ := w.target("apps/v1", "Deployment", "limited")
	dry := target
	dry.Mode = resource.DryRun
	require.Eventually(t, func() bool { return one(t, w.client, dry) != nil }, patience, 50*time.Millisecond, "the policy to be in force")
	a := actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}})
	require.ErrorContains(t, a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0], "four are enough")
	require.ErrorContains(t, a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0], "refused before")
	require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", 2, 4)})[0])
}

// rights: the error of a service account without them says which rule is missing.
func (w *world) rights(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "guarded"))
	w.kubectl("create", "serviceaccount", "--namespace=team", "reader")
	account, err := w.ServiceAccount(t.Context(), "team", "reader")
	require.NoError(t, err)
	client := w.clientOf(account)
	guarded, _ := w.target("apps/v1", "Deployment", "guarded")
	serving, _ := w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	all := targets{"h100": guarded, "a100": serving}
	a := actuator.New(actuator.Config{Client: client, Targets: all})
	changes := []planner.Change{change("h100", 2, 5), change("a100", 7, 5)}
	errs := a.Apply(t.Context(), changes)
	require.ErrorContains(t, errs[0], `Deployment team/guarded: scale from 2 to 5`)
	require.ErrorContains(t, errs[0], `the service account needs the verb patch on deployments/scale in the API group "apps"`)
	require.ErrorContains(t, errs[1], `the service account needs the verb patch on modelservings in the API group "workload.serving.volcano.sh"`)
	err = a.Publish(t.Context(), []resource.Patch{{
		Object: serving.Object, ResourceVersion: "1", Subresource: "status", Merge: map[string]any{"status": map[string]any{"replicas": 1}},
	}}, []resource.Event{{Object: guarded.Object, Reason: "Scaled", Message: "x"}})
	require.ErrorContains(t, err, `the service account needs the verb patch on modelservings/status in the API group "workload.serving.volcano.sh"`)
	require.ErrorContains(t, err, `the service account needs the verbs create and patch on events in the API group "events.k8s.io"`)

	w.kubectl("create", "role", "--namespace=team", "scaler", "--verb=patch", "--resource=deployments.apps/scale")
	w.kubectl("create", "rolebinding", "--namespace=team", "scaler", "--role=scaler", "--serviceaccount=team:reader")
	require.Eventually(t, func() bool {
		a := actuator.New(actuator.Config{Client: client, Targets: all}) // one that remembers no refusal
		return a.Apply(t.Context(), changes[:1])[0] == nil
	}, patience, 50*time.Millisecond)
	_, object := w.target("apps/v1", "Deployment", "guarded")
	require.EqualValues(t, 5, replicasOf(t, object), "the rule that the error names is enough")
}

// roles: what deploy/kubernetes/rbac.yaml grants is enough, and no more than that.
func (w *world) roles(t *testing.T) {
	w = w.on(t)
	w.kubectl("apply", "-f", filepath.Join("..", "deploy", "kubernetes", "rbac.yaml"))
	account, err := w.ServiceAccount(t.Context(), "poolwright", "poolwright")
	require.NoError(t, err)
	client := w.clientOf(account)
	w.apply(fmt.Sprintf(deploymentOfNothing, "granted") + kinds)
	for _, kind := range [][3]string{
		{"apps/v1", "Deployment", "granted"},
		{"apps/v1", "StatefulSet", "chat"},
		{"inference.llmaz.io/v1alpha1", "Playground", "chat"},
		{"workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat"},
	} {
		target, object := w.target(kind[0], kind[1], kind[2])
		from := int(replicasOf(t, object))
		a := actuator.New(actuator.Config{Client: client, Targets: targets{"h100": target}})
		require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", from, from+1)})[0], kind[1])
		_, object = w.target(kind[0], kind[1], kind[2])
		require.EqualValues(t, from+1, replicasOf(t, object), kind[1])
		require.NoError(t, a.Publish(t.Context(), nil, []resource.Event{{Object: target.Object, Reason: "Scaled", Message: "x"}}))
	}
	playground, object := w.target("inference.llmaz.io/v1alpha1", "Playground", "chat")
	status := resource.Patch{
		Object: playground.Object, ResourceVersion: object.GetResourceVersion(), Subresource: "status",
		Merge: map[string]any{"status": map[string]any{"replicas": 1}},
	}
	a := actuator.New(actuator.Config{Client: client})
	require.NoError(t, a.Publish(t.Context(), []resource.Patch{status}, nil))
	deployments := client.Typed.AppsV1().Deployments("team")
	_, err = deployments.Patch(t.Context(), "granted", "application/merge-patch+json", []byte(`{"spec":{"paused":false}}`), metav1.PatchOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.True(t, apierrors.IsForbidden(deployments.Delete(t.Context(), "granted", metav1.DeleteOptions{})))
}

// upgrade: a release of Kthena gives ModelServings a scale subresource.
func (w *world) upgrade(t *testing.T) {
	w = w.on(t)
	w.install("kthena-v0.4/workload.serving.volcano.sh_modelservings.yaml")
	w.kubectl("patch", "--namespace=team", "modelserving", "chat", "--type=merge", `--patch={"spec":{"replicas":2}}`)
	target, _ := w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	require.NoError(t, one(t, w.client, target), "as before, until the kinds are read again")
	w.kubectl("patch", "--namespace=team", "modelserving", "chat", "--type=merge", `--patch={"spec":{"replicas":2}}`)
	w.client.Mapper.Reset()
	require.Eventually(t, func() bool {
		target, _ := w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
		return one(t, w.client, target) == nil
	}, patience, 50*time.Millisecond)
	_, object := w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	require.EqualValues(t, 5, replicasOf(t, object))
}

// publish: a status is written for the version that was read, and events are counted.
func (w *world) publish(t *testing.T) {
	w = w.on(t)
	target, object := w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	a := actuator.New(actuator.Config{Client: w.client, Instance: "poolwright-0"})
	patch := resource.Patch{
		Object: target.Object, ResourceVersion: object.GetResourceVersion(), Subresource: "status",
		Merge: map[string]any{"status": map[string]any{"replicas": int64(3)}},
	}
	event := resource.Event{Object: target.Object, Reason: "Scaled", Message: "ModelServing team/chat scaled from 2 to 5: because"}
	warning := resource.Event{Object: target.Object, Warning: true, Reason: "NotScaled", Message: strings.Repeat("because ", 500)}
	require.NoError(t, a.Publish(t.Context(), []resource.Patch{patch}, []resource.Event{event, warning}))
	_, object = w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	n, _, _ := unstructured.NestedInt64(object.Object, "status", "replicas")
	require.EqualValues(t, 3, n)

	patch.Merge = map[string]any{"status": map[string]any{"replicas": int64(4)}}
	require.NoError(t, a.Publish(t.Context(), []resource.Patch{patch}, []resource.Event{event}), "of a version that is gone")
	_, object = w.target("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	n, _, _ = unstructured.NestedInt64(object.Object, "status", "replicas")
	require.EqualValues(t, 3, n)

	events, err := w.client.Typed.EventsV1().Events("team").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	found := map[string]string{}
	for _, e := range events.Items {
		if e.ReportingController == "poolwright.dev/poolwright" && e.ReportingInstance == "poolwright-0" {
			require.Equal(t, target.Object.UID, e.Regarding.UID)
			found[e.Reason] = e.Type
		}
	}
	require.Equal(t, map[string]string{"Scaled": corev1.EventTypeNormal, "NotScaled": corev1.EventTypeWarning}, found)
	require.Contains(t, w.kubectl("events", "--namespace=team", "--for=ModelServing/chat"), "scaled from 2 to 5: because")
}

// away: an API server that is gone takes no longer than a cycle can bear, and what it did
// not hear is written when it is back.
func (w *world) away(t *testing.T) {
	w = w.on(t)
	w.apply(fmt.Sprintf(deploymentOfNothing, "away"))
	target, _ := w.target("apps/v1", "Deployment", "away")
	a := actuator.New(actuator.Config{Client: w.client, Targets: targets{"h100": target}})
	w.APIServer.Stop()
	began := time.Now()
	require.Error(t, a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0])
	require.Less(t, time.Since(began), 10*time.Second)
	require.NoError(t, w.APIServer.Start(t.Context()))
	require.NoError(t, a.Apply(t.Context(), []planner.Change{change("h100", 2, 5)})[0], "it was no refusal")
	_, object := w.target("apps/v1", "Deployment", "away")
	require.EqualValues(t, 5, replicasOf(t, object))
}

// many: hundreds of targets are scaled in one call, without limits and with the usual ones.
func (w *world) many(t *testing.T) {
	w = w.on(t)
	const n = 600
	var objects strings.Builder
	for i := range n {
		fmt.Fprintf(&objects, deploymentOfNothing, fmt.Sprintf("many-%d", i))
	}
	w.apply(objects.String())
	list, err := w.client.Typed.AppsV1().Deployments("team").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	all := make(targets)
	var changes []planner.Change
	for i := range list.Items {
		d := &list.Items[i]
		if !strings.HasPrefix(d.Name, "many-") {
			continue
		}
		all[d.Name] = resource.Target{Mode: resource.Apply, Object: resource.Reference{
			GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Namespace: "team", Name: d.Name, UID: d.UID, Generation: d.Generation,
		}}
		changes = append(changes, change(d.Name, 2, 3))
	}
	require.Len(t, changes, n)
	client, err := kube.New(func() *rest.Config {
		c := w.Admin()
		c.QPS, c.Burst = 500, 1000
		return c
	}())
	require.NoError(t, err)
	for _, c := range []struct {
		client   *kube.Client
		from, to int
		limit    string
	}{{w.client, 2, 3, "none"}, {client, 3, 4, "500/s"}} {
		for i := range changes {
			changes[i].From, changes[i].To = c.from, c.to
		}
		a := actuator.New(actuator.Config{Client: c.client, Targets: all, Timeout: patience})
		began := time.Now()
		for _, err := range a.Apply(t.Context(), changes) {
			require.NoError(t, err)
		}
		t.Logf("%d targets scaled in %s, limit of the client: %s", n, time.Since(began).Round(time.Millisecond), c.limit)
	}
}
