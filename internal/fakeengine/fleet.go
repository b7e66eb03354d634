package fakeengine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// Fleet plays the engines of a cluster. It may be used by several goroutines.
type Fleet struct {
	// url is where targets and gateways are.
	url    string
	server *http.Server
	// began is time 0 of the simulation.
	began   time.Time
	cancel  context.CancelFunc
	serving sync.WaitGroup
	running sync.WaitGroup

	mu     sync.Mutex
	pods   map[types.UID]*pod
	models map[ModelName]*model
	// gateways are the namespaces that have one.
	gateways map[string]bool
	// errs are of pods that could not be played.
	errs []error
}

// step is how often the fleet catches up with the clock.
const step = 10 * time.Millisecond

// New plays the engines of a cluster until the test ends, and fails it where a pod could
// not be played. The list of targets is at the address, such as "127.0.0.1:0".
func New(t testing.TB, client kubernetes.Interface, address string) *Fleet {
	t.Helper()
	f, err := Start(client, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// Start plays the engines of a cluster until it is stopped.
func Start(client kubernetes.Interface, address string) (*Fleet, error) {
	l, err := net.Listen("tcp", address) //nolint:noctx // takes no time
	if err != nil {
		return nil, fmt.Errorf("fakeengine: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &Fleet{
		url: "http://" + l.Addr().String(), began: time.Now(), cancel: cancel,
		pods: map[types.UID]*pod{}, models: map[ModelName]*model{}, gateways: map[string]bool{},
	}
	f.server = &http.Server{Handler: f.handler(), ReadHeaderTimeout: time.Minute}
	f.serving.Go(func() { _ = f.server.Serve(l) }) // until it is closed

	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { f.see(object) },
		UpdateFunc: func(_, object any) { f.see(object) },
		DeleteFunc: func(object any) { f.remove(object) },
	})
	if err != nil {
		f.close()
		return nil, fmt.Errorf("fakeengine: %w", err)
	}
	factory.Start(ctx.Done())
	f.running.Go(func() {
		f.run(ctx)
		factory.Shutdown()
	})
	return f, nil
}

// Stop ends all engines. The error is of pods that could not be played.
func (f *Fleet) Stop() error {
	f.cancel()
	f.running.Wait()
	f.close()
	return f.Err()
}

// Err tells which pods could not be played so far.
func (f *Fleet) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

func (f *Fleet) close() {
	f.cancel()
	f.mu.Lock()
	servers := []*http.Server{f.server}
	for _, p := range f.pods {
		if p.server != nil {
			servers = append(servers, p.server)
		}
	}
	for _, m := range f.models {
		m.end()
	}
	f.mu.Unlock()
	for _, s := range servers {
		_ = s.Close()
	}
	f.serving.Wait()
}

// Offer gives a model requests at a rate from now on, in place of what it had; 0 = none.
func (f *Fleet) Offer(name ModelName, rate queueing.Rate, shape queueing.Shape) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.model(name)
	// Each load draws its own requests.
	seed := uint64(m.arrived + m.lost) //nolint:gosec // a count
	if err := m.offer(rate, shape, seed, f.now()); err != nil {
		return fmt.Errorf("fakeengine: load of %s/%s: %w", name.Namespace, name.Model, err)
	}
	return nil
}

// Completed returns the requests of a model that arrived at or after a time and have
// ended, of the last ten minutes. Their moments are seconds of the fleet's own time.
func (f *Fleet) Completed(name ModelName, since time.Time) []replica.Completion {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := since.Sub(f.began).Seconds()
	var some []replica.Completion
	for _, c := range f.model(name).ended {
		if c.Arrival >= from {
			some = append(some, c)
		}
	}
	return some
}

// Counts are of requests since the fleet began.
type Counts struct {
	// Arrived went to a pod; Refused are those of them that it had no place for, and Dropped
	// those that it lost in a restart. Lost found no ready pod.
	Arrived, Refused, Dropped, Lost int
}

// Counts returns what has become of a model's requests.
func (f *Fleet) Counts(name ModelName) Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.model(name)
	return Counts{m.arrived, m.refused, m.dropped, m.lost}
}

// Inside returns the requests of a model that wait or run.
func (f *Fleet) Inside(name ModelName) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, p := range f.podsOf(name) {
		n += p.inside()
	}
	return n
}

func (f *Fleet) now() float64 { return time.Since(f.began).Seconds() }

func (f *Fleet) model(name ModelName) *model {
	m := f.models[name]
	if m == nil {
		m = &model{}
		f.models[name] = m
	}
	return m
}

// podsOf are the pods of a model by name, those that are gone included.
func (f *Fleet) podsOf(name ModelName) []*pod {
	var some []*pod
	for _, p := range f.pods {
		if p.namespace == name.Namespace && p.engine.Model == name.Model {
			some = append(some, p)
		}
	}
	slices.SortFunc(some, func(a, b *pod) int { return strings.Compare(a.name, b.name) })
	return some
}

// run lets the simulation follow the clock.
func (f *Fleet) run(ctx context.Context) {
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.advance()
		}
	}
}

func (f *Fleet) advance() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for name, m := range f.models {
		pods := f.podsOf(name)
		m.route(pods, now)
		for _, p := range pods {
			p.step(now, m.complete)
		}
		m.forget(now)
	}
	for uid, p := range f.pods {
		if p.gone && p.inside() == 0 {
			delete(f.pods, uid)
		}
	}
}

// see takes over what the cluster says of a pod.
func (f *Fleet) see(object any) {
	p, ok := object.(*corev1.Pod)
	if !ok || p.Annotations[Annotation] == "" || p.Status.PodIP == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.pods[p.UID]
	if known == nil {
		var err error
		if known, err = newPod(f, p); err != nil {
			f.errs = append(f.errs, err)
			return
		}
		f.pods[p.UID] = known
	}
	f.model(ModelName{known.namespace, known.engine.Model})
	known.ready = isReady(p)
	if known.ready && known.server == nil {
		if err := known.serve(); err != nil {
			f.errs = append(f.errs, err)
		}
	}
}

func (f *Fleet) remove(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	p, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.pods[p.UID]
	if known == nil {
		return
	}
	known.ready, known.gone = false, true
	if known.server != nil {
		_ = known.server.Close() // its pod is gone
	}
}
