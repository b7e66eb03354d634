package cluster

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// tolerance is what pods of workloads tolerate.
type tolerance struct {
	// any: there are pods of which nobody knows what they tolerate.
	any bool
	// templates are the tolerations of each template, different ones once.
	templates [][]corev1.Toleration
}

// newTolerance reads what the templates of all targets tolerate. Without taints that makes no
// difference.
func newTolerance(v *View, declared []resource.Workload) tolerance {
	tainted := slices.ContainsFunc(v.entries(nodeKind), func(e *entry) bool { return len(e.node.taints) > 0 })
	t := tolerance{any: len(declared) == 0 || !tainted}
	if t.any {
		return t
	}
	known := make(map[string]bool)
	for i := range declared {
		for j := range declared[i].Declared {
			target := declared[i].Declared[j].Target
			object, ok := v.Get(target.GroupKind(), target.Namespace, target.Name)
			if !ok {
				continue // it has no pods
			}
			path := templatePath(target.GroupKind())
			if path == nil {
				return tolerance{any: true}
			}
			tolerations := elements(object.Object, append(path, "spec", "tolerations")...)
			if text := fmt.Sprint(tolerations); !known[text] {
				known[text] = true
				t.templates = append(t.templates, readTolerations(tolerations))
			}
		}
	}
	return t
}

// templatePath is where the objects of a kind have the template of their pods; nil where
// that is not known.
func templatePath(kind schema.GroupKind) []string {
	switch kind {
	case deploymentKind, statefulSetKind, replicaSetKind:
		return []string{"spec", "template"}
	case groupSetKind:
		return []string{"spec", "leaderWorkerTemplate", "workerTemplate"}
	}
	return nil
}

func readTolerations(list []map[string]any) []corev1.Toleration {
	text := func(of map[string]any, field string) string {
		s, _ := of[field].(string)
		return s
	}
	tolerations := make([]corev1.Toleration, len(list))
	for i, of := range list {
		tolerations[i] = corev1.Toleration{
			Key: text(of, "key"), Operator: corev1.TolerationOperator(text(of, "operator")),
			Value: text(of, "value"), Effect: corev1.TaintEffect(text(of, "effect")),
		}
	}
	return tolerations
}

// admits tells whether pods of any template may come to a node with some taints.
func (t *tolerance) admits(taints []corev1.Taint) bool {
	if t.any || len(taints) == 0 {
		return true
	}
	return slices.ContainsFunc(t.templates, func(tolerations []corev1.Toleration) bool {
		return !slices.ContainsFunc(taints, func(taint corev1.Taint) bool {
			return !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(&t, &taint) })
		})
	})
}

// tolerates follows corev1.Toleration, whose operators that compare numbers count for none.
func tolerates(t *corev1.Toleration, taint *corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return t.Value == taint.Value
	}
	return false
}

// repelling are the taints that keep pods off a node. Those named after a resource are
// tolerated by all pods that ask for it, as an admission controller sees to.
func repelling(taints []corev1.Taint) []corev1.Taint {
	var some []corev1.Taint
	for _, taint := range taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !resource.IsDevice(corev1.ResourceName(taint.Key)) {
			some = append(some, taint)
		}
	}
	return some
}
