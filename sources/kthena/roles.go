package kthena

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/poolwright/poolwright/internal/resource"
)

// How Kthena's documentation, and its ModelBooster, name roles.
const (
	decodeRole  = "decode"
	prefillRole = "prefill"
)

// measured are the roles of a ModelServing whose entry pods are measured.
type measured struct {
	serving *serving
	// labels and more are what the target says of the pods.
	labels labels.Set
	more   labels.Requirements
	// answering answer requests, and there is at least one. Requests come to them by way of
	// those that prefill, of which the target may leave out some.
	answering, prefill, leftOut []*role
	// single: a ServingGroup has one entry pod that reports, as far as is known.
	single bool
}

// measured are the roles of a ModelServing that are measured, as a target and the ModelServers
// that send requests to it say.
func (n *network) measured(namespace string, s *serving, t *targetSpec) *measured {
	m := &measured{serving: s}
	m.labels, m.more = t.podLabels()
	if len(s.roles) == 1 {
		m.answering, m.single = []*role{&s.roles[0]}, s.roles[0].replicas() == 1
		return m
	}
	servers := n.serversOf(namespace, []*serving{s})
	prefill := s.rolesWith(func(r *role) bool {
		pod := s.entryLabels(r)
		says := func(by *server) bool { return by.prefills(pod) }
		return r.Name == prefillRole || slices.ContainsFunc(servers, says)
	})
	name := m.labels[roleLabel]
	m.answering = s.answering(name, prefill, servers)
	m.single = name == "" && len(prefill) == 0 && len(m.answering) == 1 && m.answering[0].replicas() == 1
	chosen := labels.SelectorFromSet(m.labels).Add(m.more...)
	for _, r := range prefill {
		switch {
		case slices.Contains(m.answering, r):
		case chosen.Matches(s.entryLabels(r)):
			m.prefill = append(m.prefill, r)
		default:
			m.leftOut = append(m.leftOut, r)
		}
	}
	return m
}

// answering are the roles that answer requests: the one of that name, else those that decode,
// as ModelServers say or by the name, else those that ModelServers send requests to, else the
// first that does not prefill.
func (s *serving) answering(name string, prefill []*role, servers []*server) []*role {
	for _, is := range [...]func(r *role) bool{
		func(r *role) bool { return r.Name == name },
		func(r *role) bool {
			pod := s.entryLabels(r)
			return slices.ContainsFunc(servers, func(by *server) bool { return by.decodes(pod) })
		},
		func(r *role) bool { return r.Name == decodeRole },
		func(r *role) bool {
			pod := s.entryLabels(r)
			return !slices.Contains(prefill, r) && slices.ContainsFunc(servers, func(by *server) bool { return by.selects(pod) })
		},
	} {
		if found := s.rolesWith(is); len(found) > 0 {
			return found
		}
	}
	for i := range s.roles {
		if r := &s.roles[i]; !slices.Contains(prefill, r) {
			return []*role{r}
		}
	}
	return []*role{&s.roles[0]}
}

// rolesWith are the roles that have a property.
func (s *serving) rolesWith(property func(*role) bool) []*role {
	var found []*role
	for i := range s.roles {
		if property(&s.roles[i]) {
			found = append(found, &s.roles[i])
		}
	}
	return found
}

// leaders selects the pod of each ServingGroup that says whether it is ready: the first entry
// pod of the role that answers requests.
func (m *measured) leaders() labels.Selector {
	r := m.answering[0]
	set := m.entries(r)
	if r.replicas() > 1 {
		set[roleIDLabel] = r.Name + "-0"
	}
	return labels.SelectorFromSet(set).Add(m.more...)
}

// reporters select the entry pods of the roles; none where the leaders are all of them.
func (m *measured) reporters() []labels.Selector {
	if m.single {
		return nil
	}
	var selectors []labels.Selector
	for _, r := range slices.Concat(m.answering, m.prefill) {
		selectors = append(selectors, labels.SelectorFromSet(m.entries(r)).Add(m.more...))
	}
	return selectors
}

// parts are the entry pods of the roles. Those that the target leaves out count for nothing.
func (m *measured) parts() []resource.Part {
	if m.single {
		return nil
	}
	var parts []resource.Part
	for _, r := range m.answering {
		parts = append(parts, resource.Part{Pods: r.entries, Count: r.replicas()})
	}
	for _, r := range m.prefill {
		parts = append(parts, resource.Part{Pods: r.entries, Count: r.replicas(), Prefill: true})
	}
	for _, r := range m.leftOut {
		parts = append(parts, resource.Part{Pods: r.entries, Prefill: true})
	}
	return parts
}

// entries are the labels of the entry pods of a role that are measured.
func (m *measured) entries(r *role) labels.Set {
	return labels.Merge(m.labels, labels.Set{nameLabel: m.serving.object.GetName(), roleLabel: r.Name, entryLabel: "true"})
}

// podLabels are what a target says of the pods that are measured.
func (t *targetSpec) podLabels() (labels.Set, labels.Requirements) {
	set := labels.Merge(t.AdditionalMatchLabels, nil)
	if t.MetricEndpoint == nil || t.MetricEndpoint.LabelSelector == nil {
		return set, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: t.MetricEndpoint.LabelSelector.MatchExpressions})
	if err != nil {
		return set, nil
	}
	extra, _ := selector.Requirements()
	return labels.Merge(set, t.MetricEndpoint.LabelSelector.MatchLabels), extra
}
