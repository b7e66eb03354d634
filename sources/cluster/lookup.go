package cluster

import (
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/metrics"
)

var _ metrics.Pods = (*Catalog)(nil)

// Target returns what a variant scales, as of the last fleet; false if there is none. It
// implements actuator.Targets.
func (c *Catalog) Target(workload, variant string) (resource.Target, bool) {
	s := c.latest.Load()
	i, j, ok := s.find(workload, variant)
	if !ok || s.workloads[i].Declared[j].Target.Name == "" {
		return resource.Target{}, false
	}
	return s.target(i, j), true
}

// target is what a variant scales.
func (s *snapshot) target(i, j int) resource.Target {
	w := &s.workloads[i]
	return resource.Target{
		Object: s.now(w.Declared[j].Target), Workload: w.Object,
		Mode: w.Mode, TakeOver: w.TakeOver, Owners: s.owners[i][j], Delegated: s.delegated[i][j],
	}
}

// now is an object as the view has it.
func (s *snapshot) now(r resource.Reference) resource.Reference {
	if e := s.view.entry(r.GroupKind(), r.Namespace, r.Name); e != nil {
		r.UID, r.Generation = e.uid, e.object.GetGeneration()
	}
	return r
}

// find is where a variant is among the workloads.
func (s *snapshot) find(workload, variant string) (i, j int, ok bool) {
	if s == nil {
		return 0, 0, false
	}
	i, ok = s.of[workload]
	if !ok {
		return 0, 0, false
	}
	for j := range s.workloads[i].Declared {
		if s.workloads[i].Declared[j].Name == variant {
			return i, j, true
		}
	}
	return 0, 0, false
}

// Series returns where the metrics of a workload are, as of the last fleet; false if there
// is no such workload.
func (c *Catalog) Series(workload string) (resource.Series, bool) {
	s := c.latest.Load()
	if s == nil {
		return resource.Series{}, false
	}
	i, ok := s.of[workload]
	if !ok {
		return resource.Series{}, false
	}
	return s.workloads[i].Series, true
}

// Pods implements [metrics.Pods]: those that report of each replica, and do not terminate.
func (c *Catalog) Pods(workload string) []metrics.Pod {
	s := c.latest.Load()
	if s == nil {
		return nil
	}
	i, ok := s.of[workload]
	if !ok {
		return nil
	}
	var pods []metrics.Pod
	for j := range s.seen[i] {
		for _, p := range s.seen[i][j].reporters {
			if !p.leaving && !p.ended {
				pods = append(pods, metrics.Pod{
					Name: p.name, Variant: s.workloads[i].Declared[j].Name, Address: p.address,
					Ready: p.ready, Started: p.started,
				})
			}
		}
	}
	return pods
}
