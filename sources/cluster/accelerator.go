package cluster

import (
	"maps"
	"slices"

	"github.com/poolwright/poolwright/internal/resource"
)

// accelerator is the type of device that replicas run on: that which the template of their
// pods asks for, else that of the nodes where most of them run; empty where neither says
// any.
func (in *inventory) accelerator(v *resource.Variant, leaders []*pod) string {
	if product := in.index.view.selected(v.Target); product != "" {
		return product
	}
	counts := make(map[string]int)
	for _, p := range leaders {
		if p.product != "" {
			counts[p.product]++
		} else if s := in.sites[p.node]; s != nil {
			counts[s.product]++
		}
	}
	most := ""
	for _, product := range slices.Sorted(maps.Keys(counts)) {
		if counts[product] > counts[most] {
			most = product
		}
	}
	return most
}

// selected is the type of device that the pods of an object select; empty where that is not
// known.
func (v *View) selected(r resource.Reference) string {
	object, ok := v.Get(r.GroupKind(), r.Namespace, r.Name)
	if !ok || !slices.Contains(resource.ScaledKinds(), r.GroupKind()) {
		return ""
	}
	scaled, err := resource.ReadScaled(object)
	if err != nil {
		return "" // the reader says so
	}
	return scaled.Product
}
