package kthena

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/policy/kthena"
)

// declaration is a workload as one object declares it, of whatever kind and generation.
type declaration struct {
	object *unstructured.Unstructured
	policy *kthena.Config // nil = none
	// targets are the variants; several unless single.
	targets []target
	single  bool
	// expansionRate is in percent, and counts with several targets.
	expansionRate int
	// model is empty where a ModelServer says it; engines are what the object calls them.
	model   string
	engines []string
	// grace is how long nothing must arrive before the last replica goes; 0 = as usual.
	grace      time.Duration
	conditions []resource.Condition
}

// target is one object that is scaled.
type target struct {
	// path in the object that declares it.
	path string
	targetSpec
	bounds
	cost int
}

// targetSpec is a Target, in all generations.
type targetSpec struct {
	TargetRef struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
	} `json:"targetRef"`
	SubTarget *struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"subTargets"`
	AdditionalMatchLabels map[string]string `json:"additionalMatchLabels"`
	MetricEndpoint        *endpoint         `json:"metricEndpoint"`
	MetricSources         map[string]struct {
		Pod *endpoint `json:"pod"`
	} `json:"metricSources"`
}

// endpoint is where a pod reports its metrics; Name is that of one metric.
type endpoint struct {
	Name          string                `json:"name"`
	URI           string                `json:"uri"`
	Port          int                   `json:"port"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector"`
}

// Where pods report unless a target says otherwise.
const (
	defaultPath = "/metrics"
	defaultPort = 8100
)

// bounds are those of replicas.
type bounds struct {
	MinReplicas int `json:"minReplicas"`
	MaxReplicas int `json:"maxReplicas"`
}

// validate returns all that is wrong with what the targets ask for.
func (d *declaration) validate() error {
	var errs []error
	if len(d.targets) == 0 {
		errs = append(errs, errors.New("kthena: there is no target"))
	}
	if d.expansionRate < 0 {
		errs = append(errs, fmt.Errorf("kthena: costExpansionRatePercent: %d < 0", d.expansionRate))
	}
	seen := make(map[string]string)
	for i := range d.targets {
		t := &d.targets[i]
		errs = append(errs, t.validate(d.object.GetNamespace()))
		if first, twice := seen[t.TargetRef.Name]; twice {
			errs = append(errs, fmt.Errorf("kthena: %s: %q is the target of %s already", t.path, t.TargetRef.Name, first))
		}
		seen[t.TargetRef.Name] = t.path
	}
	return errors.Join(errs...)
}

func (t *target) validate(namespace string) error {
	var errs []error
	mistake := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("kthena: %s%s: %s", t.path, field, fmt.Sprintf(format, args...)))
	}
	if t.TargetRef.Name == "" {
		mistake(".target.targetRef.name", "is empty")
	}
	if in := t.TargetRef.Namespace; in != "" && in != namespace {
		mistake(".target.targetRef.namespace", "%q is not that of the object, %q", in, namespace)
	}
	if t.MinReplicas < 0 || t.MinReplicas > kthena.MostReplicas {
		mistake(".minReplicas", "%d is not in [0, %d]", t.MinReplicas, kthena.MostReplicas)
	}
	if t.MaxReplicas < 1 || t.MaxReplicas > kthena.MostReplicas {
		mistake(".maxReplicas", "%d is not in [1, %d]", t.MaxReplicas, kthena.MostReplicas)
	}
	if t.MaxReplicas < t.MinReplicas {
		mistake(".maxReplicas", "%d is less than minReplicas %d", t.MaxReplicas, t.MinReplicas)
	}
	if t.cost < 0 {
		mistake(".cost", "%d < 0", t.cost)
	}
	return errors.Join(errs...)
}

// unsupported says why a target is none that can be scaled; empty if it can.
func (t *target) unsupported() string {
	switch {
	case t.TargetRef.Kind != "" && t.TargetRef.Kind != servingKind.Kind:
		return fmt.Sprintf("%s is a %s; only a ModelServing can be scaled", t.TargetRef.Name, t.TargetRef.Kind)
	case t.SubTarget != nil && t.SubTarget.Kind != "":
		return fmt.Sprintf("%s %s of %s: a part of a ModelServing has no scale of its own", t.SubTarget.Kind, t.SubTarget.Name, t.TargetRef.Name)
	}
	return ""
}
