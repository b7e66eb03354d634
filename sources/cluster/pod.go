package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
)

// pod is what counts of a pod.
type pod struct {
	namespace, name string
	uid             types.UID
	labels          labels.Set
	// controller manages the pod; empty if nobody does.
	controller types.UID
	// node that it is bound to; empty = it is pending.
	node string
	// devices that its containers ask for; those of resource claims come on top.
	devices int
	// product is the type of device that it may run on alone; empty where that is open.
	product string
	// address is its IP; empty = none yet.
	address string
	// ready: it serves. readyAt is when that began or ended.
	ready   bool
	readyAt time.Time
	// started is when its first container started, which is the engine by custom; zero =
	// not known.
	started time.Time
	// leaving: it terminates, and holds its devices until it is gone.
	leaving bool
	// ended: it holds nothing any more.
	ended bool
	// startup is the time from being bound to being ready for the first time; 0 = unknown.
	startup time.Duration
}

// readPod reads a pod that was cut down by trim.
func readPod(object *unstructured.Unstructured) (*pod, error) {
	var p corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &p); err != nil {
		return nil, err
	}
	read := &pod{
		namespace: p.Namespace, name: p.Name, uid: p.UID, labels: p.Labels,
		node: p.Spec.NodeName, devices: resource.PodDevices(&p.Spec), product: resource.SelectedProduct(&p.Spec),
		address: p.Status.PodIP, leaving: p.DeletionTimestamp != nil,
		ended: p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
	}
	for _, owner := range p.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			read.controller = owner.UID
		}
	}
	read.readConditions(&p)
	return read, nil
}

func (p *pod) readConditions(object *corev1.Pod) {
	var bound time.Time
	for _, c := range object.Status.Conditions {
		switch c.Type {
		case corev1.PodScheduled:
			if c.Status == corev1.ConditionTrue {
				bound = c.LastTransitionTime.Time
			}
		case corev1.PodReady:
			p.ready, p.readyAt = c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	for _, c := range object.Status.ContainerStatuses {
		if len(object.Spec.Containers) > 0 && c.Name == object.Spec.Containers[0].Name && c.State.Running != nil {
			p.started = c.State.Running.StartedAt.Time
		}
	}
	for _, c := range object.Status.ContainerStatuses {
		if c.RestartCount > 0 {
			return // it was ready before
		}
	}
	if took := p.readyAt.Sub(bound); p.ready && !bound.IsZero() && took > 0 && took <= longestStartup {
		p.startup = took
	}
}

// longestStartup is what is believed: a pod that became ready later has probably been so
// before.
const longestStartup = time.Hour

// serves tells whether the pod is a replica that serves, or its leader.
func (p *pod) serves() bool { return p.ready && !p.leaving && !p.ended }

// holds tells whether the pod holds devices.
func (p *pod) holds() bool { return p.node != "" && !p.ended }
