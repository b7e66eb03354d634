package llmd_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

const definition = "deploy/crds/llmd.ai_variantautoscalings.yaml"

func TestEveryFieldIsAccountedFor(t *testing.T) {
	conformance := resourcetest.Conformance{
		Repository: os.DirFS("../.."), Fields: "sources/llmd/testdata/fields.txt",
		Definitions: []string{definition}, Page: "docs/conformance/llmd.md",
	}
	conformance.Check(t)
}

// TestDefinitionKeepsTheRulesOfTheReference: testdata/seed.txt has the fields of the first
// shape with their types and rules, as the API reference lists them.
func TestDefinitionKeepsTheRulesOfTheReference(t *testing.T) {
	root := schemaOf(t)
	seed, err := os.ReadFile("testdata/seed.txt")
	require.NoError(t, err)
	fields, err := os.ReadFile("testdata/fields.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(seed)) {
		words := strings.Fields(line)
		path, kind, rules := words[0], words[1], words[2:]
		field, required := find(t, root, path)
		assert.Equal(t, kind, field["type"], path)
		for _, rule := range rules {
			name, value, _ := strings.Cut(rule, "=")
			if name == "required" {
				assert.True(t, required, path)
				continue
			}
			assert.Equal(t, value, fmt.Sprint(field[name]), "%s of %s", name, path)
		}
		if kind != "object" && kind != "array" {
			assert.Contains(t, string(fields), "VariantAutoscaling "+path+"\n")
		}
	}
}

// find returns the schema of a field, and whether its parent requires it.
func find(t *testing.T, root map[string]any, path string) (field map[string]any, required bool) {
	t.Helper()
	field = root
	for name := range strings.SplitSeq(path, ".") {
		name, list := strings.CutSuffix(name, "[]")
		names, _, _ := unstructured.NestedStringSlice(field, "required")
		required = slices.Contains(names, name)
		var found bool
		var err error
		field, found, err = unstructured.NestedMap(field, "properties", name)
		require.NoError(t, err)
		require.True(t, found, "%s: no %s", path, name)
		if list {
			field, found, err = unstructured.NestedMap(field, "items")
			require.NoError(t, err)
			require.True(t, found, path)
		}
	}
	return field, required
}
