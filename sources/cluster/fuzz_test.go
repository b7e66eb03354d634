package cluster

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// FuzzRead reads an object that may be anything, among others that are what they should be.
func FuzzRead(f *testing.F) {
	around := []string{
		nodeOf("n1", h100, 8, ""), deployment("a", "x", 2, onH100+", "+queueLabel+": lq"), podOf("a", "x-1", "r-a-x", "n1", "ready"), dynamicDevices,
	}
	for _, text := range append(around, autoscaler) {
		for document := range strings.SplitSeq(text, "\n---\n") {
			if data, err := yaml.ToJSON([]byte(document)); err == nil {
				f.Add(data)
			}
		}
	}
	f.Add([]byte(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"LocalQueue","metadata":{"namespace":"a","name":"lq"},"spec":{"clusterQueue":"cq"}}`))
	f.Add([]byte(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":{"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"nvidia.com/gpu","nominalQuota":6}]}]}]}}`))
	f.Add([]byte(`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"namespace":"a","name":"q"},"spec":{"hard":{"requests.nvidia.com/gpu":"10"}}}`))
	v := viewOf(f, around...)
	f.Fuzz(func(t *testing.T, data []byte) {
		u := &unstructured.Unstructured{}
		if u.UnmarshalJSON(data) != nil || u.IsList() {
			return
		}
		e, err := read(u)
		if err != nil {
			return // the API server would not have taken it
		}
		with := &View{asOf: v.asOf, kinds: maps.Clone(v.kinds)}
		kind := u.GroupVersionKind().GroupKind()
		with.kinds[kind] = newListing(insert(v.entries(kind), e))
		s := snapshotOf(t, with, "")
		for i := range s.fleet.Pools {
			p := &s.fleet.Pools[i]
			assert.GreaterOrEqual(t, p.Capacity.Value, 0)
			for _, q := range p.Quotas {
				assert.GreaterOrEqual(t, q.Devices, 0)
			}
		}
	})
}

// insert enters an object in its place.
func insert(entries []*entry, e *entry) []*entry {
	at, _ := slices.BinarySearchFunc(entries, e, func(a, b *entry) int { return a.compare(b.namespace, b.name) })
	return slices.Insert(slices.Clone(entries), at, e)
}
