package overlay

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// pattern matches names: all of them if it is empty, those that start as it does if it
// ends in *, else the one.
type pattern string

func (p pattern) matches(name string) bool {
	if prefix, ok := strings.CutSuffix(string(p), "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return p == "" || string(p) == name
}

// specificity orders the patterns that match one name: those that are equal match the same.
func (p pattern) specificity() int {
	if prefix, ok := strings.CutSuffix(string(p), "*"); ok || p == "" {
		return len(prefix)
	}
	return math.MaxInt
}

// entry is what the configuration says of all that matches.
type entry[T any] struct {
	// key is one pattern for each thing that is matched by, the first of which counts most.
	key  []pattern
	says T
}

func (e *entry[T]) matches(names []string) bool {
	for i, p := range e.key {
		if !p.matches(names[i]) {
			return false
		}
	}
	return true
}

// entries are the most specific first.
type entries[T any] struct {
	// named are those whose first pattern is a name, by that; they are more specific than
	// the others.
	named  map[string][]entry[T]
	others []entry[T]
}

func (es *entries[T]) add(says T, key ...string) {
	e := entry[T]{says: says}
	for _, k := range key {
		e.key = append(e.key, pattern(k))
	}
	if e.key[0].specificity() < math.MaxInt {
		es.others = append(es.others, e)
		return
	}
	if es.named == nil {
		es.named = make(map[string][]entry[T])
	}
	es.named[key[0]] = append(es.named[key[0]], e)
}

func (es *entries[T]) sort() {
	moreSpecific := func(a, b entry[T]) int {
		for i := range a.key {
			if c := cmp.Compare(b.key[i].specificity(), a.key[i].specificity()); c != 0 {
				return c
			}
		}
		return 0
	}
	slices.SortStableFunc(es.others, moreSpecific)
	for _, of := range es.named {
		slices.SortStableFunc(of, moreSpecific)
	}
}

// matching are what the entries say that match, the most specific first.
func (es *entries[T]) matching(names ...string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, of := range [...][]entry[T]{es.named[names[0]], es.others} {
			for i := range of {
				if of[i].matches(names) && !yield(of[i].says) {
					return
				}
			}
		}
	}
}

// replicaKey is what replicas are matched by.
func (o *Overlay) replicaKey(m *poolwrightv1.ReplicaMatch) []string {
	devices := ""
	if m.GetDevices() != 0 {
		devices = strconv.Itoa(int(m.GetDevices()))
	}
	return []string{
		m.GetWorkload(), m.GetNamespace(), m.GetVariant(), m.GetModel(),
		o.names.Canonical(m.GetAccelerator()), devices,
	}
}
