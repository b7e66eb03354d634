package cluster

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// retryBackoff is that after failed requests. It ends soon, so that a loop which decides every few
// seconds goes on a few seconds after an outage; there is one request per kind.
func retryBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5, Cap: 2 * time.Second}
}

// steady is how long all must have been well for an outage to count as another one.
const steady = time.Minute

// follow keeps a store like the objects of a kind in a namespace, or in all where that is
// empty, until ctx ends or the kind is gone.
func (s *store) follow(ctx context.Context, client dynamic.Interface, mapping *meta.RESTMapping, namespace string) {
	objects := client.Resource(mapping.Resource).Namespace(namespace)
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	check := func(err error) error {
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
			if check(err) != nil {
				return nil, err
			}
			return s.opened(w, o.SendInitialEvents != nil && *o.SendInitialEvents), nil
		},
	}
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(mapping.GroupVersionKind)
	reflector := cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(lw, client), expected, s,
		cache.ReflectorOptions{Name: mapping.Resource.GroupResource().String(), Backoff: retryBackoff()},
	)
	backoff := retryBackoff()
	for ctx.Err() == nil {
		began := s.now()
		if err := reflector.ListAndWatchWithContext(ctx); err != nil {
			s.failed(err)
		}
		if s.now().Sub(began) > steady {
			backoff = retryBackoff()
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff.Step()):
		}
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
