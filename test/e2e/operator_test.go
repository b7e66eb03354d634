//go:build e2e && linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/metrics"
)

// Resources of the ecosystems whose controllers are played.
var (
	modelServings = schema.GroupVersionResource{Group: "workload.serving.volcano.sh", Version: "v1alpha1", Resource: "modelservings"}
	playgrounds   = schema.GroupVersionResource{Group: "inference.llmaz.io", Version: "v1alpha1", Resource: "playgrounds"}
	services      = schema.GroupVersionResource{Group: "inference.llmaz.io", Version: "v1alpha1", Resource: "services"}
	deployments   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// operator plays the controller of one kind: each object gets the pods that its own
// controller would make, by way of a Deployment that it controls, and a status.
type operator struct {
	*cluster
	resource schema.GroupVersionResource
	// pods returns what controls the pods, its number of replicas and their template.
	pods func(o *operator, object *unstructured.Unstructured) (*unstructured.Unstructured, corev1.PodTemplateSpec, error)
	// ready is the field of the status that counts ready replicas; empty = none does.
	ready string

	objects, deployments cache.SharedIndexInformer
	// changed asks for a look at all objects.
	changed chan struct{}
}

// operate plays Kthena's and llmaz's controllers until the test ends. Like the real ones
// they try again what fails.
func (c *cluster) operate() {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	typed := informers.NewSharedInformerFactoryWithOptions(c.typed, 0)
	untyped := dynamicinformer.NewDynamicSharedInformerFactory(c.dynamic, 0)
	for _, o := range []*operator{
		{resource: modelServings, pods: (*operator).servingGroups, ready: "availableReplicas"},
		{resource: playgrounds, pods: (*operator).playground},
	} {
		o.cluster = c
		o.objects, o.deployments = untyped.ForResource(o.resource).Informer(), typed.Apps().V1().Deployments().Informer()
		o.changed = make(chan struct{}, 1)
		for _, informer := range []cache.SharedIndexInformer{o.objects, o.deployments} {
			_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { o.ask() }, UpdateFunc: func(any, any) { o.ask() }, DeleteFunc: func(any) { o.ask() },
			})
			require.NoError(c.t, err)
		}
		running.Go(func() { o.run(ctx) })
	}
	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
}

func (o *operator) ask() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *operator) run(ctx context.Context) {
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.changed:
		case <-retry.C:
			if !failed {
				continue
			}
		}
		failed = false
		for _, object := range o.objects.GetStore().List() {
			if err := o.reconcile(ctx, object.(*unstructured.Unstructured)); err != nil && ctx.Err() == nil {
				failed = true // the API server may be away
			}
		}
	}
}

// reconcile makes the pods of an object, and its status.
func (o *operator) reconcile(ctx context.Context, object *unstructured.Unstructured) error {
	owner, template, err := o.pods(o, object)
	if err != nil {
		return err
	}
	replicas, found, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if err != nil || !found {
		return fmt.Errorf("%s: spec.replicas: %t, %w", object.GetName(), found, err)
	}
	count := int32(replicas) //nolint:gosec // the schema bounds it
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()},
		Spec:       appsv1.DeploymentSpec{Replicas: &count, Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}
	if err := o.own(ctx, deployments, deployment, owner); err != nil {
		return err
	}
	return o.status(ctx, object)
}

// own applies an object that another controls, taking back what others have changed.
func (o *operator) own(ctx context.Context, resource schema.GroupVersionResource, child any, owner *unstructured.Unstructured) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child)
	if err != nil {
		return err
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	u.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
	_, err = o.dynamic.Resource(resource).Namespace(u.GetNamespace()).Apply(ctx, u.GetName(), u,
		metav1.ApplyOptions{FieldManager: "operator", Force: true})
	return err
}

// status copies what the Deployment has become into the status.
func (o *operator) status(ctx context.Context, object *unstructured.Unstructured) error {
	found, exists, err := o.deployments.GetStore().GetByKey(object.GetNamespace() + "/" + object.GetName())
	if err != nil || !exists {
		return err
	}
	deployment := found.(*appsv1.Deployment)
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return err
	}
	status := map[string]any{"replicas": deployment.Status.Replicas}
	if o.ready != "" {
		status[o.ready] = deployment.Status.ReadyReplicas
		status["observedGeneration"] = object.GetGeneration()
	} else {
		status["selector"] = selector.String()
		available := metav1.ConditionFalse
		if deployment.Status.ReadyReplicas == deployment.Status.Replicas {
			available = metav1.ConditionTrue
		}
		status["conditions"] = o.conditions(object, string(available))
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = o.dynamic.Resource(o.resource).Namespace(object.GetNamespace()).Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// conditions are those of the object with its own one set.
func (o *operator) conditions(object *unstructured.Unstructured, available string) []any {
	old, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	since := object.GetCreationTimestamp().UTC().Format(time.RFC3339)
	all := []any{map[string]any{
		"type": "Available", "status": available, "reason": "Pods", "message": "", "lastTransitionTime": since,
	}}
	for _, c := range old {
		if m, ok := c.(map[string]any); ok && m["type"] != "Available" {
			all = append(all, m)
		}
	}
	return all
}

// servingGroups are the pods of a ModelServing of one role with one entry each.
func (o *operator) servingGroups(serving *unstructured.Unstructured) (*unstructured.Unstructured, corev1.PodTemplateSpec, error) {
	var spec struct {
		Spec struct {
			Template struct {
				Roles []struct {
					Name          string                 `json:"name"`
					EntryTemplate corev1.PodTemplateSpec `json:"entryTemplate"`
				} `json:"roles"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(serving.Object, &spec); err != nil {
		return nil, corev1.PodTemplateSpec{}, err
	}
	role := &spec.Spec.Template.Roles[0]
	role.EntryTemplate.Labels = map[string]string{
		"modelserving.volcano.sh/name": serving.GetName(), "modelserving.volcano.sh/role": role.Name,
		"modelserving.volcano.sh/entry": "true",
	}
	return serving, role.EntryTemplate, nil
}

// playground makes the Service of a Playground, which controls its pods.
func (o *operator) playground(p *unstructured.Unstructured) (*unstructured.Unstructured, corev1.PodTemplateSpec, error) {
	template := corev1.PodTemplateSpec{}
	model, _, _ := unstructured.NestedString(p.Object, "spec", "modelClaim", "modelName")
	flavors, _, _ := unstructured.NestedStringSlice(p.Object, "spec", "modelClaim", "inferenceFlavors")
	replicas, _, _ := unstructured.NestedInt64(p.Object, "spec", "replicas")
	engine := fakeengine.Engine{Kind: metrics.SGLang, Model: model, Replica: engines[flavors[0]]}
	template.Annotations = map[string]string{
		fakeengine.Annotation:           engine.String(),
		controlplane.LoadTimeAnnotation: p.GetAnnotations()[controlplane.LoadTimeAnnotation],
	}
	template.Labels = map[string]string{
		"leaderworkerset.sigs.k8s.io/name": p.GetName(), "leaderworkerset.sigs.k8s.io/worker-index": "0",
	}
	template.Spec = pod(products[flavors[0]])
	claims := map[string]any{"models": []any{map[string]any{"name": model}}, "inferenceFlavors": []any{flavors[0]}}
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Service",
		"metadata": map[string]any{"namespace": p.GetNamespace(), "name": p.GetName()},
		"spec": map[string]any{
			"modelClaims": claims, "replicas": replicas,
			"workloadTemplate": map[string]any{"workerTemplate": map[string]any{}},
		},
	}}
	service.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(p, p.GroupVersionKind())})
	applied, err := o.dynamic.Resource(services).Namespace(p.GetNamespace()).Apply(o.t.Context(), p.GetName(), service,
		metav1.ApplyOptions{FieldManager: "operator", Force: true})
	return applied, template, err
}

// TestOperators: every object of the fleet gets its pods.
func TestOperators(t *testing.T) {
	c := newCluster(t, controlplane.Config{})
	c.nodes("h100", 8)
	c.nodes("a100", 8)
	c.operate()
	ways := slices.Sorted(maps.Keys(declarations))
	c.applyFleet(pace{load: time.Second, scaleDown: time.Second}, ways...)
	c.until(func() bool { return len(c.readyPods(namespace)) == 2*len(ways) }, "pods are ready")
	for _, playground := range []string{"code-h100", "code-a100"} {
		c.until(func() bool {
			return c.kubectl("get", "playground", playground, "-n", namespace, "-o", "jsonpath={.status.replicas}") == "1"
		}, playground)
	}
	c.kubectl("patch", "-n", namespace, "modelserving/translate-a100", "--type=merge", "--patch", `{"spec":{"replicas":3}}`)
	c.until(func() bool {
		return c.kubectl("get", "modelserving", "translate-a100", "-n", namespace, "-o", "jsonpath={.status.availableReplicas}") == "3"
	}, "ModelServing is scaled")
}
