package cluster_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources/cluster"
	"github.com/poolwright/poolwright/sources/overlay"
)

// counter reads a workload out of every pod, and counts how often.
type counter struct{ reads int }

func (*counter) Kinds() []schema.GroupKind { return []schema.GroupKind{podKind} }

func (c *counter) Read(v resource.View) ([]resource.Workload, []resource.Skipped) {
	c.reads++
	var all []resource.Workload
	for _, object := range v.List(podKind) {
		w := resource.Workload{Object: resource.ReferenceTo(object)}
		w.Namespace, w.Name = object.GetNamespace(), object.GetName()
		w.Declared = []resource.Variant{{
			Variant: planner.Variant{Name: "v", DevicesPerReplica: 1, Capacity: 1}, Accelerator: "H100", Target: w.Object,
		}}
		all = append(all, w)
	}
	return all, nil
}

func (*counter) Patches(resource.View, *resource.Workload, *resource.Outcome) []resource.Patch {
	return nil
}

// The fleet is made anew when something has changed, be it in the cluster or in the
// configuration, and then only.
func TestFleetIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(object("v1", "Pod", "a", "x"))
		r := &counter{}
		watch := watching(t, cluster.WatchConfig{Client: client, Mapper: newMapper(), Kinds: []schema.GroupKind{podKind}})
		o := newOverlay(t)
		c := cluster.New(cluster.Config{Watch: watch, Readers: []resource.Reader{r}, Overlay: func() *overlay.Overlay { return o }})
		fleet := func() int {
			f, _, err := c.Fleet(t.Context())
			require.NoError(t, err)
			return len(f.Workloads)
		}
		assert.Equal(t, 1, fleet())
		assert.Equal(t, 1, fleet())
		assert.Equal(t, 1, r.reads)

		created, err := client.Resource(pods).Namespace("a").Create(t.Context(), object("v1", "Pod", "a", "w"), metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, 2, fleet())
		assert.Equal(t, 2, r.reads)

		created.SetLabels(map[string]string{"a": "b"})
		_, err = client.Resource(pods).Namespace("a").Update(t.Context(), created, metav1.UpdateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, 2, fleet())
		assert.Equal(t, 3, r.reads)

		o = newOverlay(t)
		assert.Equal(t, 2, fleet())
		assert.Equal(t, 4, r.reads)
	})
}

func TestFleetOfAWatchThatHasSeenNothing(t *testing.T) {
	watch := cluster.NewWatch(cluster.WatchConfig{Client: newClient(), Mapper: newMapper(), Kinds: []schema.GroupKind{podKind}})
	_, _, err := cluster.New(cluster.Config{Watch: watch}).Fleet(t.Context())
	require.ErrorContains(t, err, "Pod: not read yet: not asked for yet")
}

func newOverlay(t *testing.T) *overlay.Overlay {
	t.Helper()
	o, err := overlay.New(&poolwrightv1.Overlay{})
	require.NoError(t, err)
	return o
}
