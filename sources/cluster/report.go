package cluster

import (
	"slices"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// OwnershipConflict is the type of the condition that somebody else scales a target of the
// workload too, so that its replicas are recommended only; or, with status False, that they
// are scaled all the same, because the workload asks for it.
const OwnershipConflict = "OwnershipConflict"

// Report returns what is to be written after a cycle: the statuses of workloads whose
// objects have any, as their readers say, weights of routes, and an event for each condition
// that has come or gone since the last report. It is for the goroutine of Fleet.
func (c *Catalog) Report(e *controller.Entry) ([]resource.Patch, []resource.Event) {
	s := c.latest.Load()
	if s == nil {
		return nil, nil
	}
	var patches []resource.Patch
	found := make(map[told]resource.Condition)
	cycle := newCycle(e)
	routes := resource.NewRoutes(s.view)
	for i := range e.Decision.Plans {
		k, ok := s.of[e.Decision.Fleet.Workloads[i].QualifiedName()]
		if !ok {
			continue
		}
		w := &s.workloads[k]
		if !s.same(k, &e.Decision.Fleet.Workloads[i]) {
			c.telling.keep(w.Object, found)
			continue
		}
		o := cycle.outcome(i)
		o.Conditions = slices.Concat(w.Conditions, s.ownership(k), planned(o.Plan))
		for j := range s.seen[k] {
			target := s.target(k, j)
			o.Ready = append(o.Ready, s.seen[k][j].ready)
			o.Advised = append(o.Advised, target.Advised())
		}
		patches = append(patches, c.config.Readers[s.reader[k]].Patches(s.view, w, &o)...)
		patches = append(patches, routes.Patches(w, &o)...)
		for _, condition := range o.Conditions {
			found[toldOf(w.Object, condition.Type)] = condition
		}
	}
	return append(patches, s.refusals(found, e.Decision.At)...), c.telling.events(s.view, found)
}

// same tells whether a workload is still what was planned.
func (s *snapshot) same(k int, planned *planner.Workload) bool {
	return slices.EqualFunc(s.fleet.Workloads[k].Variants, planned.Variants, func(a, b planner.Variant) bool { return a.Name == b.Name })
}

// refusals enters the objects that could not be read, and returns what is to be written on
// them. That is nothing where their status has no conditions, so that nobody knows whether
// their API has any, and where they declare another workload, which has its own.
func (s *snapshot) refusals(found map[told]resource.Condition, now time.Time) []resource.Patch {
	declaring := make(map[resource.Reference]bool)
	for k := range s.workloads {
		declaring[s.workloads[k].Object] = true
		for j := range s.workloads[k].Declared {
			declaring[s.workloads[k].Declared[j].Object] = true
		}
	}
	var objects []resource.Reference
	refused := make(map[resource.Reference][]resource.Condition)
	for i := range s.skipped {
		r := s.skipped[i].Object
		if refused[r] == nil {
			objects = append(objects, r)
		}
		refused[r] = resource.AddCondition(refused[r], resource.Condition{
			Type: resource.Accepted, Status: resource.False, Reason: s.skipped[i].Reason, Message: s.skipped[i].Message,
		})
	}
	var patches []resource.Patch
	for _, r := range objects {
		found[toldOf(r, resource.Accepted)] = refused[r][0]
		object, ok := s.view.Get(r.GroupKind(), r.Namespace, r.Name)
		if !ok || declaring[r] || isBuiltIn(r.Group) || elements(object.Object, "status", "conditions") == nil {
			continue
		}
		if patch, changed := resource.ConditionsPatch(object, refused[r], now); changed {
			patches = append(patches, patch)
		}
	}
	return patches
}

// isBuiltIn tells whether the objects of a group are Kubernetes' own, whose statuses are
// for their controllers alone.
func isBuiltIn(group string) bool {
	return group == "" || group == "apps" || group == groupSetKind.Group
}

// ownership is the condition of the targets that somebody else scales, if there are any.
func (s *snapshot) ownership(k int) []resource.Condition {
	w := &s.workloads[k]
	message := ""
	for j, owners := range s.owners[k] {
		for _, owner := range owners {
			if message != "" {
				message += "; "
			}
			message += w.Declared[j].Target.String() + " is scaled by " + owner
		}
	}
	switch {
	case message == "":
		return nil
	case w.TakeOver:
		return []resource.Condition{{Type: OwnershipConflict, Status: resource.False, Reason: "TakenOver", Message: message + ", and by Poolwright all the same"}}
	}
	return []resource.Condition{{Type: OwnershipConflict, Status: resource.True, Reason: OwnershipConflict, Message: message + ": replicas are recommended only"}}
}

// Contested returns the qualified names of the workloads with an [OwnershipConflict].
func (c *Catalog) Contested() []string {
	s := c.latest.Load()
	if s == nil {
		return nil
	}
	var names []string
	for name, k := range s.of {
		if slices.ContainsFunc(s.ownership(k), func(c resource.Condition) bool { return c.Status == resource.True }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Objects calls yield with the qualified name of a workload, the name of a variant and that
// of the object which declares it, for all of the last view whose objects are known.
func (c *Catalog) Objects(yield func(workload, variant, object string)) {
	s := c.latest.Load()
	if s == nil {
		return
	}
	for i := range s.workloads {
		w := &s.workloads[i]
		for j := range w.Declared {
			if object := w.Declared[j].Object.Name; object != "" {
				yield(w.QualifiedName(), w.Declared[j].Name, object)
			}
		}
	}
}

// Advised calls yield with the qualified name of a workload and the name of a variant, for all
// of the last view whose changes are only published, so that nobody may follow.
func (c *Catalog) Advised(yield func(workload, variant string)) {
	s := c.latest.Load()
	if s == nil {
		return
	}
	for i := range s.workloads {
		w := &s.workloads[i]
		for j := range w.Declared {
			if target := s.target(i, j); target.Advised() {
				yield(w.QualifiedName(), w.Declared[j].Name)
			}
		}
	}
}

// planned are the conditions of a plan.
func planned(p *planner.WorkloadPlan) []resource.Condition {
	conditions := make([]resource.Condition, len(p.Conditions))
	for i, c := range p.Conditions {
		conditions[i] = resource.Condition{Type: string(c.Type), Status: resource.True, Reason: string(c.Type), Message: c.Message}
	}
	return conditions
}

// cycle finds what belongs to a workload in an entry.
type cycle struct {
	entry        *controller.Entry
	observations map[string]*planner.Observation
	changes      map[string][]planner.Change
	dropped      map[string][]string
}

func newCycle(e *controller.Entry) *cycle {
	c := &cycle{e, make(map[string]*planner.Observation), make(map[string][]planner.Change), make(map[string][]string)}
	for i := range e.Snapshot.Observations {
		c.observations[e.Snapshot.Observations[i].Workload] = &e.Snapshot.Observations[i]
	}
	isDropped := make(map[variantName]bool)
	for i := range e.Dropped {
		d := &e.Dropped[i]
		isDropped[variantName{d.Change.Workload, d.Change.Variant}] = true
		c.dropped[d.Change.Workload] = append(c.dropped[d.Change.Workload], d.Change.Variant+": "+d.Reason)
	}
	for _, change := range e.Decision.Changes {
		if !isDropped[variantName{change.Workload, change.Variant}] {
			c.changes[change.Workload] = append(c.changes[change.Workload], change)
		}
	}
	return c
}

// outcome is that of a workload, without what the catalog knows.
func (c *cycle) outcome(i int) resource.Outcome {
	d := &c.entry.Decision
	name := d.Fleet.Workloads[i].QualifiedName()
	return resource.Outcome{
		Now: d.At, Fleet: &d.Fleet, Workload: &d.Fleet.Workloads[i], Plan: &d.Plans[i], Pools: d.Pools,
		Observation: c.observations[name], Changes: c.changes[name], Dropped: c.dropped[name],
	}
}
