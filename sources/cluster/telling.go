package cluster

import (
	"cmp"
	"slices"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// telling remembers which conditions people have been told of.
type telling struct {
	conditions map[told]resource.Condition
}

// told names a condition of an object, whatever its generation.
type told struct {
	object resource.Reference
	kind   string
}

func toldOf(object resource.Reference, kind string) told {
	object.Generation = 0
	return told{object, kind}
}

// mostEvents of one report; the rest comes with the next ones.
const mostEvents = 100

// events tells of the conditions that have come or gone, by object and type. Of those that
// the first report finds written on their objects, another process has told.
func (t *telling) events(v resource.View, found map[told]resource.Condition) []resource.Event {
	if t.conditions == nil {
		t.conditions = make(map[told]resource.Condition)
		for key, c := range found {
			if written(v, key.object, c) {
				t.conditions[key] = c
			}
		}
	}
	var news []told
	for key, c := range found {
		if quiet(key.kind) {
			continue
		}
		if last, ok := t.conditions[key]; !ok || last.Status != c.Status || last.Reason != c.Reason {
			news = append(news, key)
		}
	}
	for key := range t.conditions {
		if _, ok := found[key]; ok {
			continue
		}
		if _, ok := v.Get(key.object.GroupKind(), key.object.Namespace, key.object.Name); ok {
			news = append(news, key)
		} else {
			delete(t.conditions, key)
		}
	}
	slices.SortFunc(news, func(a, b told) int {
		return cmp.Or(a.object.Compare(b.object), cmp.Compare(a.kind, b.kind))
	})
	var events []resource.Event
	for _, key := range news[:min(len(news), mostEvents)] {
		c, here := found[key]
		if !here {
			c = t.conditions[key]
			delete(t.conditions, key)
			events = append(events, resource.Event{Object: key.object, Reason: c.Reason + "Ended", Message: "no longer: " + c.Message})
			continue
		}
		t.conditions[key] = c
		events = append(events, resource.Event{Object: key.object, Warning: warns(c), Reason: c.Reason, Message: c.Message})
	}
	return events
}

// keep takes over the conditions of an object of which nothing is known now.
func (t *telling) keep(r resource.Reference, found map[told]resource.Condition) {
	for key, c := range t.conditions {
		if key.object == toldOf(r, key.kind).object {
			found[key] = c
		}
	}
}

// written tells whether an object has a condition of ours already.
func written(v resource.View, r resource.Reference, c resource.Condition) bool {
	object, ok := v.Get(r.GroupKind(), r.Namespace, r.Name)
	if !ok {
		return false
	}
	c = c.Qualified()
	return slices.ContainsFunc(elements(object.Object, "status", "conditions"), func(of map[string]any) bool {
		return of["type"] == c.Type && of["status"] == string(c.Status) && of["reason"] == c.Reason
	})
}

// quiet conditions come and go in the normal course of things.
func quiet(kind string) bool {
	return kind == string(planner.Waiting) || kind == string(planner.DemandIncomplete)
}

// warns tells whether a condition is something wrong.
func warns(c resource.Condition) bool {
	if c.Type == string(planner.Paused) {
		return false
	}
	return (c.Status == resource.True) != (c.Type == resource.Accepted)
}
