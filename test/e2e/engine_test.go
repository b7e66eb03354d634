//go:build e2e && linux

package e2e

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/queueing"
)

// shape is that of all requests: short ones, so that a cycle sees many, at equal
// distances, so that what is measured is what is offered.
var shape = queueing.Shape{InputTokens: 100, OutputTokens: 50, InputSCV: 0.25, OutputSCV: 0.25}

// engines are how fast one device of an accelerator is, with every model.
// testdata/poolwright.yaml says the same.
var engines = map[string]queueing.Replica{
	"h100": {Profile: queueing.Profile{Alpha: 0.008, Beta: 0.00025, Delta: 0.00001}, MaxBatch: 32},
	"a100": {Profile: queueing.Profile{Alpha: 0.012, Beta: 0.0005, Delta: 0.00002}, MaxBatch: 32},
}

// engineAnnotation is the annotation of a pod, for manifests.
func engineAnnotation(kind metrics.Engine, model, accelerator string, port int) (string, error) {
	r, ok := engines[accelerator]
	if !ok {
		return "", fmt.Errorf("no accelerator %q", accelerator)
	}
	e := fakeengine.Engine{Kind: kind, Model: model, Port: port, Replica: r}
	return fmt.Sprintf("%s: '%s'", fakeengine.Annotation, strings.ReplaceAll(e.String(), "'", "''")), nil
}

// pod asks for one device of a product.
func pod(product string) corev1.PodSpec {
	return corev1.PodSpec{
		NodeSelector: map[string]string{controlplane.ProductLabel: product},
		Containers: []corev1.Container{{
			Name: "engine", Image: "engine",
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{controlplane.DeviceResource: resource.MustParse("1")}},
		}},
	}
}
