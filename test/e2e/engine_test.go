//go:build e2e && linux

package e2e

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/queueing"
)

// shape is that of all requests: short ones, so that a cycle sees many.
var shape = queueing.Shape{InputTokens: 100, OutputTokens: 50, InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1}

// replicas are how fast one device of an accelerator is, with every model.
// testdata/poolwright.yaml says the same.
var replicas = map[string]queueing.Replica{
	"h100": {Profile: queueing.Profile{Alpha: 0.008, Beta: 0.00025, Delta: 0.00001}, MaxBatch: 32},
	"a100": {Profile: queueing.Profile{Alpha: 0.012, Beta: 0.0005, Delta: 0.00002}, MaxBatch: 32},
}

// engineAnnotation is the annotation of a pod, for manifests.
func engineAnnotation(kind metrics.Engine, model, accelerator string, port int) (string, error) {
	r, ok := replicas[accelerator]
	if !ok {
		return "", fmt.Errorf("no accelerator %q", accelerator)
	}
	e := fakeengine.Engine{Kind: kind, Model: model, Port: port, Replica: r}
	return fmt.Sprintf("%s: '%s'", fakeengine.Annotation, strings.ReplaceAll(e.String(), "'", "''")), nil
}
