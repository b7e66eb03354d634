package llmd

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// The kinds that are read, beside those of targets.
var (
	autoscalingKind = schema.GroupKind{Group: "llmd.ai", Kind: "VariantAutoscaling"}
	configMapKind   = schema.GroupKind{Kind: "ConfigMap"}
	podKind         = schema.GroupKind{Kind: "Pod"}
	nodeKind        = schema.GroupKind{Kind: "Node"}
)

// survey is one reading of a view. It keeps what many objects refer to.
type survey struct {
	config     Config
	view       resource.View
	configMaps map[[2]string]*configMap
	prices     map[string]*unitPrices
	// pods are those of each namespace that serve; nil before anybody asked.
	pods map[string][]*unstructured.Unstructured
}

func newSurvey(c Config, v resource.View) *survey {
	return &survey{
		config: c, view: v,
		configMaps: make(map[[2]string]*configMap),
		prices:     make(map[string]*unitPrices),
	}
}

// namespaces are those in which ConfigMaps of the objects in one are looked for.
func (s *survey) namespaces(of string) []string {
	if of == s.config.Namespace {
		return []string{of}
	}
	return []string{of, s.config.Namespace}
}

// configMap is a ConfigMap with the classes that were read from it.
type configMap struct {
	values  map[string]string
	classes map[string]parsedClass
}

type parsedClass struct {
	*serviceClass
	err error
}

// configMap returns one, without values where there is none.
func (s *survey) configMap(namespace, name string) *configMap {
	at := [2]string{namespace, name}
	m, ok := s.configMaps[at]
	if !ok {
		m = &configMap{classes: make(map[string]parsedClass)}
		s.configMaps[at] = m
		if u, ok := s.view.Get(configMapKind, namespace, name); ok {
			m.values, _, _ = unstructured.NestedStringMap(u.Object, "data")
		}
	}
	return m
}

// keys are in order.
func (m *configMap) keys() []string { return slices.Sorted(maps.Keys(m.values)) }

// class reads the service class of a key that is there.
func (m *configMap) class(key string) (*serviceClass, error) {
	c, ok := m.classes[key]
	if !ok {
		c.serviceClass, c.err = parseClass(m.values[key], key)
		m.classes[key] = c
	}
	return c.serviceClass, c.err
}
