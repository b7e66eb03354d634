package kthena

import (
	"cmp"
	"maps"
	"slices"

	"github.com/poolwright/poolwright/internal/resource"
)

// network is how requests reach pods, as it is in one view.
type network struct {
	view resource.View
	// servers are the ModelServers by a label that they ask for, the rarest of theirs.
	servers map[podLabel][]*server
	// routes are the ModelRoutes by the ModelServers that they lead to.
	routes map[name][]*route
	// servings are the ModelServings that were read, and before are those of the last view:
	// objects that are still there are not read again.
	servings, before map[name]*serving
}

type name struct{ namespace, name string }

// podLabel is a label of pods in a namespace; none has an empty key.
type podLabel struct{ namespace, key, value string }

// newNetwork reads ModelServers and ModelRoutes; those that can't be decoded are none.
func newNetwork(v resource.View) *network {
	n := &network{
		view: v, servers: make(map[podLabel][]*server), routes: make(map[name][]*route), servings: make(map[name]*serving),
	}
	n.addServers(v)
	for _, object := range v.List(routeKind) {
		m, err := readRoute(object)
		if err != nil {
			continue
		}
		for _, server := range m.servers() {
			at := name{object.GetNamespace(), server}
			n.routes[at] = append(n.routes[at], m)
		}
	}
	return n
}

func (n *network) addServers(v resource.View) {
	var all []*server
	count := make(map[podLabel]int)
	for _, object := range v.List(serverKind) {
		s := readServer(object)
		if s == nil {
			continue
		}
		all = append(all, s)
		for key, value := range s.labels {
			count[podLabel{s.namespace, key, value}]++
		}
	}
	for _, s := range all {
		rarest := podLabel{namespace: s.namespace}
		for _, key := range slices.Sorted(maps.Keys(s.labels)) {
			if l := (podLabel{s.namespace, key, s.labels[key]}); rarest.key == "" || count[l] < count[rarest] {
				rarest = l
			}
		}
		n.servers[rarest] = append(n.servers[rarest], s)
	}
}

// serversOf are the ModelServers that send requests to entry pods of ModelServings, by name.
func (n *network) serversOf(namespace string, servings []*serving) []*server {
	var found []*server
	for _, m := range servings {
		for i := range m.roles {
			pod := m.entryLabels(&m.roles[i])
			candidates := slices.Clone(n.servers[podLabel{namespace: namespace}])
			for key, value := range pod {
				candidates = append(candidates, n.servers[podLabel{namespace, key, value}]...)
			}
			for _, s := range candidates {
				if s.selects(pod) {
					found = append(found, s)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b *server) int { return cmp.Compare(a.name, b.name) })
	return slices.Compact(found)
}

// routesTo are the ModelRoutes that lead to any of the ModelServers, by name.
func (n *network) routesTo(namespace string, servers []string) []*route {
	var found []*route
	for _, server := range servers {
		found = append(found, n.routes[name{namespace, server}]...)
	}
	slices.SortFunc(found, func(a, b *route) int { return cmp.Compare(a.name, b.name) })
	return slices.Compact(found)
}
