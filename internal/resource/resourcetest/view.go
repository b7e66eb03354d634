package resourcetest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/poolwright/poolwright/internal/resource"
)

// View is a cluster in memory. It implements [resource.View].
type View struct {
	objects map[name]*unstructured.Unstructured
}

type name struct {
	schema.GroupKind
	namespace, name string
}

// New returns the view of the objects in texts of YAML documents. An object that is given
// twice is that of the later document. Objects without a resource version get one.
func New(t testing.TB, texts ...string) *View {
	t.Helper()
	v := &View{objects: make(map[name]*unstructured.Unstructured)}
	for _, text := range texts {
		v.Add(t, text)
	}
	return v
}

// Add adds the objects in a text of YAML documents.
func (v *View) Add(t testing.TB, text string) {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), len(text)+1)
	for {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if len(raw.Raw) == 0 || bytes.Equal(raw.Raw, []byte("null")) {
			continue
		}
		var object unstructured.Unstructured
		require.NoError(t, object.UnmarshalJSON(raw.Raw))
		require.NotEmpty(t, object.GetName(), "%s without a name", object.GetKind())
		v.AddObject(&object)
	}
}

// AddObject adds one object.
func (v *View) AddObject(object *unstructured.Unstructured) {
	if object.GetResourceVersion() == "" {
		object.SetResourceVersion("1")
	}
	v.objects[nameOf(object)] = object
}

func nameOf(o *unstructured.Unstructured) name {
	return name{o.GroupVersionKind().GroupKind(), o.GetNamespace(), o.GetName()}
}

// List returns the objects of a kind, by namespace and name.
func (v *View) List(kind schema.GroupKind) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, o := range v.objects {
		if o.GroupVersionKind().GroupKind() == kind {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return list
}

// Get returns one object; false if there is none.
func (v *View) Get(kind schema.GroupKind, namespace, object string) (*unstructured.Unstructured, bool) {
	o, ok := v.objects[name{kind, namespace, object}]
	return o, ok
}

// Apply changes an object as the API server would: the patch must be of the version that
// is there, and a patch of the status changes nothing else.
func (v *View) Apply(t testing.TB, p resource.Patch) {
	t.Helper()
	at := name{p.Object.GroupKind(), p.Object.Namespace, p.Object.Name}
	old := v.objects[at]
	require.NotNil(t, old, "%v does not exist", p.Object)
	require.Equal(t, old.GetResourceVersion(), p.ResourceVersion, "%v", p.Object)
	require.NotContains(t, p.Merge, "metadata")
	change := p.Merge
	if p.Subresource == "status" {
		change = map[string]any{"status": p.Merge["status"]}
	}
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(merge(old.Object, change))}
	version, err := strconv.Atoi(old.GetResourceVersion())
	require.NoError(t, err)
	object.SetResourceVersion(strconv.Itoa(version + 1))
	v.objects[at] = object
}

// merge is a JSON merge patch (RFC 7386).
func merge(old, change map[string]any) map[string]any {
	merged := maps.Clone(old)
	if merged == nil {
		merged = make(map[string]any)
	}
	for key, value := range change {
		switch inner, isMap := value.(map[string]any); {
		case value == nil:
			delete(merged, key)
		case isMap:
			before, _ := old[key].(map[string]any)
			merged[key] = merge(before, inner)
		default:
			merged[key] = value
		}
	}
	return merged
}
