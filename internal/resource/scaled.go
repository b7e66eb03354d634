package resource

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ScaledKinds are the kinds that [ReadScaled] understands.
func ScaledKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "StatefulSet"},
		{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"},
	}
}

// Scaled is what a Deployment, a StatefulSet or a LeaderWorkerSet says of its replicas.
type Scaled struct {
	// Replicas asked for.
	Replicas int
	// Devices of a replica, and the nodes that it is spread over if it is a group of pods.
	Devices, Nodes int
	// Product is the type of device that its pods select; empty if they select none.
	Product string
	// Labels are those of its pods, of the leaders where it is a group.
	Labels map[string]string
	// Leaders select one pod of each replica, where it is a group; else nil.
	Leaders labels.Selector
}

// Labels of the pods of a LeaderWorkerSet.
const (
	groupLabel       = "leaderworkerset.sigs.k8s.io/name"
	workerIndexLabel = "leaderworkerset.sigs.k8s.io/worker-index"
)

// scaled is what is used of the objects of all kinds.
type scaled struct {
	Spec struct {
		Replicas *int32 `json:"replicas"`
		// Template is that of Deployments and StatefulSets.
		Template *corev1.PodTemplateSpec `json:"template"`
		// LeaderWorkerTemplate is that of LeaderWorkerSets, whose replicas are groups.
		LeaderWorkerTemplate *struct {
			LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
			WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
			Size           *int32                  `json:"size"`
		} `json:"leaderWorkerTemplate"`
	} `json:"spec"`
}

// Most of what is believed of an object.
const (
	mostReplicas = 1_000_000
	mostPods     = 1024
)

// ReadScaled reads an object of one of the [ScaledKinds].
func ReadScaled(object *unstructured.Unstructured) (Scaled, error) {
	var o scaled
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &o); err != nil {
		return Scaled{}, err
	}
	s := Scaled{Replicas: 1}
	if n := o.Spec.Replicas; n != nil {
		if *n < 0 || *n > mostReplicas {
			return Scaled{}, fmt.Errorf("spec.replicas: %d is not in [0, %d]", *n, mostReplicas)
		}
		s.Replicas = int(*n)
	}
	if t := o.Spec.Template; t != nil {
		s.Devices, s.Product, s.Labels = PodDevices(&t.Spec), SelectedProduct(&t.Spec), t.Labels
	}
	if o.Spec.LeaderWorkerTemplate != nil {
		s.Leaders = labels.SelectorFromSet(labels.Set{groupLabel: object.GetName(), workerIndexLabel: "0"})
		return s, o.groups(&s)
	}
	return s, nil
}

// groups reads what a replica is that is a leader with its workers, each on a node of its
// own if it has devices.
func (o *scaled) groups(s *Scaled) error {
	t, workers := o.Spec.LeaderWorkerTemplate, 0
	if t.Size != nil {
		if *t.Size < 1 || *t.Size > mostPods {
			return fmt.Errorf("spec.leaderWorkerTemplate.size: %d is not in [1, %d]", *t.Size, mostPods)
		}
		workers = int(*t.Size) - 1
	}
	leader := &t.WorkerTemplate
	if t.LeaderTemplate != nil {
		leader = t.LeaderTemplate
	}
	s.Labels = leader.Labels
	for _, pod := range []struct {
		spec  *corev1.PodSpec
		count int
	}{{&leader.Spec, 1}, {&t.WorkerTemplate.Spec, workers}} {
		if devices := PodDevices(pod.spec) * pod.count; devices > 0 {
			s.Devices += devices
			s.Nodes += pod.count
			if s.Product == "" {
				s.Product = SelectedProduct(pod.spec)
			}
		}
	}
	return nil
}
