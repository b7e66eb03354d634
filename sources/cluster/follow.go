package cluster

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// steady is how long all must have been well for an outage to count as another one.
const steady = time.Minute

// follow keeps a store like the objects of a kind in a namespace, or in all where that is
// empty, until ctx ends or the kind is gone.
func (s *store) follow(ctx context.Context, client dynamic.Interface, mapping *meta.RESTMapping, namespace string, r *reach) {
	objects := client.Resource(mapping.Resource).Namespace(namespace)
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	attempts := newAttempts(r)
	check := func(err error) error {
		attempts.came(err)
		if err != nil {
			s.failed(err)
			if apierrors.IsNotFound(err) {
				gone()
			}
		}
		return err
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := objects.List(ctx, o)
			return list, check(err)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := objects.Watch(ctx, o)
			// A reflector would pause by itself, and nobody could wake it.
			for check(err) != nil && utilnet.IsConnectionRefused(err) && ctx.Err() == nil {
				attempts.pause(ctx)
				w, err = objects.Watch(ctx, o)
			}
			if err != nil {
				return nil, err
			}
			return s.opened(w, o.SendInitialEvents != nil && *o.SendInitialEvents), nil
		},
	}
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(mapping.GroupVersionKind)
	backoff := retryBackoff()
	reflector := cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(lw, client), expected, s,
		cache.ReflectorOptions{Name: mapping.Resource.GroupResource().String(), Backoff: &backoff},
	)
	for {
		began := s.now()
		if err := reflector.ListAndWatchWithContext(ctx); err != nil {
			s.failed(err)
		}
		if ctx.Err() != nil {
			return
		}
		if s.now().Sub(began) > steady {
			attempts.backoff = retryBackoff()
		}
		attempts.pause(ctx)
	}
}

// watching is a watch that tells its store when it ends.
type watching struct {
	watch.Interface
	store *store
}

// opened notes that a watch is running. One that sends first what there is shows the present
// only after that.
func (s *store) opened(w watch.Interface, sendsInitial bool) *watching {
	opened := &watching{Interface: w, store: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sendsInitial {
		s.listing = opened
	} else {
		s.open, s.failure = opened, nil
	}
	return opened
}

// Stop implements watch.Interface. A reflector stops each watch whatever ends it.
func (w *watching) Stop() {
	w.Interface.Stop()
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listing == w {
		s.listing = nil
	}
	if s.open == w {
		s.open, s.asOf = nil, s.now()
	}
}
