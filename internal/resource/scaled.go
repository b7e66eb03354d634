package resource

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
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
		LeaderWorkerTemplate *LeaderWorkerTemplate `json:"leaderWorkerTemplate"`
	} `json:"spec"`
}

// LeaderWorkerTemplate says what a group of pods is: a leader with its workers.
type LeaderWorkerTemplate struct {
	// LeaderTemplate is nil where the leader is like its workers.
	LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
	WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
	Size           *int32                  `json:"size"`
}

// Leader is the template of the leader.
func (t *LeaderWorkerTemplate) Leader() *corev1.PodTemplateSpec {
	if t.LeaderTemplate != nil {
		return t.LeaderTemplate
	}
	return &t.WorkerTemplate
}

// Pods is the number of pods in a group, an error if it makes no sense.
func (t *LeaderWorkerTemplate) Pods() (int, error) {
	if t.Size == nil {
		return 1, nil
	}
	if *t.Size < 1 || *t.Size > mostPods {
		return 0, fmt.Errorf("size: %d is not in [1, %d]", *t.Size, mostPods)
	}
	return int(*t.Size), nil
}

// Devices of a group of so many pods, the nodes that it is spread over, each pod with
// devices on one of its own, and the type of device that the pods select.
func (t *LeaderWorkerTemplate) Devices(pods int) (devices, nodes int, product string) {
	for _, pod := range []struct {
		spec  *corev1.PodSpec
		count int
	}{{&t.Leader().Spec, 1}, {&t.WorkerTemplate.Spec, pods - 1}} {
		if n := PodDevices(pod.spec) * pod.count; n > 0 {
			devices += n
			nodes += pod.count
			if product == "" {
				product = SelectedProduct(pod.spec)
			}
		}
	}
	return devices, nodes, product
}

// Leaders selects the leaders of the LeaderWorkerSet of a name.
func Leaders(of string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{groupLabel: of, workerIndexLabel: "0"})
}

// Replicas are those asked for by spec.replicas, which the API server fills in.
func Replicas(asked *int32) (int, error) {
	if asked == nil {
		return 1, nil
	}
	if *asked < 0 || *asked > mostReplicas {
		return 0, fmt.Errorf("spec.replicas: %d is not in [0, %d]", *asked, mostReplicas)
	}
	return int(*asked), nil
}

// Most of what is believed of an object.
const (
	mostReplicas = 1_000_000
	mostPods     = 1024
)

// ReadScaled reads an object of one of the [ScaledKinds].
func ReadScaled(object *unstructured.Unstructured) (Scaled, error) {
	var o scaled
	if err := Decode(object, &o); err != nil {
		return Scaled{}, err
	}
	replicas, err := Replicas(o.Spec.Replicas)
	if err != nil {
		return Scaled{}, err
	}
	s := Scaled{Replicas: replicas}
	if t := o.Spec.Template; t != nil {
		s.Devices, s.Product, s.Labels = PodDevices(&t.Spec), SelectedProduct(&t.Spec), t.Labels
	}
	if t := o.Spec.LeaderWorkerTemplate; t != nil {
		pods, err := t.Pods()
		if err != nil {
			return Scaled{}, fmt.Errorf("spec.leaderWorkerTemplate.%w", err)
		}
		s.Devices, s.Nodes, s.Product = t.Devices(pods)
		s.Labels, s.Leaders = t.Leader().Labels, Leaders(object.GetName())
	}
	return s, nil
}
