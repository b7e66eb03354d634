package cluster

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
)

// View is the cluster at one instant. It is never changed.
type View struct {
	// asOf is when all of it was known to be true.
	asOf time.Time
	// behind says what has not been heard of since; nil where all is as of now.
	behind error
	// version is the same for two views of a watch only if nothing has changed between them.
	version uint64
	kinds   map[schema.GroupKind]*listing
	// unreadable are optional kinds that may not be read, with what was answered.
	unreadable map[schema.GroupKind]error
}

var _ resource.View = (*View)(nil)

// listing is the objects of one kind by namespace and name.
type listing struct {
	entries []*entry
	objects []*unstructured.Unstructured
}

func newListing(entries []*entry) *listing {
	l := &listing{entries: entries, objects: make([]*unstructured.Unstructured, len(entries))}
	for i, e := range entries {
		l.objects[i] = e.object
	}
	return l
}

// AsOf is the time at which all of the view was known to be true; parts may be newer.
func (v *View) AsOf() time.Time { return v.asOf }

// List implements [resource.View].
func (v *View) List(kind schema.GroupKind) []*unstructured.Unstructured {
	if l := v.kinds[kind]; l != nil {
		return l.objects
	}
	return nil
}

// Get implements [resource.View].
func (v *View) Get(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, bool) {
	if e := v.entry(kind, namespace, name); e != nil {
		return e.object, true
	}
	return nil, false
}

// entry is an object with what is read of it; nil if there is none.
func (v *View) entry(kind schema.GroupKind, namespace, name string) *entry {
	entries := v.entries(kind)
	i, ok := slices.BinarySearchFunc(entries, name, func(e *entry, name string) int { return e.compare(namespace, name) })
	if !ok {
		return nil
	}
	return entries[i]
}

func (v *View) entries(kind schema.GroupKind) []*entry {
	if l := v.kinds[kind]; l != nil {
		return l.entries
	}
	return nil
}

func compareKinds(a, b schema.GroupKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
}
