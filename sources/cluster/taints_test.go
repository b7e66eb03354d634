package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/poolwright/poolwright/internal/resource"
)

func TestTolerates(t *testing.T) {
	taint := corev1.Taint{Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule}
	for name, test := range map[string]struct {
		toleration corev1.Toleration
		want       bool
	}{
		"equal":         {corev1.Toleration{Key: "team", Value: "a"}, true},
		"by name":       {corev1.Toleration{Key: "team", Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoSchedule}, true},
		"another value": {corev1.Toleration{Key: "team", Value: "b"}, false},
		"any value":     {corev1.Toleration{Key: "team", Operator: corev1.TolerationOpExists}, true},
		"another key":   {corev1.Toleration{Key: "group", Operator: corev1.TolerationOpExists}, false},
		"any key":       {corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		"another effect": {
			corev1.Toleration{Key: "team", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, false,
		},
		"unknown operator": {corev1.Toleration{Key: "team", Operator: "Gt", Value: "a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, tolerates(&test.toleration, &taint))
		})
	}
}

// One template must tolerate all taints; of targets whose templates nobody knows, anything
// is believed.
func TestToleranceAdmits(t *testing.T) {
	a, b := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists}, corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists}
	taints := []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}, {Key: "b", Effect: corev1.TaintEffectNoSchedule}}
	assert.False(t, (&tolerance{templates: [][]corev1.Toleration{{a}, {b}}}).admits(taints))
	assert.True(t, (&tolerance{templates: [][]corev1.Toleration{{a}, {b, a}}}).admits(taints))
	assert.True(t, (&tolerance{templates: [][]corev1.Toleration{{}}}).admits(nil))
	assert.False(t, (&tolerance{templates: [][]corev1.Toleration{{}}}).admits(taints))

	text := nodeOf("n1", h100, 8, "spec: {taints: [{key: a, effect: NoExecute}]}") + "apiVersion: example.com/v1\nkind: Model\nmetadata: {namespace: a, name: m}\n---\n" + deployment("a", "x", 1, "")
	v := viewOf(t, text)
	of := func(kind, name string) resource.Workload {
		for listed := range v.kinds {
			if object, ok := v.Get(listed, "a", name); ok && listed.Kind == kind {
				return resource.Workload{Declared: []resource.Variant{{Target: resource.ReferenceTo(object)}}}
			}
		}
		return resource.Workload{}
	}
	assert.True(t, newTolerance(v, nil).any)
	assert.True(t, newTolerance(viewOf(t, deployment("a", "x", 1, "")), []resource.Workload{of("Deployment", "x")}).any, "no taints")
	assert.False(t, newTolerance(v, []resource.Workload{of("Deployment", "x")}).any)
	assert.True(t, newTolerance(v, []resource.Workload{of("Deployment", "x"), of("Model", "m")}).any)
}
