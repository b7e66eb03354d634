package cluster

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/poolwright/poolwright/internal/resource"
)

// index finds pods by what owns them, what labels they have and where they run.
type index struct {
	view *View
	pods []*pod
	// nodes are by name; nil where they may not be read.
	nodes map[string]*node
	// owned are the pods of each object that manages them, directly or by way of others.
	owned map[types.UID][]*pod
	// labelled are the pods by the value of a label, for those labels that were asked for.
	labelled map[string]map[string][]*pod
}

// mostGenerations ends walks along owner references that run in circles.
const mostGenerations = 16

func newIndex(v *View) *index {
	x := &index{view: v, owned: make(map[types.UID][]*pod), labelled: make(map[string]map[string][]*pod)}
	controllers := make(map[types.UID]types.UID)
	for kind, l := range v.kinds {
		if kind == podKind {
			continue
		}
		for _, e := range l.entries {
			if e.controller != "" {
				controllers[e.uid] = e.controller
			}
		}
	}
	// Groups of pods hang together by their leader, which manages the workers.
	for _, e := range v.entries(podKind) {
		x.pods = append(x.pods, e.pod)
		if e.controller != "" {
			controllers[e.uid] = e.controller
		}
	}
	for _, p := range x.pods {
		owner := p.controller
		for range mostGenerations {
			if owner == "" {
				break
			}
			x.owned[owner] = append(x.owned[owner], p)
			owner = controllers[owner]
		}
	}
	if v.unreadable[nodeKind] == nil {
		x.nodes = make(map[string]*node)
		for _, e := range v.entries(nodeKind) {
			x.nodes[e.name] = e.node
		}
	}
	return x
}

// leaders are the pods of a variant, one for each of its replicas.
func (x *index) leaders(v *resource.Variant) []*pod {
	selector := v.Leaders
	if selector == nil && v.Target.GroupKind() == groupSetKind {
		selector = resource.Leaders(v.Target.Name)
	}
	if selector == nil {
		return x.owned[x.uid(v.Target)]
	}
	return x.selected(v, selector)
}

// selected are the pods of a variant that a selector matches.
func (x *index) selected(v *resource.Variant, selector labels.Selector) []*pod {
	candidates := x.owned[x.uid(v.Target)]
	if len(candidates) == 0 {
		candidates = x.candidates(v.Target.Namespace, selector)
	}
	var selected []*pod
	for _, p := range candidates {
		if selector.Matches(p.labels) {
			selected = append(selected, p)
		}
	}
	return selected
}

// uid is that of an object now; empty if there is none.
func (x *index) uid(r resource.Reference) types.UID {
	if e := x.view.entry(r.GroupKind(), r.Namespace, r.Name); e != nil {
		return e.uid
	}
	return r.UID
}

// candidates are the pods of a namespace that a selector may match.
func (x *index) candidates(namespace string, selector labels.Selector) []*pod {
	some := x.pods
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if value, exact := selector.RequiresExactMatch(r.Key()); exact {
			some = x.withLabel(r.Key())[value]
			break
		}
	}
	var inside []*pod
	for _, p := range some {
		if p.namespace == namespace {
			inside = append(inside, p)
		}
	}
	return inside
}

// withLabel are the pods that have a label, by its value.
func (x *index) withLabel(key string) map[string][]*pod {
	if byValue := x.labelled[key]; byValue != nil {
		return byValue
	}
	byValue := make(map[string][]*pod)
	for _, p := range x.pods {
		if value, ok := p.labels[key]; ok {
			byValue[value] = append(byValue[value], p)
		}
	}
	x.labelled[key] = byValue
	return byValue
}

// holds tells whether a pod holds devices: those of a node that is gone are gone too.
func (x *index) holds(p *pod) bool {
	return p.holds() && (x.nodes == nil || x.nodes[p.node] != nil)
}
