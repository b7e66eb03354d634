//go:build e2e && linux

package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/resource"
)

// witness sees every change of pods and of what is scaled.
type witness struct {
	mu sync.Mutex
	// capacity is by product.
	capacity map[string]int
	// held are the devices that pods ask for, those that wait included.
	held     map[types.UID]claim
	instants int
	offences []string
	// replicas are those asked for, by target; history what became of them.
	replicas map[string]int
	history  []transition
}

// transition is a change of replicas, with the version of the object after it.
type transition struct {
	change
	version string
}

// claim is what a pod asks for.
type claim struct {
	product string
	devices int
}

// witness watches until the test ends.
func (c *cluster) witness(capacity map[string]int) *witness {
	c.t.Helper()
	w := &witness{capacity: map[string]int{}, held: map[types.UID]claim{}, replicas: map[string]int{}}
	for accelerator, devices := range capacity {
		w.capacity[products[accelerator]] = devices
	}
	ctx, cancel := context.WithCancel(context.Background())
	typed := informers.NewSharedInformerFactory(c.typed, 0)
	untyped := dynamicinformer.NewDynamicSharedInformerFactory(c.dynamic, 0)
	_, err := typed.Core().V1().Pods().Informer().AddEventHandler(handler(w.pod, w.podGone))
	require.NoError(c.t, err)
	for _, r := range []schema.GroupVersionResource{deployments, modelServings, playgrounds} {
		_, err := untyped.ForResource(r).Informer().AddEventHandler(handler(w.scaled, func(*unstructured.Unstructured) {}))
		require.NoError(c.t, err)
	}
	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
	c.t.Cleanup(func() {
		cancel()
		typed.Shutdown()
		untyped.Shutdown()
	})
	return w
}

// handler calls see with every object as it is, and gone when it is deleted.
func handler[T any](see, gone func(T)) cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { see(object.(T)) },
		UpdateFunc: func(_, object any) { see(object.(T)) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			gone(object.(T))
		},
	}
}

func (w *witness) pod(p *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.DeletionTimestamp != nil && p.Spec.NodeName == "" {
		delete(w.held, p.UID) // it holds nothing and will not
	} else {
		w.held[p.UID] = claim{p.Spec.NodeSelector[controlplane.ProductLabel], resource.PodDevices(&p.Spec)}
	}
	w.instants++
	used := map[string]int{}
	for _, claim := range w.held {
		used[claim.product] += claim.devices
	}
	for product, capacity := range w.capacity {
		if used[product] > capacity {
			w.offences = append(w.offences, fmt.Sprintf("%d of %d devices of %s with pod %s", used[product], capacity, product, p.Name))
		}
	}
}

func (w *witness) podGone(p *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, p.UID)
	w.instants++
}

// scaled notes the replicas of what nothing else controls.
func (w *witness) scaled(u *unstructured.Unstructured) {
	replicas, found, err := unstructured.NestedInt64(u.Object, "spec", "replicas")
	if err != nil || !found || len(u.GetOwnerReferences()) > 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	target := u.GetKind() + "/" + u.GetName()
	if from, known := w.replicas[target]; known && from != int(replicas) {
		w.history = append(w.history, transition{change{target, from, int(replicas)}, u.GetResourceVersion()})
	}
	w.replicas[target] = int(replicas)
}

// transitions are the changes of replicas so far.
func (w *witness) transitions() []transition {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.history)
}

// seen are the changes of replicas so far, whatever was made by them.
func (w *witness) seen() []change {
	var all []change
	for _, t := range w.transitions() {
		all = append(all, t.change)
	}
	return all
}

// total is the number of replicas asked for by all targets.
func (w *witness) total() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := 0
	for _, n := range w.replicas {
		total += n
	}
	return total
}

// running counts the devices of an accelerator that pods hold or wait for.
func (w *witness) running(accelerator string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	devices := 0
	for _, claim := range w.held {
		if claim.product == products[accelerator] {
			devices += claim.devices
		}
	}
	return devices
}

// String is the replicas asked for.
func (w *witness) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.replicas)
}

// check fails the test where more devices were asked for than there are, at any instant.
func (w *witness) check(c *cluster) {
	c.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NotZero(c.t, w.instants)
	require.Empty(c.t, w.offences)
}
