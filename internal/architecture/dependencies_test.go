package architecture

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const dependencies = "docs/dependencies.md"

// toolModules are the go.mod files that only require tools.
var toolModules = []string{"test/controlplane/go.mod", "tools/go.mod", "tools/lint/go.mod", "tools/load/go.mod", "tools/packaging/go.mod"}

// testModules are the go.mod files of modules of tests alone. Only what they are there for
// has a reason.
var testModules = []string{"test/keda/go.mod", "test/web/go.mod"}

// requirement is one line of a go.mod file's require blocks.
type requirement struct {
	module, version string
	indirect        bool
}

var requirementLine = regexp.MustCompile(`^(?:require )?\s*([^\s()]+\.[^\s()]+) (v[^\s]+)( // indirect)?$`)

// requirements reads a go.mod file.
func requirements(t *testing.T, name string) []requirement {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	require.NoError(t, err)
	var all []requirement
	for line := range strings.Lines(string(text)) {
		if m := requirementLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			all = append(all, requirement{m[1], m[2], m[3] != ""})
		}
	}
	require.NotEmpty(t, all, name)
	return all
}

var toolLine = regexp.MustCompile(`(?m)^(?:tool )?\s+([^\s()]+/[^\s()]+)$`)

// tools reads the tool directives of a go.mod file.
func tools(t *testing.T, name string) []string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	require.NoError(t, err)
	var all []string
	for _, m := range toolLine.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\ntool ", "\ntool  "), -1) {
		all = append(all, m[1])
	}
	require.NotEmpty(t, all, name)
	return all
}

func TestEveryDependencyHasAReason(t *testing.T) {
	text, err := fs.ReadFile(root, dependencies)
	require.NoError(t, err)
	documented := string(text)

	for _, r := range requirements(t, "go.mod") {
		if !r.indirect {
			assert.Contains(t, documented, "| `"+r.module+"` |", "%s: no reason for %s", dependencies, r.module)
		}
	}
	for _, name := range toolModules {
		for _, tool := range tools(t, name) {
			assert.Contains(t, documented, "| `"+tool+"` |", "%s: no reason for %s of %s", dependencies, tool, name)
		}
	}
}

func TestEveryReasonHasADependency(t *testing.T) {
	present := map[string]bool{}
	for _, name := range slices.Concat([]string{"go.mod"}, testModules, toolModules) {
		for _, r := range requirements(t, name) {
			present[r.module] = true
		}
	}
	for _, name := range toolModules {
		for _, tool := range tools(t, name) {
			present[tool] = true
		}
	}
	text, err := fs.ReadFile(root, dependencies)
	require.NoError(t, err)
	documented := regexp.MustCompile("(?m)^\\| `([^`]+/[^`]+)` \\|").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, documented)
	for _, m := range documented {
		assert.True(t, present[m[1]], "%s: no go.mod requires %s", dependencies, m[1])
	}
}

// What is generated and vendored must fit the libraries that it is compiled with.
func TestToolsFitLibraries(t *testing.T) {
	version := func(file, module string) string {
		for _, r := range requirements(t, file) {
			if r.module == module {
				return r.version
			}
		}
		require.Fail(t, "missing", "%s does not require %s", file, module)
		return ""
	}
	for _, module := range []string{
		"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go",
		"github.com/grpc-ecosystem/grpc-gateway/v2",
		"google.golang.org/protobuf",
	} {
		assert.Equal(t, version("go.mod", module), version("tools/go.mod", module), module)
	}
}
