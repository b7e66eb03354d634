package resourcetest

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Conformance is what is said of the fields of an API: which there are, which the
// definitions of its resources have, and what a page tells users of each.
type Conformance struct {
	// Repository is the root of the repository, to which the other paths are relative.
	Repository fs.FS
	// Fields is a file with the kind and the path of a field on each line, as the API's
	// reference has them. A list is followed by [] in the paths of what it holds.
	Fields string
	// Definitions are files of CustomResourceDefinitions, in which each field must be.
	Definitions []string
	// Page has a heading for each kind (## `Kind`) and below it a row for each field:
	// | `path` | read | why |, where read may be written, both, or ignored.
	Page string
}

// Check fails the test where the three differ. Definitions may hold more below a field than
// the list does.
func (c *Conformance) Check(t *testing.T) {
	t.Helper()
	fields, rows, defined := c.fields(t), c.rows(t), c.defined(t)
	for kind, paths := range fields {
		for _, path := range paths {
			assert.Contains(t, defined[kind], path, "%s is not in the definition of %s", path, kind)
		}
		assert.ElementsMatch(t, paths, rows[kind], "%s has not one row for each field of %s", c.Page, kind)
		for _, path := range defined[kind] {
			assert.True(t, slices.ContainsFunc(paths, func(field string) bool { return within(path, field) || within(field, path) }),
				"%s is in the definition of %s, and not in %s", path, kind, c.Fields)
		}
	}
	for kind := range rows {
		assert.Contains(t, fields, kind, "%s is in %s only", kind, c.Page)
	}
}

// within tells whether a path is a field or below it.
func within(path, field string) bool {
	rest, found := strings.CutPrefix(path, field)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (c *Conformance) read(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(c.Repository, name)
	require.NoError(t, err)
	return string(text)
}

func (c *Conformance) fields(t *testing.T) map[string][]string {
	t.Helper()
	fields := make(map[string][]string)
	for line := range strings.Lines(c.read(t, c.Fields)) {
		if kind, path, found := strings.Cut(strings.TrimSpace(line), " "); found {
			fields[kind] = append(fields[kind], path)
		}
	}
	require.NotEmpty(t, fields, c.Fields)
	return fields
}

var (
	kindHeading = regexp.MustCompile("^## `(\\w+)`$")
	fieldRow    = regexp.MustCompile("^\\| `([^`]+)` \\| (?:read|written|read, written|ignored) \\| .*\\w.* \\|$")
)

func (c *Conformance) rows(t *testing.T) map[string][]string {
	t.Helper()
	rows := make(map[string][]string)
	kind := ""
	for line := range strings.Lines(c.read(t, c.Page)) {
		line = strings.TrimSpace(line)
		if m := kindHeading.FindStringSubmatch(line); m != nil {
			kind = m[1]
		}
		if m := fieldRow.FindStringSubmatch(line); m != nil {
			rows[kind] = append(rows[kind], m[1])
		}
	}
	return rows
}

// defined are the paths of all fields in the newest version of each definition.
func (c *Conformance) defined(t *testing.T) map[string][]string {
	t.Helper()
	var texts []string
	for _, name := range c.Definitions {
		texts = append(texts, c.read(t, name))
	}
	defined := make(map[string][]string)
	definition := schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	for _, object := range New(t, texts...).List(definition) {
		kind, _, err := unstructured.NestedString(object.Object, "spec", "names", "kind")
		require.NoError(t, err)
		versions, _, err := unstructured.NestedSlice(object.Object, "spec", "versions")
		require.NoError(t, err)
		require.NotEmpty(t, versions, kind)
		version, _ := versions[0].(map[string]any)
		root, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
		require.NoError(t, err)
		for _, part := range []string{"spec", "status"} {
			if of, found, _ := unstructured.NestedMap(root, "properties", part); found {
				defined[kind] = append(defined[kind], below(part, of)...)
			}
		}
	}
	return defined
}

// below are the paths of the fields below one, and its own.
func below(path string, of map[string]any) []string {
	paths := []string{path}
	if items, found, _ := unstructured.NestedMap(of, "items"); found {
		paths = append(paths, below(path+"[]", items)[1:]...)
	}
	properties, _, _ := unstructured.NestedMap(of, "properties")
	for name := range properties {
		if property, ok := properties[name].(map[string]any); ok {
			paths = append(paths, below(path+"."+name, property)...)
		}
	}
	return paths
}
