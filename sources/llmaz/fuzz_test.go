package llmaz

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/resource"
)

// list is a view of objects in the order in which they are.
type list []*unstructured.Unstructured

func (l list) List(kind schema.GroupKind) []*unstructured.Unstructured {
	var of []*unstructured.Unstructured
	for _, o := range l {
		if o.GroupVersionKind().GroupKind() == kind {
			of = append(of, o)
		}
	}
	return of
}

func (l list) Get(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, bool) {
	i := slices.IndexFunc(l, func(o *unstructured.Unstructured) bool {
		return o.GroupVersionKind().GroupKind() == kind && o.GetNamespace() == namespace && o.GetName() == name
	})
	if i < 0 {
		return nil, false
	}
	return l[i], true
}

// Whatever objects hold, each Playground and Service is read or skipped, what is read is in
// range, and reading again gives the same.
func FuzzRead(f *testing.F) {
	f.Add(seed(f, examples(f)...))
	f.Add(seed(f, twoPlaygrounds))
	f.Fuzz(func(t *testing.T, text string) {
		var objects []map[string]any
		if json.Unmarshal([]byte(text), &objects) != nil {
			return
		}
		view := list{}
		for _, o := range objects {
			if o["apiVersion"] != nil && o["kind"] != nil {
				view = append(view, &unstructured.Unstructured{Object: o})
			}
		}
		workloads, skipped := Reader{}.Read(view)
		again, skippedAgain := Reader{}.Read(view)
		assert.Equal(t, workloads, again)
		assert.Equal(t, skipped, skippedAgain)
		for i := range workloads {
			assert.NotEmpty(t, workloads[i].Declared)
			for j := range workloads[i].Declared {
				checkVariant(t, &workloads[i].Declared[j])
			}
		}
	})
}

// seed is YAML documents as a list in JSON.
func seed(t testing.TB, texts ...string) string {
	t.Helper()
	var objects []string
	for _, text := range texts {
		for document := range strings.SplitSeq(text, "\n---\n") {
			object, err := yaml.ToJSON([]byte(document))
			require.NoError(t, err)
			objects = append(objects, string(object))
		}
	}
	return "[" + strings.Join(objects, ",") + "]"
}

func checkVariant(t *testing.T, v *resource.Variant) {
	t.Helper()
	assert.GreaterOrEqual(t, v.DevicesPerReplica, 0)
	assert.GreaterOrEqual(t, v.NodesPerReplica, 0)
	assert.GreaterOrEqual(t, v.CurrentReplicas, 0)
	assert.GreaterOrEqual(t, v.MinReplicas, 1)
	assert.GreaterOrEqual(t, v.StartupLimit, time.Duration(0))
	if v.MaxReplicas.Limited {
		assert.GreaterOrEqual(t, v.MaxReplicas.Value, v.MinReplicas)
	}
}
