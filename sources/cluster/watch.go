package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// WatchConfig says what to watch. Client, Mapper and Kinds are needed.
type WatchConfig struct {
	Client dynamic.Interface
	// Mapper is reset from time to time while kinds are missing.
	Mapper Mapper
	Kinds  []schema.GroupKind
	// Namespaces whose objects are watched; none = all.
	Namespaces []string
	// MaxAge is how long a view may be out of touch with the API server; 0 = [DefaultMaxAge].
	MaxAge time.Duration
	// Retry is the time between attempts to find kinds that are not installed; 0 =
	// [DefaultRetry].
	Retry time.Duration
}

// Mapper knows the kinds that are installed, as of its last reset. It is a part of
// meta.ResettableRESTMapper.
type Mapper interface {
	RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error)
	Reset()
}

// Defaults of [WatchConfig].
const (
	DefaultMaxAge = 30 * time.Second
	DefaultRetry  = 30 * time.Second
)

// unreachableRetry is the time between attempts to ask which kinds there are, and goneRetry
// that until one which is gone is looked for again.
const (
	unreachableRetry = 2 * time.Second
	goneRetry        = time.Second
)

// Watch keeps copies of objects of a cluster.
type Watch struct {
	config WatchConfig
	reach  *reach

	// gone is told of kinds that are not there any more.
	gone chan struct{}

	mu    sync.Mutex
	kinds map[schema.GroupKind]*followed
	// began grows, by more than any store counts changes, when a kind is found or gone.
	began uint64
}

// followed is what is known of a kind: its stores, or that it is not installed, or why
// neither is known.
type followed struct {
	stores  []*store
	missing bool
	failure error
}

// NewWatch returns a watch that has seen nothing yet.
func NewWatch(c WatchConfig) *Watch {
	if c.MaxAge == 0 {
		c.MaxAge = DefaultMaxAge
	}
	if c.Retry == 0 {
		c.Retry = DefaultRetry
	}
	c.Namespaces = slices.Compact(slices.Sorted(slices.Values(c.Namespaces)))
	w := &Watch{config: c, reach: newReach(), gone: make(chan struct{}, 1), kinds: make(map[schema.GroupKind]*followed)}
	for _, kind := range c.Kinds {
		w.kinds[kind] = &followed{failure: errors.New("not asked for yet")}
	}
	return w
}

// Run watches until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	for {
		retry := w.config.Retry
		if !w.startAll(ctx, &running) {
			retry = min(retry, unreachableRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry):
		case <-w.gone:
		}
		if slices.ContainsFunc(w.config.Kinds, func(kind schema.GroupKind) bool { return w.stores(kind) == nil }) {
			w.config.Mapper.Reset()
		}
	}
}

// startAll follows all kinds that are installed and not followed yet. It returns false where
// that is not known of some. Who does not answer about one is not asked about the others.
func (w *Watch) startAll(ctx context.Context, running *sync.WaitGroup) bool {
	known := true
	for _, kind := range w.config.Kinds {
		if w.stores(kind) != nil {
			continue
		}
		err := w.start(ctx, kind, running)
		switch {
		case err == nil:
		case meta.IsAmbiguousError(err):
			w.fail(err, kind)
			known = false
		default:
			w.fail(err, w.config.Kinds...)
			return false
		}
	}
	return known
}

func (w *Watch) stores(kind schema.GroupKind) []*store {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kinds[kind].stores
}

// set enters what is known of a kind, which changes views.
func (w *Watch) set(kind schema.GroupKind, f *followed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kinds[kind] = f
	w.began += 1 << 32
}

// start follows a kind if it is installed, and fails where that is not known.
func (w *Watch) start(ctx context.Context, kind schema.GroupKind, running *sync.WaitGroup) error {
	mapping, err := w.config.Mapper.RESTMapping(kind)
	switch {
	case meta.IsNoMatchError(err):
		w.set(kind, &followed{missing: true})
		return nil
	case err != nil:
		return err
	}
	namespaces := w.config.Namespaces
	if len(namespaces) == 0 || mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespaces = []string{""}
	}
	f := &followed{}
	for range namespaces {
		f.stores = append(f.stores, newStore(time.Now))
	}
	w.set(kind, f)
	running.Go(func() {
		var all sync.WaitGroup
		for i, namespace := range namespaces {
			all.Go(func() { f.stores[i].follow(ctx, w.config.Client, mapping, namespace, w.reach) })
		}
		all.Wait()
		w.set(kind, &followed{failure: errGone})
		select {
		case <-ctx.Done():
		case <-time.After(goneRetry):
		}
		select {
		case w.gone <- struct{}{}:
		default: // somebody has told already
		}
	})
	return nil
}

// errGone is why a kind is not known that was there before, until it is looked for again.
var errGone = errors.New("not there any more")

// fail notes why it is not known whether kinds are installed that are not followed; where
// one was not, it isn't as far as anybody knows.
func (w *Watch) fail(err error, kinds ...schema.GroupKind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, kind := range kinds {
		if f := w.kinds[kind]; f.stores == nil && !f.missing {
			f.failure = err
		}
	}
}

// View returns the cluster as it is. It fails while some of it has never been read, may not
// be read, or is too old.
func (w *Watch) View() (*View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	oldest := now.Add(-w.config.MaxAge)
	v := &View{asOf: now, version: w.began, kinds: make(map[schema.GroupKind]*listing), unreadable: make(map[schema.GroupKind]error)}
	var errs []error
	for _, kind := range w.config.Kinds {
		errs = append(errs, v.read(kind, w.kinds[kind], oldest))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if age := now.Sub(v.asOf); age > w.config.MaxAge {
		return nil, fmt.Errorf("cluster: out of touch with the API server for %s, and nothing is decided after %s: %w", age.Round(time.Second), w.config.MaxAge, v.behind)
	}
	return v, nil
}

// Synced returns what has never been read, nil where all has been: of a kind that may be left
// unread, also that it may not.
func (w *Watch) Synced() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, kind := range w.config.Kinds {
		errs = append(errs, w.kinds[kind].synced(kind))
	}
	return errors.Join(errs...)
}

func (f *followed) synced(kind schema.GroupKind) error {
	if f.missing {
		return nil
	}
	if f.failure != nil {
		return fmt.Errorf("cluster: %s: not read yet: %w", kind, f.failure)
	}
	for _, s := range f.stores {
		c := s.contact()
		if !c.synced && !(apierrors.IsForbidden(c.failure) && slices.Contains(optionalKinds(), kind)) {
			return fmt.Errorf("cluster: %s: not read yet: %w", kind, cmp.Or(c.failure, errListing))
		}
	}
	return nil
}

// errListing is why a kind is not known that is being read for the first time.
var errListing = errors.New("its objects are being listed")

// Refused is what the API server answered last about kinds that may not be listed or not be
// watched, by kind. Some of them a fleet is planned without, and those that may be listed are
// listed again and again.
func (w *Watch) Refused() []error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var refused []error
	for _, kind := range w.config.Kinds {
		for _, s := range w.kinds[kind].stores {
			if c := s.contact(); apierrors.IsForbidden(c.failure) {
				refused = append(refused, fmt.Errorf("cluster: %s: %w", kind, c.failure))
			}
		}
	}
	return refused
}

// errEnded is why a kind is not watched where nothing else is known.
var errEnded = errors.New("the watch has ended")

// unreadableChanges is what a kind that may not be read counts for in the version of a view:
// more than any store counts changes.
const unreadableChanges = 1 << 31

// read enters the objects of a kind. One that may not be read is as it was until that is
// older than the oldest time: an API server that has just come up forbids what it will soon allow.
func (v *View) read(kind schema.GroupKind, f *followed, oldest time.Time) error {
	if f.missing {
		return nil
	}
	if f.failure != nil {
		return fmt.Errorf("cluster: %s: not read yet: %w", kind, f.failure)
	}
	var entries []*entry
	for _, s := range f.stores {
		c := s.contact()
		switch {
		case apierrors.IsForbidden(c.failure) && slices.Contains(optionalKinds(), kind) && (!c.synced || c.asOf.Before(oldest)):
			v.unreadable[kind] = c.failure
			v.version += unreadableChanges
			return nil
		case !c.synced && c.failure != nil:
			return fmt.Errorf("cluster: %s: not read yet: %w", kind, c.failure)
		case !c.synced:
			return fmt.Errorf("cluster: %s: not read yet", kind)
		case c.asOf.Before(v.asOf):
			v.asOf, v.behind = c.asOf, fmt.Errorf("%s: %w", kind, cmp.Or(c.failure, errEnded))
		}
		some, version := s.all()
		v.version += version
		if len(f.stores) == 1 {
			entries = some
		} else {
			entries = append(entries, some...)
		}
	}
	v.kinds[kind] = newListing(entries)
	return nil
}
