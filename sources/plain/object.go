package plain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// scaled is what is used of the objects of all kinds.
type scaled struct {
	Spec struct {
		Replicas *int32 `json:"replicas"`
		// Template is that of Deployments and StatefulSets.
		Template *pods `json:"template"`
		// LeaderWorkerTemplate is that of LeaderWorkerSets, whose replicas are groups.
		LeaderWorkerTemplate *struct {
			LeaderTemplate *pods  `json:"leaderTemplate"`
			WorkerTemplate pods   `json:"workerTemplate"`
			Size           *int32 `json:"size"`
		} `json:"leaderWorkerTemplate"`
	} `json:"spec"`
}

type pods struct {
	Spec corev1.PodSpec `json:"spec"`
}

// Most of what is believed of an object.
const (
	mostReplicas = 1_000_000
	mostPods     = 1024
)

// decode reads a variant out of an object.
func decode(object *unstructured.Unstructured) (*resource.Variant, error) {
	var o scaled
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &o); err != nil {
		return nil, err
	}
	r := resource.ReferenceTo(object)
	v := &resource.Variant{
		Variant: planner.Variant{
			Name: r.Name, CurrentReplicas: 1,
			ScaleTarget: planner.ScaleTarget{APIVersion: r.GroupVersion().String(), Kind: r.Kind, Name: r.Name},
		},
		Target: r, Object: r,
	}
	if n := o.Spec.Replicas; n != nil {
		if *n < 0 || *n > mostReplicas {
			return nil, fmt.Errorf("spec.replicas: %d is not in [0, %d]", *n, mostReplicas)
		}
		v.CurrentReplicas = int(*n)
	}
	if o.Spec.Template != nil {
		v.DevicesPerReplica = resource.PodDevices(&o.Spec.Template.Spec)
		v.Accelerator = resource.SelectedProduct(&o.Spec.Template.Spec)
	}
	if o.Spec.LeaderWorkerTemplate != nil {
		return v, o.groups(v)
	}
	return v, nil
}

// groups reads what a replica is that is a leader with its workers, each on a node of its
// own if it has devices.
func (o *scaled) groups(v *resource.Variant) error {
	t, workers := o.Spec.LeaderWorkerTemplate, 0
	if t.Size != nil {
		if *t.Size < 1 || *t.Size > mostPods {
			return fmt.Errorf("spec.leaderWorkerTemplate.size: %d is not in [1, %d]", *t.Size, mostPods)
		}
		workers = int(*t.Size) - 1
	}
	leader := &t.WorkerTemplate.Spec
	if t.LeaderTemplate != nil {
		leader = &t.LeaderTemplate.Spec
	}
	for _, pod := range []struct {
		spec  *corev1.PodSpec
		count int
	}{{leader, 1}, {&t.WorkerTemplate.Spec, workers}} {
		if devices := resource.PodDevices(pod.spec) * pod.count; devices > 0 {
			v.DevicesPerReplica += devices
			v.NodesPerReplica += pod.count
			if v.Accelerator == "" {
				v.Accelerator = resource.SelectedProduct(pod.spec)
			}
		}
	}
	v.Leaders = labels.SelectorFromSet(labels.Set{
		"leaderworkerset.sigs.k8s.io/name": v.Name, "leaderworkerset.sigs.k8s.io/worker-index": "0",
	})
	return nil
}
