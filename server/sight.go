package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/planner"
)

// sight is what a caller sees of a fleet: workloads of all namespaces, or of some.
type sight struct {
	ctx   context.Context
	user  access.User
	scope access.Scope
	guard *guard
	// known are the namespaces that were asked about, and whether they are seen.
	known map[string]bool
	err   error
}

// sightOf is that of who calls. Who was not let in sees nothing.
func sightOf(ctx context.Context) *sight {
	c, _ := callerOf(ctx)
	return &sight{ctx: ctx, user: c.user, scope: c.scope, guard: c.guard, known: map[string]bool{}}
}

// has tells whether a namespace is seen. Where that cannot be found out it is not, err is set,
// and nothing else is asked.
func (s *sight) has(namespace string) bool { return s.find(namespace, nil) }

func (s *sight) find(namespace string, attempt func() error) bool {
	if s.err != nil {
		return false
	}
	seen, ok := s.known[namespace]
	if !ok {
		var err error
		if seen, err = s.scope.Has(s.ctx, namespace, attempt); err != nil {
			s.err = s.guard.refusal(s.ctx, err)
		}
		s.known[namespace] = seen
	}
	return seen
}

// may is PERMISSION_DENIED for a workload of a namespace that is not seen; "" is no workload.
func (s *sight) may(workload string) error {
	if workload == "" {
		return nil
	}
	return s.mayIn(namespaceOf(workload))
}

// namespaceOf is the namespace of a workload, by its qualified name.
func namespaceOf(workload string) string {
	namespace, _, ok := strings.Cut(workload, "/")
	if !ok {
		return ""
	}
	return namespace
}

// mayIn is PERMISSION_DENIED for a namespace that is not seen. It may be one that the caller has
// made up.
func (s *sight) mayIn(namespace string) error {
	if s.scope.Everywhere() {
		return nil
	}
	attempts := &s.guard.attempts
	seen := s.find(namespace, attempts.ofUser(s.user))
	switch {
	case s.err != nil:
		return s.err
	case !seen:
		attempts.fail(asUser(s.user))
		return s.denied("you may not ask this about workloads of the namespace %q", namespace)
	}
	return nil
}

// denied is PERMISSION_DENIED, or UNAUTHENTICATED for who has not said who they are.
func (s *sight) denied(format string, args ...any) error {
	if !s.user.Known() {
		return status.Error(codes.Unauthenticated, fmt.Sprintf(format, args...)+": show a certificate or a bearer token")
	}
	return status.Errorf(codes.PermissionDenied, format, args...)
}

// fleet is a fleet with the workloads that are seen; PERMISSION_DENIED where none is.
func (s *sight) fleet(f planner.Fleet) (planner.Fleet, error) {
	if s.scope.Everywhere() {
		return f, nil
	}
	all := f.Workloads
	f.Workloads, f.Scenarios, f.Pools = nil, nil, s.pools(f.Pools)
	for i := range all {
		if s.has(all[i].Namespace) {
			f.Workloads = append(f.Workloads, all[i])
		}
	}
	switch {
	case s.err != nil:
		return f, s.err
	case len(f.Workloads) == 0:
		return f, s.denied("there is no workload in a namespace about which you may ask this")
	}
	return f, nil
}

// entry is a decision as far as it is seen. Price and proof are those of the whole fleet; what is
// said in words of the whole names others, and is left out.
func (s *sight) entry(e controller.Entry) (controller.Entry, error) {
	if s.scope.Everywhere() {
		return e, nil
	}
	e = e.Only(func(w *planner.Workload, _ *planner.WorkloadPlan) bool { return s.has(w.Namespace) })
	d := &e.Decision
	d.Trail = slices.DeleteFunc(slices.Clone(d.Trail), func(step planner.Step) bool { return step.Subject == "" })
	s.others(d)
	d.Notes, e.Failure, e.Snapshot.Paused = nil, "", nil
	d.Quotas = slices.DeleteFunc(slices.Clone(d.Quotas), func(q planner.QuotaUse) bool { return !s.has(q.Namespace) })
	d.Fleet.Pools = s.pools(d.Fleet.Pools)
	return e, s.err
}

// others hides the names of workloads that are not seen, where there is word of them at others. The
// changes, plans and steps are the decision's own, the conditions are not.
func (s *sight) others(d *planner.Decision) {
	for i := range d.Changes {
		d.Changes[i].Other = s.name(d.Changes[i].Other)
	}
	for i := range d.Trail {
		d.Trail[i].Other = s.name(d.Trail[i].Other)
	}
	for i := range d.Plans {
		p := &d.Plans[i]
		p.Conditions = slices.Clone(p.Conditions)
		for j := range p.Conditions {
			p.Conditions[j].Other = s.name(p.Conditions[j].Other)
		}
	}
}

// name is the qualified name of a workload that is seen; empty for others.
func (s *sight) name(workload string) string {
	if workload == "" || !s.has(namespaceOf(workload)) {
		return ""
	}
	return workload
}

// pools are pools with the quotas of namespaces that are seen.
func (s *sight) pools(all []planner.Pool) []planner.Pool {
	all = slices.Clone(all)
	for i := range all {
		all[i].Quotas = slices.DeleteFunc(slices.Clone(all[i].Quotas), func(q planner.Quota) bool { return !s.has(q.Namespace) })
	}
	return all
}
