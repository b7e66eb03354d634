package cluster

import (
	"slices"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources/overlay"
)

// snapshot is a fleet, and what it was made of. It is never changed once it is made.
type snapshot struct {
	view    *View
	overlay *overlay.Overlay
	fleet   planner.Fleet
	// pauses are of the workloads that are not to be planned.
	pauses []planner.Pause
	// workloads are those of the fleet as they were resolved, and skipped are objects of
	// which there is none in it.
	workloads []resource.Workload
	skipped   []resource.Skipped
	// reader read each workload, as an index into the catalog's.
	reader []int
	// of is where a workload is, by its qualified name.
	of map[string]int
	// seen are the replicas of each variant of each workload.
	seen [][]seen
	// owners are others that scale the target of each variant of each workload, in words.
	owners [][][]string
	// delegated tells of each whether KEDA scales it as we say.
	delegated  [][]bool
	namespaces map[string]bool
	// counted are the pods whose devices count as those of a variant, with the pool of the
	// fleet that they are in.
	counted map[*pod]int
	// sample is a node of each pool of the fleet; nil where there is none.
	sample []*site
	// products of targets whose pods alone tell them.
	products products
}

// seen is what is seen of a variant.
type seen struct {
	replicas
	// leaders are one pod for each replica, reporters those that report, and pods are all of
	// them.
	leaders, reporters, pods []*pod
}

// snapshot makes the fleet of a view. Where replicas ran last it knows from the latest one.
func (c *Catalog) snapshot(v *View, o *overlay.Overlay) *snapshot {
	s := &snapshot{
		view: v, overlay: o, of: make(map[string]int), namespaces: make(map[string]bool),
		counted: make(map[*pod]int), products: make(products),
	}
	declared, reader := s.declared(c.config.Readers)
	x := newIndex(v)
	all, ours := make([][]seen, len(declared)), make(map[*pod]bool)
	for i := range declared {
		for j := range declared[i].Declared {
			found := x.see(&declared[i].Declared[j])
			all[i] = append(all[i], found)
			for _, p := range found.pods {
				ours[p] = true
			}
		}
	}
	in := newInventory(x, ours, newTolerance(v, declared), c.partial)
	only := in.onlyProduct(o)
	var last products
	if latest := c.latest.Load(); latest != nil {
		last = latest.products
	}
	for i := range declared {
		s.prepare(&declared[i], in, all[i], last)
		assume(&declared[i], only)
	}
	completed := o.Complete(v, in.offered(declared), declared)
	s.fleet, s.workloads = completed.Fleet, completed.Workloads
	s.skipped = append(s.skipped, completed.Skipped...)
	s.match(declared, reader, all)
	s.place(in)
	s.limit(in)
	s.own(resource.NewOwnership(v, c.config.Self))
	s.pause()
	return s
}

// match finds out for each workload of the fleet, which are in the order of those that were
// declared, but not all of them, who read it and what is seen of its variants.
func (s *snapshot) match(declared []resource.Workload, reader []int, all [][]seen) {
	i := 0
	for k := range s.workloads {
		w := &s.workloads[k]
		for declared[i].Object != w.Object || declared[i].QualifiedName() != w.QualifiedName() {
			i++
		}
		s.of[w.QualifiedName()], s.namespaces[w.Namespace] = k, true
		s.reader = append(s.reader, reader[i])
		found, j := make([]seen, len(w.Declared)), 0
		for n := range found {
			for declared[i].Declared[j].Name != w.Declared[n].Name {
				j++
			}
			found[n] = all[i][j]
		}
		s.seen = append(s.seen, found)
		i++
	}
}

// variantName names a variant of the whole fleet.
type variantName struct{ workload, variant string }

// declared are the workloads of all readers, whose variants may be changed, with the index
// of the reader of each.
func (s *snapshot) declared(readers []resource.Reader) (all []resource.Workload, reader []int) {
	for k, r := range readers {
		workloads, skipped := r.Read(s.view)
		for _, w := range workloads {
			w.Declared = slices.Clone(w.Declared)
			w.Conditions = slices.Clip(w.Conditions)
			all, reader = append(all, w), append(reader, k)
		}
		s.skipped = append(s.skipped, skipped...)
	}
	return all, reader
}

// see finds the pods of a variant and counts its replicas.
func (x *index) see(v *resource.Variant) seen {
	found := seen{leaders: x.leaders(v), pods: x.owned[x.uid(v.Target)]}
	found.reporters = found.leaders
	if v.Reporters != nil {
		found.reporters = nil
	}
	for _, selector := range v.Reporters {
		found.reporters = append(found.reporters, x.selected(v, selector)...)
	}
	if len(found.pods) == 0 {
		found.pods = found.leaders
	}
	found.replicas = x.count(found.leaders)
	return found
}

// TargetMissing is the type of the condition that the object whose replicas a variant's are
// does not exist. The variant has none until it does.
const TargetMissing = "TargetMissing"

// prepare enters what the cluster shows of a workload before it is completed: replicas, and
// the type of device where nothing declares it.
func (s *snapshot) prepare(w *resource.Workload, in *inventory, all []seen, last products) {
	for j := range w.Declared {
		v, found := &w.Declared[j], &all[j]
		if v.Accelerator == "" {
			v.Accelerator = s.accelerator(v, in, found.leaders, last)
		}
		if s.gone(v.Target) {
			v.CurrentReplicas, v.MinReplicas, v.MaxReplicas = 0, 0, optimizer.Bound{Limited: true}
			w.Conditions = append(w.Conditions, resource.Condition{
				Type: TargetMissing, Status: resource.True, Reason: TargetMissing,
				Message: v.Name + ": there is no " + v.Target.String(),
			})
		}
		v.StartingReplicas = max(0, v.CurrentReplicas-found.ready)
		v.LeavingReplicas = max(0, found.holding-v.CurrentReplicas) + found.leaving
	}
}

// assume enters the only type of device that nodes have, for variants whose pods ask for
// devices.
func assume(w *resource.Workload, only string) {
	for j := range w.Declared {
		if v := &w.Declared[j]; v.Accelerator == "" && v.DevicesPerReplica > 0 {
			v.Assumed = only
		}
	}
}

// gone tells whether an object that is to be scaled is known not to exist.
func (s *snapshot) gone(r resource.Reference) bool {
	return r.Name != "" && s.view.kinds[r.GroupKind()] != nil && s.view.entry(r.GroupKind(), r.Namespace, r.Name) == nil
}

// pause lists the workloads whose mode is off.
func (s *snapshot) pause() {
	for i := range s.workloads {
		if s.workloads[i].Mode == resource.Off {
			s.pauses = append(s.pauses, planner.Pause{Workload: s.workloads[i].QualifiedName(), Reason: "its mode is off"})
		}
	}
}

// own finds who else scales the targets, and which of them others are asked to scale: KEDA, or
// whoever follows what the mode says is only recommended.
func (s *snapshot) own(o *resource.Ownership) {
	s.owners, s.delegated = make([][][]string, len(s.workloads)), make([][]bool, len(s.workloads))
	for i := range s.workloads {
		w := &s.workloads[i]
		s.owners[i], s.delegated[i] = make([][]string, len(w.Declared)), make([]bool, len(w.Declared))
		for j := range w.Declared {
			if target := w.Declared[j].Target; target.Name != "" {
				s.owners[i][j], s.delegated[i][j] = o.Owners(target, w.Object), o.Delegated(target)
				s.fleet.Workloads[i].Variants[j].Delegated = s.delegated[i][j] || w.Mode == resource.Recommend
			}
		}
	}
}
