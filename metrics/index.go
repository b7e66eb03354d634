package metrics

import (
	"maps"
	"slices"
	"strings"
)

// index finds whose a series is, by the values of its labels.
type index struct {
	members []member
	// sets are distinct sets of names of labels, those of many labels first.
	sets []labelSet
	// key and found are used again for every series.
	key   []byte
	found []int
}

// member is a workload whose series are sought.
type member struct {
	// workload is its place in the fleet.
	workload int
	labels   Labels
	// targets are the names of the scale targets of its variants; a gateway's replicas
	// are of none.
	targets []string
	// unnamed: some of its variants have none, so that others may be its replicas.
	unnamed bool
}

// labelSet has the members that are found by the values of the same labels.
type labelSet struct {
	names []string
	// members are by the values, each ended by a zero byte.
	members map[string][]int
}

func newIndex(members []member) *index {
	x := &index{members: members}
	places := map[string]int{}
	for k := range members {
		names := slices.Sorted(maps.Keys(members[k].labels))
		signature := strings.Join(names, ",")
		place, ok := places[signature]
		if !ok {
			place = len(x.sets)
			places[signature] = place
			x.sets = append(x.sets, labelSet{names: names, members: map[string][]int{}})
		}
		set := &x.sets[place]
		x.key = x.key[:0]
		for _, name := range names {
			x.key = append(append(x.key, members[k].labels[name]...), 0)
		}
		set.members[string(x.key)] = append(set.members[string(x.key)], k)
	}
	slices.SortStableFunc(x.sets, func(a, b labelSet) int { return len(b.names) - len(a.names) })
	return x
}

// owners are the candidates for a series, and of several the one whose scale target begins
// the name of the replica. More than one means that nothing tells them apart. They count
// until the next call.
func (x *index) owners(series map[string]string, replica string) []int {
	found := x.candidates(series)
	if len(found) < 2 {
		return found
	}
	return x.byTarget(found, replica)
}

// candidates are the members that a series can be of by its labels: those that ask for most
// of them. They count until the next call.
func (x *index) candidates(series map[string]string) []int {
	found := x.found[:0]
	for i := range x.sets {
		set := &x.sets[i]
		if len(found) > 0 && len(set.names) < len(x.members[found[0]].labels) {
			break
		}
		x.key = x.key[:0]
		for _, name := range set.names {
			x.key = append(append(x.key, series[name]...), 0)
		}
		found = append(found, set.members[string(x.key)]...)
	}
	x.found = found
	return found
}

// byTarget are those of several members whose scale target begins the name of the
// replica at greatest length. Where it is of none, it is somebody else's, or that of a
// member whose targets are not known.
func (x *index) byTarget(found []int, replica string) []int {
	var best []int
	longest, named := 0, true
	for _, k := range found {
		targets := x.members[k].targets
		named = named && len(targets) > 0 && !x.members[k].unnamed
		_, n := longestTarget(targets, replica)
		if n > longest {
			best, longest = best[:0], n
		}
		if n == longest && n > 0 {
			best = append(best, k)
		}
	}
	if len(best) > 0 || named {
		return best
	}
	return found
}

// longestTarget finds the scale target whose name, and a dash, begin the name of a
// replica, as those of its pods do. The longest counts; it returns its place and
// length, or -1 and 0.
func longestTarget(targets []string, replica string) (place, length int) {
	place = -1
	for j, target := range targets {
		rest, ok := strings.CutPrefix(replica, target)
		if ok && target != "" && strings.HasPrefix(rest, "-") && len(target) > length {
			place, length = j, len(target)
		}
	}
	return place, length
}

// matches tells whether a series has the values.
func (l Labels) matches(series map[string]string) bool {
	for name, value := range l {
		if series[name] != value {
			return false
		}
	}
	return true
}
