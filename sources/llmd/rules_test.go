package llmd_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

// schemaOf returns the schema of the objects, as the definition has it.
func schemaOf(t testing.TB) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../" + definition)
	require.NoError(t, err)
	list := resourcetest.New(t, string(text)).List(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"})
	require.Len(t, list, 1)
	versions, _, err := unstructured.NestedSlice(list[0].Object, "spec", "versions")
	require.NoError(t, err)
	version := versions[0].(map[string]any)
	require.Equal(t, "v1alpha1", version["name"])
	return version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
}

// statusSchema is the part for the status.
func statusSchema(t testing.TB) map[string]any {
	t.Helper()
	return schemaOf(t)["properties"].(map[string]any)["status"].(map[string]any)
}

// violations are the rules of a schema that a value breaks, and the fields that it does not
// have, which an API server would drop.
func violations(path string, of map[string]any, value any) (all []string) {
	fail := func(format string, arguments ...any) { all = append(all, path+": "+fmt.Sprintf(format, arguments...)) }
	switch v := value.(type) {
	case map[string]any:
		required, _, _ := unstructured.NestedStringSlice(of, "required")
		for _, name := range required {
			if v[name] == nil {
				fail("has no %s", name)
			}
		}
		for name, inner := range v {
			field, found, _ := unstructured.NestedMap(of, "properties", name)
			if !found {
				fail("%s is unknown", name)
				continue
			}
			all = append(all, violations(path+"."+name, field, inner)...)
		}
	case []any:
		items, _, _ := unstructured.NestedMap(of, "items")
		for _, inner := range v {
			all = append(all, violations(path+"[]", items, inner)...)
		}
	case string:
		if pattern, ok := of["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
			fail("%q does not match %s", v, pattern)
		}
		if least, ok := of["minLength"].(int64); ok && int64(len(v)) < least {
			fail("%q is too short", v)
		}
		if of["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, v); err != nil {
				fail("%v", err)
			}
		}
	case int64:
		if least, ok := of["minimum"].(int64); ok && v < least {
			fail("%d < %d", v, least)
		}
	}
	if kind := map[string]string{"map[string]interface {}": "object", "[]interface {}": "array", "int64": "integer", "bool": "boolean", "string": "string"}[fmt.Sprintf("%T", value)]; kind != of["type"] {
		fail("is %q, not %q", kind, of["type"])
	}
	return all
}

func TestViolations(t *testing.T) {
	status := statusSchema(t)
	require.Empty(t, violations("status", status, map[string]any{"actuation": map[string]any{"applied": true}}))
	found := violations("status", status, map[string]any{
		"actuation":             map[string]any{},
		"currentAlloc":          map[string]any{"itlAverage": "-1.00", "numReplicas": int64(-1), "load": "much"},
		"desiredOptimizedAlloc": map[string]any{"accelerator": "L", "numReplicas": int64(1), "lastRunTime": "now", "other": true},
	})
	slices.Sort(found)
	require.Equal(t, []string{
		"status.actuation: has no applied",
		`status.currentAlloc.itlAverage: "-1.00" does not match ^\d+(\.\d+)?$`,
		`status.currentAlloc.load: is "string", not "object"`,
		"status.currentAlloc.numReplicas: -1 < 0",
		`status.desiredOptimizedAlloc.accelerator: "L" is too short`,
		`status.desiredOptimizedAlloc.lastRunTime: parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"`,
		"status.desiredOptimizedAlloc: other is unknown",
	}, found)
}
