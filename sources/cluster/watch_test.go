package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/poolwright/poolwright/sources/cluster"
)

var (
	podKind   = schema.GroupKind{Kind: "Pod"}
	nodeKind  = schema.GroupKind{Kind: "Node"}
	queueKind = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ClusterQueue"}
	pods      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodes     = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	queues    = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta1", Resource: "clusterqueues"}
)

// mapper knows pods and nodes, and ClusterQueues while they are installed. What it knows
// changes when it is reset.
type mapper struct {
	known            atomic.Pointer[meta.DefaultRESTMapper]
	installed, fails atomic.Bool
}

func newMapper() *mapper {
	m := &mapper{}
	m.Reset()
	return m
}

func (m *mapper) Reset() {
	known := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Version: "v1"}, {Group: "kueue.x-k8s.io", Version: "v1beta1"}})
	known.Add(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, meta.RESTScopeNamespace)
	known.Add(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	if m.installed.Load() {
		known.Add(queueKind.WithVersion("v1beta1"), meta.RESTScopeRoot)
	}
	m.known.Store(known)
}

func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if m.fails.Load() {
		return nil, errors.New("connection refused")
	}
	return m.known.Load().RESTMapping(kind, versions...)
}

func newClient(objects ...runtime.Object) *fake.FakeDynamicClient {
	return fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		pods: "PodList", nodes: "NodeList", queues: "ClusterQueueList",
	}, objects...)
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// watching runs a watch in virtual time until the test ends.
func watching(t *testing.T, config cluster.WatchConfig) *cluster.Watch {
	t.Helper()
	w := cluster.NewWatch(config)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
	return w
}

func names(objects []*unstructured.Unstructured) []string {
	var names []string
	for _, o := range objects {
		names = append(names, o.GetNamespace()+"/"+o.GetName())
	}
	return names
}

func TestViewFollowsTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "b", "x"), object("v1", "Pod", "a", "y"), object("v1", "Pod", "a", "x"))
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}})

		before, err := w.View()
		require.NoError(t, err)
		assert.Equal(t, []string{"a/x", "a/y", "b/x"}, names(before.List(podKind)))
		_, ok := before.Get(podKind, "a", "z")
		assert.False(t, ok)

		_, err = client.Resource(pods).Namespace("a").Create(t.Context(), object("v1", "Pod", "a", "z"), metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.Resource(pods).Namespace("a").Delete(t.Context(), "y", metav1.DeleteOptions{}))
		synctest.Wait()

		after, err := w.View()
		require.NoError(t, err)
		assert.Equal(t, []string{"a/x", "a/z", "b/x"}, names(after.List(podKind)))
		z, ok := after.Get(podKind, "a", "z")
		require.True(t, ok)
		assert.Equal(t, "z", z.GetName())
		assert.Equal(t, []string{"a/x", "a/y", "b/x"}, names(before.List(podKind)), "a view never changes")
		assert.Empty(t, after.List(queueKind), "not asked for")
	})
}

func TestViewOfNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "b", "x"), object("v1", "Pod", "a", "x"), object("v1", "Pod", "c", "x"), object("v1", "Node", "", "n"))
		w := watching(t, cluster.WatchConfig{
			Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}, Namespaces: []string{"c", "a"},
		})
		v, err := w.View()
		require.NoError(t, err)
		assert.Equal(t, []string{"a/x", "c/x"}, names(v.List(podKind)))
		assert.Equal(t, []string{"/n"}, names(v.List(nodeKind)), "nodes have no namespace")
	})
}

func TestKindsMayComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, client := newMapper(), newClient(object("v1", "Pod", "a", "x"), object("kueue.x-k8s.io/v1beta1", "ClusterQueue", "", "q"))
		uninstall := installed(client, "clusterqueues")
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: m, Kinds: []schema.GroupKind{podKind, queueKind}})
		v, err := w.View()
		require.NoError(t, err, "a kind that is not installed is no error")
		assert.Empty(t, v.List(queueKind))

		m.installed.Store(true)
		time.Sleep(2 * cluster.DefaultRetry)
		synctest.Wait()
		v, err = w.View()
		require.NoError(t, err)
		assert.Equal(t, []string{"/q"}, names(v.List(queueKind)))

		uninstall()
		m.installed.Store(false)
		synctest.Wait()
		_, err = w.View()
		require.ErrorContains(t, err, "not there any more", "it may be back in a moment")
		time.Sleep(2 * time.Second)
		v, err = w.View()
		require.NoError(t, err, "a kind that is gone is no error")
		assert.Empty(t, v.List(queueKind))
		assert.Equal(t, []string{"a/x"}, names(v.List(podKind)))
	})
}

// installed makes a client answer about a kind, until it is uninstalled.
func installed(client *fake.FakeDynamicClient, resource string) (uninstall func()) {
	var gone atomic.Bool
	open := watch.NewRaceFreeFake()
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: resource}, "")
	client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return gone.Load(), nil, notFound })
	client.PrependWatchReactor(resource, func(clienttesting.Action) (bool, watch.Interface, error) {
		if gone.Load() {
			return true, nil, notFound
		}
		return true, open, nil
	})
	return func() {
		gone.Store(true)
		open.Stop()
	}
}

// What can't be read at first is waited for, and what is out of reach for too long is not
// decided on.
func TestNothingIsDecidedOnWhatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, client := newMapper(), newClient(object("v1", "Pod", "a", "x"))
		m.fails.Store(true)
		server := newOutage(client)
		server.down()
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: m, Kinds: []schema.GroupKind{podKind, queueKind}, MaxAge: 20 * time.Second, Retry: 5 * time.Second})
		_, err := w.View()
		require.ErrorContains(t, err, "Pod: not read yet: connection refused")
		require.ErrorContains(t, err, "ClusterQueue.kueue.x-k8s.io: not read yet: connection refused")
		require.EqualError(t, w.Synced(), err.Error())

		m.fails.Store(false)
		time.Sleep(3 * time.Second)
		_, err = w.View()
		require.ErrorContains(t, err, "Pod: not read yet: ")
		require.ErrorContains(t, w.Synced(), "Pod: not read yet: ")

		server.up()
		time.Sleep(3 * time.Second)
		v, err := w.View()
		require.NoError(t, err)
		require.NoError(t, w.Synced())
		assert.Zero(t, time.Since(v.AsOf()))
		time.Sleep(time.Hour)
		v, err = w.View()
		require.NoError(t, err, "no news is good news while the watch is open")
		assert.Zero(t, time.Since(v.AsOf()))

		server.down()
		m.fails.Store(true)
		time.Sleep(15 * time.Second)
		v, err = w.View()
		require.NoError(t, err)
		assert.Equal(t, 15*time.Second, time.Since(v.AsOf()))
		time.Sleep(10 * time.Second)
		_, err = w.View()
		require.ErrorContains(t, err, "out of touch with the API server for 25s, and nothing is decided after 20s: Pod: connect: connection refused")
		require.NoError(t, w.Synced(), "it was read")

		server.up()
		time.Sleep(4 * time.Second)
		v, err = w.View()
		require.NoError(t, err)
		assert.Zero(t, time.Since(v.AsOf()))
		assert.Equal(t, []string{"a/x"}, names(v.List(podKind)))
	})
}

// What says how many devices there are may be out of bounds; all else may not.
func TestForbiddenKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "a", "x"))
		forbid := func(resource string) {
			client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no role allows it"))
			})
		}
		forbid("nodes")
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}})
		v, err := w.View()
		require.NoError(t, err)
		assert.Empty(t, v.List(nodeKind))
		require.NoError(t, w.Synced())

		forbid("pods")
		w = watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}})
		_, err = w.View()
		require.ErrorContains(t, err, "no role allows it")
		require.ErrorContains(t, w.Synced(), "no role allows it")
	})
}

// What may be listed and not be watched is known, and complained of.
func TestKindsThatMayNotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "a", "p"))
		client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, apierrors.NewForbidden(pods.GroupResource(), "", errors.New("no rule"))
		})
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}})
		time.Sleep(time.Minute)
		_, err := w.View()
		require.NoError(t, err)
		refused := w.Refused()
		require.Len(t, refused, 1)
		require.ErrorContains(t, refused[0], "cluster: Pod: ")
		require.ErrorContains(t, refused[0], "no rule")
	})
}

// An API server that has just come up forbids what it will soon allow: until then what was
// there counts, as in any outage.
func TestKindsForbiddenForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "a", "x"), object("v1", "Node", "", "n"))
		server := newOutage(client)
		var forbidden atomic.Bool
		client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return forbidden.Load(), nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no role allows it"))
		})
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}})
		forbidden.Store(true)
		server.down()
		server.up()
		time.Sleep(10 * time.Second)
		v, err := w.View()
		require.NoError(t, err)
		assert.Len(t, v.List(nodeKind), 1)

		time.Sleep(cluster.DefaultMaxAge)
		v, err = w.View()
		require.NoError(t, err)
		assert.Empty(t, v.List(nodeKind), "it stays so")

		forbidden.Store(false)
		time.Sleep(10 * time.Second)
		v, err = w.View()
		require.NoError(t, err)
		assert.Len(t, v.List(nodeKind), 1)
	})
}

// countingMapper counts how often it is asked.
type countingMapper struct {
	*mapper
	asked atomic.Int64
}

func (m *countingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.asked.Add(1)
	return m.mapper.RESTMapping(kind, versions...)
}

// Who does not answer about one kind is not asked about all the others.
func TestUnreachableServerIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &countingMapper{mapper: newMapper()}
		m.fails.Store(true)
		w := watching(t, cluster.WatchConfig{Client: newClient(), Mapper: m, Kinds: []schema.GroupKind{podKind, nodeKind, queueKind}})
		assert.EqualValues(t, 1, m.asked.Load())
		_, err := w.View()
		require.ErrorContains(t, err, "Pod: not read yet: connection refused")
		require.ErrorContains(t, err, "Node: not read yet: connection refused")
		m.fails.Store(false)
		time.Sleep(3 * time.Second)
		_, err = w.View()
		require.NoError(t, err)
	})
}

// After an outage all kinds are read as soon as the API server has answered about one of them,
// not each after a pause of its own.
func TestWhoIsAnsweredFirstWakesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "a", "x"), object("v1", "Node", "", "n"))
		server := newOutage(client)
		var answered []time.Time
		client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			if !server.isDown.Load() {
				answered = append(answered, time.Now())
			}
			return false, nil, nil
		})
		w := watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind, nodeKind}})
		for range 20 {
			server.down()
			time.Sleep(25 * time.Second)
			answered = nil
			server.up()
			time.Sleep(4 * time.Second)
			v, err := w.View()
			require.NoError(t, err)
			assert.Zero(t, time.Since(v.AsOf()))
			require.Len(t, answered, 2)
			assert.Equal(t, answered[0], answered[1])
		}
	})
}

// outage lets a client reach nothing, from time to time.
type outage struct {
	isDown  atomic.Bool
	watches []*watch.RaceFreeFakeWatcher
}

func newOutage(client *fake.FakeDynamicClient) *outage {
	o := &outage{}
	refused := fmt.Errorf("connect: %w", syscall.ECONNREFUSED)
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return o.isDown.Load(), nil, refused })
	client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
		if o.isDown.Load() {
			return true, nil, refused
		}
		w := watch.NewRaceFreeFake()
		o.watches = append(o.watches, w)
		return true, w, nil
	})
	return o
}

func (o *outage) up() { o.isDown.Store(false) }

func (o *outage) down() {
	o.isDown.Store(true)
	for _, w := range o.watches {
		w.Stop()
	}
	o.watches = nil
}
