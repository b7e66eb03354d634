package server

import (
	"slices"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// recommendation is for one variant.
type recommendation struct {
	// replicas to have, and those that there are.
	replicas, current int
	// unknown: the demand is not known, so that zero replicas mean nothing.
	unknown bool
	// kind is that of the target. several: other variants may be meant as well.
	kind    string
	several bool
}

func (r recommendation) active() bool {
	return r.replicas > 0 || r.unknown && r.current > 0
}

// recommendations are what a decision says about every variant, what it changes it to or what it
// has, by all that a ScaledObject may say to mean it. What is not valid any more is not to be
// carried out by others either: the replicas stay that there were by then.
func recommendations(e *controller.Entry) map[scaled]recommendation {
	d := &e.Decision
	asked := make(map[[2]string]int, len(d.Changes))
	for i := range d.Changes {
		c := &d.Changes[i]
		asked[[2]string{c.Workload, c.Variant}] = c.To
	}
	for i := range e.Dropped {
		if drop := &e.Dropped[i]; !drop.Tried {
			asked[[2]string{drop.Change.Workload, drop.Change.Variant}] = drop.Found
		}
	}
	all := make(map[scaled]recommendation)
	for i := range d.Fleet.Workloads {
		w := &d.Fleet.Workloads[i]
		unknown := slices.ContainsFunc(d.Plans[i].Conditions, func(c planner.Condition) bool { return c.Type == planner.DemandUnknown })
		for j := range w.Variants {
			v := &w.Variants[j]
			r := recommendation{replicas: v.CurrentReplicas, current: v.CurrentReplicas, unknown: unknown, kind: v.ScaleTarget.Kind}
			if to, ok := asked[[2]string{w.QualifiedName(), v.Name}]; ok {
				r.replicas = to
			}
			for _, s := range meaning(w, v) {
				first, ok := all[s]
				if !ok {
					first = r
				}
				first.several = ok
				all[s] = first
			}
		}
	}
	return all
}

// meaning is all that a ScaledObject may say to mean a variant.
func meaning(w *planner.Workload, v *planner.Variant) []scaled {
	all := []scaled{{namespace: w.Namespace, workload: w.Name, variant: v.Name}}
	if len(w.Variants) == 1 {
		all = append(all, scaled{namespace: w.Namespace, workload: w.Name})
	}
	if t := v.ScaleTarget; t.Name != "" {
		all = append(all, scaled{namespace: w.Namespace, kind: t.Kind, target: t.Name}, scaled{namespace: w.Namespace, target: t.Name})
	}
	return slices.Compact(all)
}
