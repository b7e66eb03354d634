package cluster

import (
	"slices"
	"time"
)

// replicas is what is seen of those of a variant.
type replicas struct {
	// ready of them serve.
	ready int
	// holding and leaving hold devices: those that are to stay and those that terminate.
	holding, leaving int
	// on is how many hold devices on each node.
	on map[string]int
	// startup is how long they took to become ready, by the upper median; 0 = unknown.
	startup time.Duration
}

// count counts the replicas that have the given leaders.
func (x *index) count(leaders []*pod) replicas {
	r := replicas{on: make(map[string]int)}
	var startups []time.Duration
	for _, p := range leaders {
		if p.serves() {
			r.ready++
			if p.startup > 0 {
				startups = append(startups, p.startup)
			}
		}
		if !x.holds(p) {
			continue
		}
		r.on[p.node]++
		if p.leaving {
			r.leaving++
		} else {
			r.holding++
		}
	}
	if len(startups) > 0 {
		slices.Sort(startups)
		r.startup = startups[len(startups)/2]
	}
	return r
}
