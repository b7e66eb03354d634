package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/poolwright/poolwright/internal/resource"
)

// templatePaths are where the kinds that are scaled have the template of their pods; of
// LeaderWorkerSets, that of workers, which leaders have too unless they have one of their
// own.
func templatePaths() [][]string {
	return [][]string{{"spec", "template"}, {"spec", "leaderWorkerTemplate", "workerTemplate"}}
}

// templateProduct is the type of device that the template of an object's pods asks for;
// empty where it asks for none.
func templateProduct(object map[string]any) string {
	for _, path := range templatePaths() {
		found, ok, _ := unstructured.NestedFieldNoCopy(object, append(path, "spec")...)
		template, isMap := found.(map[string]any)
		if !ok || !isMap {
			continue
		}
		var spec corev1.PodSpec
		some := keep(template, fields{"nodeSelector": nil, "affinity": {"nodeAffinity": nil}})
		if runtime.DefaultUnstructuredConverter.FromUnstructured(some, &spec) == nil {
			return resource.SelectedProduct(&spec)
		}
	}
	return ""
}
