package kthena

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
)

// mostWeight is the largest weight of a target, and the sum of those that are written.
const mostWeight = 100

// weightPatches are those of the ModelRoutes that let their weights be written.
func weightPatches(v resource.View, w *resource.Workload, o *resource.Outcome) []resource.Patch {
	var patches []resource.Patch
	var capacity map[string]float64
	for _, object := range within(v.List(routeKind), w.Namespace) {
		if object.GetAnnotations()[WeightsAnnotation] != "true" {
			continue
		}
		m, err := readRoute(object)
		if err != nil {
			continue
		}
		if capacity == nil {
			capacity = serverCapacities(v, w, o)
		}
		if weights, changed := m.weights(capacity); changed {
			patches = append(patches, weightPatch(object, weights))
		}
	}
	return patches
}

// serverCapacities are the rates that ready replicas of a workload behind each ModelServer
// sustain; those behind none of which there is a variant are left out.
func serverCapacities(v resource.View, w *resource.Workload, o *resource.Outcome) map[string]float64 {
	r := newReading(v)
	capacities := make(map[string]float64)
	for j := range o.Workload.Variants {
		rate := float64(o.Ready[j]) * float64(o.Plan.Variants[j].Size.Capacity)
		object, ok := v.Get(servingKind, w.Namespace, o.Workload.Variants[j].ScaleTarget.Name)
		if !ok {
			continue
		}
		m, err := readServing(object)
		if err != nil {
			continue
		}
		for _, s := range r.readServers(w.Namespace) {
			if s.selects(m) {
				capacities[s.name] += rate
			}
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
		shares := proportional(rates)
		for k := range shares {
			if had := targets[k].Weight; had == nil || int64(*had) != shares[k] {
				weights[i], changed = shares, true
			}
		}
	}
	return weights, changed
}

// proportional returns integers that sum up to mostWeight in proportion to rates, nil where
// all are 0. After rounding down, what is left goes to the largest remainders, of equal ones
// to the first. Who has any rate gets at least 1, of what the largest has.
func proportional(rates []float64) []int64 {
	total := 0.0
	for _, r := range rates {
		total += r
	}
	if total <= 0 || len(rates) > mostWeight {
		return nil
	}
	weights, remainders := make([]int64, len(rates)), make([]float64, len(rates))
	left := int64(mostWeight)
	for k, r := range rates {
		exact := mostWeight * r / total
		weights[k] = int64(exact)
		remainders[k] = exact - float64(weights[k])
		left -= weights[k]
	}
	for ; left > 0; left-- {
		k := slices.Index(remainders, slices.Max(remainders))
		weights[k]++
		remainders[k] = 0
	}
	for k, r := range rates {
		if r > 0 && weights[k] == 0 {
			weights[slices.Index(weights, slices.Max(weights))]--
			weights[k]++
		}
	}
	return weights
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
