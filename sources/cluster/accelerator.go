package cluster

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/sources/overlay"
)

// products are the types of device that replicas of targets were last seen on, by the UID of
// the target.
type products map[types.UID]string

// accelerator is the type of device that replicas run on: that which the template of their
// pods asks for, else that of the nodes where most of them run or, without any there, did
// last; empty where nothing says any.
func (s *snapshot) accelerator(v *resource.Variant, in *inventory, leaders []*pod, last products) string {
	if product := s.view.selected(v.Target); product != "" {
		return product
	}
	uid := in.index.uid(v.Target)
	product := cmp.Or(in.product(leaders), last[uid])
	if uid != "" && product != "" {
		s.products[uid] = product
	}
	return product
}

// product is the type of device of the nodes where most of some pods run; empty where none
// of them says any.
func (in *inventory) product(leaders []*pod) string {
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

// onlyProduct is the type of device that all nodes with devices have; empty where they have
// several, or not all of them are known.
func (in *inventory) onlyProduct(o *overlay.Overlay) string {
	v, only := in.index.view, ""
	if v.unreadable[nodeKind] != nil || v.unreadable[sliceKind] != nil {
		return ""
	}
	for _, e := range v.entries(nodeKind) {
		s := in.sites[e.name]
		switch {
		case s == nil && e.node.resource == "":
		case s == nil, only != "" && o.Accelerator(s.product) != o.Accelerator(only):
			return ""
		default:
			only = cmp.Or(only, s.product)
		}
	}
	return only
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
