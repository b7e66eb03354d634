package fakeengine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/queueing"
)

// Annotation of a pod is an [Engine] as JSON.
const Annotation = "fakeengine.poolwright.dev/engine"

// Engine says what a pod runs.
type Engine struct {
	// Kind is whose metrics it reports.
	Kind metrics.Engine
	// Model is what it serves, by the name in requests.
	Model string
	// Port that it reports on; 0 = 8000.
	Port int
	// Replica is how fast it is.
	Replica queueing.Replica
}

const defaultPort = 8000

// String is the value of the annotation.
func (e Engine) String() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // a number that JSON has no name for: no engine is as fast as that
	}
	return string(text)
}

func parseEngine(text string) (*Engine, error) {
	var e Engine
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return nil, fmt.Errorf("fakeengine: %s: %w", Annotation, err)
	}
	if _, ok := engines()[e.Kind]; !ok {
		return nil, fmt.Errorf("fakeengine: %s: kind: %q is not known", Annotation, e.Kind)
	}
	e.Port = cmp.Or(e.Port, defaultPort)
	return &e, nil
}
