package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// entry is an object with what is read of it on arrival.
type entry struct {
	object          *unstructured.Unstructured
	namespace, name string
	uid             types.UID
	// controller is the one that manages the object; empty if there is none.
	controller types.UID
	// pod or node is set where the object is one.
	pod  *pod
	node *node
}

func newEntry(object *unstructured.Unstructured) (*entry, error) {
	e := &entry{object: object, namespace: object.GetNamespace(), name: object.GetName(), uid: object.GetUID()}
	for _, owner := range object.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			e.controller = owner.UID
		}
	}
	var err error
	switch object.GroupVersionKind().GroupKind() {
	case podKind:
		e.pod, err = readPod(object)
	case nodeKind:
		e.node, err = readNode(object)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %s %s/%s: %w", object.GetKind(), e.namespace, e.name, err)
	}
	return e, nil
}

// remember takes over what an earlier state of the object showed and a later one does not:
// how long a pod took to become ready for the first time.
func (e *entry) remember(before *entry) {
	if before != nil && before.pod != nil && before.uid == e.uid && before.pod.startup > 0 {
		e.pod.startup = before.pod.startup
	}
}

func (e *entry) compare(namespace, name string) int {
	return cmp.Or(cmp.Compare(e.namespace, namespace), cmp.Compare(e.name, name))
}

// store has the objects of one kind, in one namespace or in all. It is what a reflector
// writes to, and knows since when it has not heard of the API server.
type store struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[types.NamespacedName]*entry
	// sorted has all entries by namespace and name; nil where they have changed since.
	sorted []*entry
	// version counts changes.
	version uint64
	// synced: a whole list has arrived.
	synced bool
	// open is the watch that is running, and listing the one that is still sending what there is.
	open, listing *watching
	// asOf is the last time of contact while no watch is open.
	asOf time.Time
	// failure is what the last request came to; nil while a watch is open.
	failure error
}

func newStore(now func() time.Time) *store {
	return &store{now: now, entries: make(map[types.NamespacedName]*entry), asOf: now()}
}

// The methods of cache.ReflectorStore.
var _ cache.TransformingStore = (*store)(nil)

// Add enters an object, in place of an earlier state of it.
func (s *store) Add(object any) error {
	e, err := read(object)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: e.namespace, Name: e.name}
	e.remember(s.entries[key])
	s.entries[key] = e
	s.changed()
	return nil
}

// Update is Add.
func (s *store) Update(object any) error { return s.Add(object) }

// Delete removes an object.
func (s *store) Delete(object any) error {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("cluster: a %T is no object", object)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()})
	s.changed()
	return nil
}

// Replace enters a whole list in place of all that was there.
func (s *store) Replace(objects []any, _ string) error {
	entries := make(map[types.NamespacedName]*entry, len(objects))
	for _, object := range objects {
		e, err := read(object)
		if err != nil {
			return err
		}
		entries[types.NamespacedName{Namespace: e.namespace, Name: e.name}] = e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range entries {
		e.remember(s.entries[key])
	}
	s.entries, s.synced, s.asOf, s.failure = entries, true, s.now(), nil
	if s.listing != nil {
		s.open, s.listing = s.listing, nil
	}
	s.changed()
	return nil
}

// Resync does nothing: nobody waits for events.
func (s *store) Resync() error { return nil }

// Transformer cuts objects down as they arrive.
func (s *store) Transformer() cache.TransformFunc { return trim }

// changed notes that entries have changed. The caller holds the lock.
func (s *store) changed() {
	s.sorted = nil
	s.version++
}

// read cuts an object down and reads what is needed of it.
func read(object any) (*entry, error) {
	trimmed, err := trim(object)
	if err != nil {
		return nil, err
	}
	return newEntry(trimmed.(*unstructured.Unstructured))
}

// all are the entries by namespace and name, to be left unchanged, with the count of changes so far.
func (s *store) all() ([]*entry, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sorted == nil {
		s.sorted = make([]*entry, 0, len(s.entries))
		for _, e := range s.entries {
			s.sorted = append(s.sorted, e)
		}
		slices.SortFunc(s.sorted, func(a, b *entry) int { return a.compare(b.namespace, b.name) })
	}
	return s.sorted, s.version
}

// contact is what is known of the connection: whether there is anything, when it was known to be true, and
// what has failed since.
type contact struct {
	synced  bool
	asOf    time.Time
	failure error
}

func (s *store) contact() contact {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := contact{synced: s.synced, asOf: s.asOf, failure: s.failure}
	if s.open != nil {
		c.asOf = s.now()
	}
	return c
}

// failed notes that a request has failed.
func (s *store) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}
