package kthena

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// definitions are the CustomResourceDefinitions of a release, by name.
func definitions(t *testing.T, release string) map[string]map[string]any {
	t.Helper()
	files := os.DirFS("../../deploy/crds/kthena-" + release)
	names, err := fs.Glob(files, "*.yaml")
	require.NoError(t, err)
	found := make(map[string]map[string]any)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		var definition map[string]any
		require.NoError(t, yaml.Unmarshal(text, &definition))
		found[field[string](t, definition, "metadata", "name")] = definition
	}
	return found
}

// field is what a document has at a path; zero where it has nothing.
func field[T any](t *testing.T, document map[string]any, path ...string) T {
	t.Helper()
	var none T
	var at any = document
	for _, name := range path {
		if list, ok := at.([]any); ok {
			at = list[0]
		}
		at = at.(map[string]any)[name]
		if at == nil {
			return none
		}
	}
	return at.(T)
}

// vectors are what releases of Kthena check: by release, definition and path.
func vectors(t *testing.T) map[string]map[string]struct {
	Scope        string
	Subresources map[string]any
	Rules        map[string]map[string]any
} {
	t.Helper()
	text, err := os.ReadFile("testdata/crd_validation.json")
	require.NoError(t, err)
	var v map[string]map[string]struct {
		Scope        string
		Subresources map[string]any
		Rules        map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

// Our definitions check exactly what those of Kthena's releases do, no more and no less.
func TestDefinitionsCheckWhatKthenaDoes(t *testing.T) {
	for of, release := range map[string]string{"seed-v0.1": "v0.1", "v0.4": "v0.4"} {
		ours, theirs := definitions(t, release), vectors(t)[of]
		require.ElementsMatch(t, slices.Collect(maps.Keys(theirs)), slices.Collect(maps.Keys(ours)))
		for name, want := range theirs {
			t.Run(release+"/"+name, func(t *testing.T) {
				definition := ours[name]
				require.Equal(t, want.Scope, field[string](t, definition, "spec", "scope"))
				require.Equal(t, want.Subresources, field[map[string]any](t, definition, "spec", "versions", "subresources"))
				rules := make(map[string]map[string]any)
				schema := field[map[string]any](t, definition, "spec", "versions", "schema", "openAPIV3Schema")
				collectRules(rules, "spec", property(schema, "spec"), false)
				// The vectors leave out the fields of pods.
				maps.DeleteFunc(rules, func(path string, _ map[string]any) bool {
					return strings.HasSuffix(path, ".entryTemplate") || strings.HasSuffix(path, ".env[].name")
				})
				require.Equal(t, printed(t, want.Rules), printed(t, rules))
			})
		}
	}
}

// printed has a line for each path.
func printed(t *testing.T, rules map[string]map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(rules)) {
		text, err := json.Marshal(rules[path])
		require.NoError(t, err)
		fmt.Fprintf(&b, "%s %s\n", path, text)
	}
	return b.String()
}

// collectRules are the values and limits that a schema has, by path: [] is an item, {} a
// value. What only has a type is left out.
func collectRules(rules map[string]map[string]any, path string, schema map[string]any, required bool) {
	rule := map[string]any{}
	for key, value := range schema {
		if !slices.Contains([]string{
			"description", "type", "properties", "required", "items", "additionalProperties", "anyOf", "x-kubernetes-preserve-unknown-fields",
		}, key) {
			rule[key] = value
		}
	}
	if required {
		rule["required"] = true
	}
	if len(rule) > 0 {
		rule["type"] = schema["type"]
		rules[path] = rule
	}
	names, _ := schema["required"].([]any)
	for name := range properties(schema) {
		collectRules(rules, path+"."+name, property(schema, name), slices.Contains(names, any(name)))
	}
	if items, ok := schema["items"].(map[string]any); ok {
		collectRules(rules, path+"[]", items, false)
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		collectRules(rules, path+"{}", values, false)
	}
}

func properties(schema map[string]any) map[string]any {
	p, _ := schema["properties"].(map[string]any)
	return p
}

func property(schema map[string]any, name string) map[string]any {
	p, _ := properties(schema)[name].(map[string]any)
	return p
}
