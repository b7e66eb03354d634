package resource_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// family is a Playground that controls a Service, that controls a LeaderWorkerSet, that
// controls a StatefulSet, and a Deployment beside it.
const family = `
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {namespace: team, name: chat, uid: p}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata:
  {namespace: team, name: chat, uid: s, ownerReferences: [{apiVersion: inference.llmaz.io/v1alpha1, kind: Playground, name: chat, uid: p, controller: true}]}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  {namespace: team, name: chat, uid: l, ownerReferences: [{apiVersion: inference.llmaz.io/v1alpha1, kind: Service, name: chat, uid: s, controller: true}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {namespace: team, name: chat, uid: t, ownerReferences: [{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: chat, uid: l, controller: true}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team, name: chat, uid: d}
`

func reference(apiVersion, kind, name string) resource.Reference {
	return resource.Reference{GroupVersionKind: schema.FromAPIVersionAndKind(apiVersion, kind), Namespace: "team", Name: name}
}

func scalable(kind schema.GroupKind) bool {
	return kind.Kind == "Service" || kind.Kind == "LeaderWorkerSet" || kind.Kind == "StatefulSet"
}

func TestTopOwner(t *testing.T) {
	v := resourcetest.New(t, family)
	for _, kind := range []resource.Reference{
		reference("apps/v1", "StatefulSet", "chat"),
		reference("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "chat"),
		reference("inference.llmaz.io/v1alpha1", "Service", "chat"),
	} {
		top := resource.TopOwner(v, kind, scalable)
		require.Equal(t, "Service team/chat", top.String(), "the Playground cannot be scaled here")
		require.EqualValues(t, "s", top.UID)
	}
	alone := reference("apps/v1", "Deployment", "chat")
	require.Equal(t, alone, resource.TopOwner(v, alone, scalable))
}

func TestTopOwnerOfAnotherLife(t *testing.T) {
	v := resourcetest.New(t, family, `
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {namespace: team, name: chat, uid: made-again}`)
	top := resource.TopOwner(v, reference("apps/v1", "StatefulSet", "chat"), scalable)
	require.Equal(t, "LeaderWorkerSet team/chat", top.String())
}

func TestOwnersInCirclesEnd(t *testing.T) {
	v := resourcetest.New(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: team, name: a, uid: a, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: b, uid: b, controller: true}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: team, name: b, uid: b, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: a, uid: a, controller: true}]}
`)
	require.Equal(t, "StatefulSet", resource.TopOwner(v, reference("apps/v1", "StatefulSet", "a"), scalable).Kind)
	require.Empty(t, resource.NewOwnership(v, resource.Self{}).Owners(reference("apps/v1", "StatefulSet", "a"), resource.Reference{}))
}

func hpa(name, apiVersion, kind, target string) string {
	return fmt.Sprintf(`
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {namespace: team, name: %s}
spec: {scaleTargetRef: {apiVersion: %s, kind: %s, name: %s}}
`, name, apiVersion, kind, target)
}

func TestOwners(t *testing.T) {
	playground := reference("inference.llmaz.io/v1alpha1", "Playground", "chat")
	service := reference("inference.llmaz.io/v1alpha1", "Service", "chat")
	deployment := reference("apps/v1", "Deployment", "chat")
	serving := reference("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	for name, test := range map[string]struct {
		objects string
		target  resource.Reference
		owners  []string
	}{
		"nobody":             {"", deployment, nil},
		"HPA":                {hpa("h", "apps/v1", "Deployment", "chat"), deployment, []string{"HorizontalPodAutoscaler team/h"}},
		"of another version": {hpa("h", "apps/v1beta1", "Deployment", "chat"), deployment, []string{"HorizontalPodAutoscaler team/h"}},
		"of another object":  {hpa("h", "apps/v1", "Deployment", "code"), deployment, nil},
		"of another kind":    {hpa("h", "apps/v1", "StatefulSet", "chat"), deployment, nil},
		"of a descendant": {
			hpa("h", "apps/v1", "StatefulSet", "chat"), playground, []string{"HorizontalPodAutoscaler team/h"},
		},
		"of an ancestor": {
			hpa("h", "inference.llmaz.io/v1alpha1", "Playground", "chat"), service, []string{"HorizontalPodAutoscaler team/h"},
		},
		"several, by kind and name": {
			hpa("z", "apps/v1", "Deployment", "chat") + hpa("a", "apps/v1", "Deployment", "chat") + `
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {namespace: team, name: k}
spec: {scaleTargetRef: {name: chat}, triggers: [{type: cron, metadata: {}}]}
`, deployment, []string{"HorizontalPodAutoscaler team/a", "HorizontalPodAutoscaler team/z", "ScaledObject team/k"},
		},
		"binding, first generation": {`
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {namespace: team, name: b}
spec: {scalingConfiguration: {target: {targetRef: {name: chat}}}}
`, serving, []string{"AutoscalingPolicyBinding team/b"}},
		"binding, second generation": {`
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {namespace: team, name: b}
spec: {heterogeneousTarget: {params: [{target: {targetRef: {name: code}}}, {target: {targetRef: {kind: ModelServing, name: chat}}}]}}
`, serving, []string{"AutoscalingPolicyBinding team/b"}},
		"policy with a target": {`
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicy
metadata: {namespace: team, name: b}
spec: {homogeneousTarget: {target: {targetRef: {name: chat}}}}
`, serving, []string{"AutoscalingPolicy team/b"}},
		"nonsense": {`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {namespace: team, name: h}
spec: {scaleTargetRef: chat}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {namespace: team, name: k}
spec: {triggers: {}}
`, deployment, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := resource.NewOwnership(resourcetest.New(t, family, test.objects), resource.Self{})
			require.Equal(t, test.owners, o.Owners(test.target, resource.Reference{}))
		})
	}
}

func TestTheDeclaringObjectIsNoForeignOwner(t *testing.T) {
	v := resourcetest.New(t, `
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata: {namespace: team, name: b}
spec: {scalingConfiguration: {target: {targetRef: {name: chat}}}}
`)
	o := resource.NewOwnership(v, resource.Self{})
	target := reference("workload.serving.volcano.sh/v1alpha1", "ModelServing", "chat")
	require.Empty(t, o.Owners(target, reference("workload.serving.volcano.sh/v1alpha1", "AutoscalingPolicyBinding", "b")))
	require.Len(t, o.Owners(target, reference("llmd.ai/v1alpha1", "VariantAutoscaling", "b")), 1)
}

// Kthena makes a binding of a ModelBooster, which declares the workload itself.
func TestBindingOfABooster(t *testing.T) {
	v := resourcetest.New(t, `
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: AutoscalingPolicyBinding
metadata:
  namespace: team
  name: b
  ownerReferences: [{apiVersion: workload.serving.volcano.sh/v1alpha1, kind: ModelBooster, name: m, uid: u, controller: true}]
spec: {scalingConfiguration: {target: {targetRef: {name: m-big}}}}
---
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {namespace: team, name: m-big}
`)
	o := resource.NewOwnership(v, resource.Self{})
	const api = "workload.serving.volcano.sh/v1alpha1"
	target := reference(api, "ModelServing", "m-big")
	require.Empty(t, o.Owners(target, reference(api, "ModelBooster", "m")))
	require.Equal(t, []string{"AutoscalingPolicyBinding team/b"}, o.Owners(target, reference(api, "ModelBooster", "other")))
}

// ofKEDA is a ScaledObject with a trigger, and the HPA that KEDA made of it.
func ofKEDA(triggers string) string {
	return family + fmt.Sprintf(`
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {namespace: team, name: chat, uid: k}
spec: {scaleTargetRef: {name: chat}, triggers: %s}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {namespace: team, name: keda-hpa-chat, ownerReferences: [{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: chat, uid: k, controller: true}]}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}}
`, triggers)
}

func TestKEDAThatAsksUsIsNoConflict(t *testing.T) {
	self := resource.Self{ScalerHosts: []string{"poolwright.system", "poolwright.example.org"}}
	both := []string{"HorizontalPodAutoscaler team/keda-hpa-chat", "ScaledObject team/chat"}
	for triggers, owners := range map[string][]string{
		`[{type: external, metadata: {scalerAddress: "poolwright.system:9090"}}]`:                            nil,
		`[{type: external-push, metadata: {scalerAddress: "poolwright.system.svc.cluster.local:9090"}}]`:     nil,
		`[{type: external, metadata: {scalerAddress: "dns:///poolwright.example.org:443"}}]`:                 nil,
		`[{type: external, metadata: {scalerAddress: "poolwright.systemic:9090"}}]`:                          both,
		`[{type: external, metadata: {scalerAddress: "another.system:9090"}}]`:                               both,
		`[{type: prometheus, metadata: {scalerAddress: "poolwright.system:9090"}}]`:                          both,
		`[{type: external, metadata: {scalerAddress: "poolwright.system:9090"}}, {type: cpu, metadata: {}}]`: both,
		`[]`: both,
	} {
		o := resource.NewOwnership(resourcetest.New(t, ofKEDA(triggers)), self)
		deployment := reference("apps/v1", "Deployment", "chat")
		require.Equal(t, owners, o.Owners(deployment, resource.Reference{}), triggers)
		target := resource.Target{Object: deployment, Mode: resource.Apply, Owners: o.Owners(deployment, resource.Reference{}), Delegated: o.Delegated(deployment)}
		require.Equal(t, len(owners) == 0, target.Delegated, triggers)
		require.Equal(t, resource.Recommend, target.EffectiveMode(), triggers)
	}
}

// TestIncident30: two installations fought over the same targets. Here the one that finds
// that the other has written the scale leaves it alone, unless it is told to take over.
func TestIncident30TwoInstallations(t *testing.T) {
	deployment := reference("apps/v1", "Deployment", "chat")
	const replicas = `{f:spec: {f:replicas: {}}}`
	for name, test := range map[string]struct {
		manager, subresource, fields string
		owners                       []string
	}{
		"another Poolwright":    {"poolwright-b", "scale", replicas, []string{"poolwright-b, which wrote the scale last"}},
		"llm-d":                 {"manager", "scale", replicas, []string{"manager, which wrote the scale last"}},
		"Kthena":                {"kthena-controller-manager", "scale", replicas, []string{"kthena-controller-manager, which wrote the scale last"}},
		"ourselves":             {"poolwright", "scale", replicas, nil},
		"a person":              {"kubectl", "scale", replicas, nil},
		"an HPA, which is gone": {"kube-controller-manager", "scale", replicas, nil},
		"another field":         {"poolwright-b", "scale", `{f:spec: {f:paused: {}}}`, nil},
		"who made the object":   {"manager", "", replicas, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := resourcetest.New(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: team
  name: chat
  managedFields: [{manager: %s, operation: Update, subresource: %q, fieldsType: FieldsV1, fieldsV1: %s}]
`, test.manager, test.subresource, test.fields))
			owners := resource.NewOwnership(v, resource.Self{}).Owners(deployment, resource.Reference{})
			require.Equal(t, test.owners, owners)

			target := resource.Target{Object: deployment, Mode: resource.Apply, Owners: owners}
			mode := resource.Apply
			if len(owners) > 0 {
				mode = resource.Recommend
			}
			require.Equal(t, mode, target.EffectiveMode())
			target.TakeOver = true
			require.Equal(t, resource.Apply, target.EffectiveMode())
		})
	}
}

// Whatever objects say, reading them ends, and twice in the same.
func FuzzOwnership(f *testing.F) {
	for _, kind := range []string{"HorizontalPodAutoscaler", "ScaledObject", "AutoscalingPolicyBinding"} {
		f.Add(kind, []byte(`{"scaleTargetRef": {"kind": "StatefulSet", "name": "chat"}, "triggers": [{"type": "external", "metadata": {"scalerAddress": "a:1"}}],
			"heterogeneousTarget": {"params": [{"target": {"targetRef": {"name": "chat"}}}, 1]}}`))
	}
	f.Add("HTTPRoute", []byte(`{"rules": [{"backendRefs": [{"name": "h100"}, {"name": "a100"}]}, 2, {"backendRefs": 3}]}`))
	groups := map[string]string{
		"HorizontalPodAutoscaler": "autoscaling/v2", "ScaledObject": "keda.sh/v1alpha1", "HTTPRoute": "gateway.networking.k8s.io/v1",
		"AutoscalingPolicyBinding": "workload.serving.volcano.sh/v1alpha1",
	}
	f.Fuzz(func(t *testing.T, kind string, spec []byte) {
		var s any
		if groups[kind] == "" || json.Unmarshal(spec, &s) != nil {
			return
		}
		object, err := json.Marshal(map[string]any{
			"apiVersion": groups[kind], "kind": kind, "spec": s,
			"metadata": map[string]any{"namespace": "team", "name": "x", "annotations": map[string]string{resource.WeightsAnnotation: "true"}},
		})
		require.NoError(t, err)
		v := resourcetest.New(t, family, routed, string(object))
		self := resource.Self{ScalerHosts: []string{"a"}}
		set := reference("apps/v1", "StatefulSet", "chat")
		owners := resource.NewOwnership(v, self).Owners(set, set)
		require.Equal(t, owners, resource.NewOwnership(v, self).Owners(set, set))
		w, o := ready(1, 2, 3)
		for _, p := range resource.NewRoutes(v).Patches(w, o) {
			v.Apply(t, p)
		}
		require.Empty(t, resource.NewRoutes(v).Patches(w, o))
	})
}
