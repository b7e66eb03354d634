package kthena

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
)

// weightPatches are those of the ModelRoutes that let their weights be written.
func (n *network) weightPatches(w *resource.Workload, o *resource.Outcome) []resource.Patch {
	if !w.Weighed() {
		return nil
	}
	capacity := n.serverCapacities(w, o)
	var patches []resource.Patch
	for _, m := range n.routesTo(w.Namespace, slices.Collect(maps.Keys(capacity))) {
		if m.object.GetAnnotations()[resource.WeightsAnnotation] != "true" {
			continue
		}
		if weights, changed := m.weights(capacity); changed {
			patches = append(patches, weightPatch(m.object, weights))
		}
	}
	return patches
}

// serverCapacities are the rates that ready replicas of a workload behind each ModelServer
// sustain; those behind none of which there is a variant are left out.
func (n *network) serverCapacities(w *resource.Workload, o *resource.Outcome) map[string]float64 {
	capacities := make(map[string]float64)
	for j := range o.Workload.Variants {
		m, err := n.serving(w.Namespace, o.Workload.Variants[j].ScaleTarget.Name)
		if err != nil {
			continue
		}
		for _, s := range n.serversOf(w.Namespace, []*serving{m}) {
			capacities[s.name] += o.Sustained(j)
		}
	}
	return capacities
}

// weights are those of all targets of all rules, and whether any is to be written. A rule
// with a target that is none of the workload, or behind none of whose targets a replica is
// ready, keeps what it has.
func (m *route) weights(capacity map[string]float64) (weights [][]int64, changed bool) {
	weights = make([][]int64, len(m.Rules))
	for i := range m.Rules {
		targets := m.Rules[i].TargetModels
		rates := make([]float64, len(targets))
		known := true
		for k := range targets {
			var ok bool
			rates[k], ok = capacity[targets[k].ModelServerName]
			known = known && ok
		}
		if !known {
			continue
		}
		shares := resource.Weights(rates)
		for k := range shares {
			if had := targets[k].Weight; had == nil || int64(*had) != shares[k] {
				weights[i], changed = shares, true
			}
		}
	}
	return weights, changed
}

// weightPatch sets weights in rules that keep all else: a merge patch has lists as a whole.
func weightPatch(object *unstructured.Unstructured, weights [][]int64) resource.Patch {
	rules, _, _ := unstructured.NestedSlice(object.Object, "spec", "rules")
	for i := range weights {
		if weights[i] == nil {
			continue
		}
		targets := rules[i].(map[string]any)["targetModels"].([]any)
		for k := range targets {
			targets[k].(map[string]any)["weight"] = weights[i][k]
		}
	}
	return resource.Patch{
		Object: resource.ReferenceTo(object), ResourceVersion: object.GetResourceVersion(),
		Merge: map[string]any{"spec": map[string]any{"rules": rules}},
	}
}
