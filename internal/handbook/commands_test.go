package handbook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/handbook"
)

// commands says of every block of commands in the documentation which test runs it, or why
// none does. A page without a beginning of a block means all of its blocks.
var commands = []struct {
	page, block string
	// test is a file, with what it names the page by.
	test, names string
	// why no test runs it as it stands.
	why string
}{
	{page: "README.md", test: "cmd/poolwright/followed_test.go", names: `"README.md"`},
	{page: "docs/quick-start.md", test: "cmd/poolwright/followed_test.go", names: "quick-start.md"},
	{page: "docs/tutorials/controller.md", test: "cmd/poolwright/followed_test.go", names: "tutorials/controller.md"},
	{page: "docs/tutorials/file.md", test: "cmd/poolwright/followed_test.go", names: "tutorials/file.md"},
	{page: "docs/alerts.md", test: "test/e2e/tutorials_test.go", names: `"../../docs/alerts.md"`},
	{page: "docs/tutorials/deployments.md", test: "test/e2e/tutorials_test.go", names: `"deployments.md"`},
	{page: "docs/tutorials/keda.md", test: "test/e2e/tutorials_test.go", names: `"keda.md"`},
	{page: "docs/tutorials/kthena.md", test: "test/e2e/tutorials_test.go", names: `"kthena.md"`},
	{page: "docs/tutorials/llmaz.md", test: "test/e2e/tutorials_test.go", names: `"llmaz.md"`},
	{page: "docs/tutorials/llmd.md", test: "test/e2e/tutorials_test.go", names: `"llmd.md"`},
	{page: "docs/api.md", test: "tools/first-run.sh", names: "docs/api.md"},
	{page: "docs/calibration.md", test: "cmd/poolwright/followed_test.go", names: "calibration.md"},
	{page: "docs/explain.md", test: "cmd/poolwright/docs_test.go", names: "explain.md"},
	{page: "docs/fleet.md", test: "cmd/poolwright/followed_test.go", names: "fleet.md"},
	{page: "docs/strategies.md", test: "cmd/poolwright/docs_test.go", names: "strategies.md"},
	{page: "docs/what-if.md", block: "poolwright", test: "cmd/poolwright/docs_test.go", names: "what-if.md"},
	{page: "docs/what-if.md", block: "kubectl", test: "test/e2e/sweep_test.go", names: "deploy/sweep"},
	{page: "docs/what-if.md", block: "curl", test: "tools/first-run.sh", names: "docs/what-if.md"},
	{page: "docs/serve.md", test: "test/e2e/tutorials_test.go", names: `"../../docs/serve.md"`},
	{page: "docs/install.md", block: "make image", why: "it needs an engine for containers; test/packaging/image_test.go checks the Dockerfile"},
	{page: "docs/install.md", block: "make dist", test: "test/packaging/dist_test.go", names: "tools/dist.sh"},
	{page: "docs/install.md", test: "test/packaging/install_test.go", names: "install.md"},
	{page: "docs/ledger.md", block: "poolwright serve", test: "cmd/poolwright/ledger_test.go", names: "ledger.md"},
	{page: "docs/ledger.md", block: "jq", why: "jq is not among the tools of the tests; what it reads is tested in controller/ledger"},
	{page: "docs/inferno-system.md", why: "system.json is the reader's own; strategies.md shows the command with a file of ours"},
	{page: "docs/model.md", why: "it needs measurements that are not part of the repository; `make accuracy` runs the program"},
	{page: "docs/benchmarks.md", why: "commands of load generators, which `make bench` runs"},
	{page: "docs/solver-benchmarks.md", why: "commands of other solvers, which `make bench-solver` runs"},
	{page: "docs/server.md", test: "cmd/poolwright/followed_test.go", names: "server.md"},
	{page: "CONTRIBUTING.md", why: "the targets that run the tests themselves"},
}

// Every block of commands in the documentation is run by a test, or it is said here why not.
func TestEveryCommandIsRun(t *testing.T) {
	used := map[int]bool{}
	for page, text := range pages(t) {
		for _, step := range handbook.Steps(text) {
			found := false
			for i, c := range commands {
				if c.page == page && strings.HasPrefix(step.Commands, c.block) {
					used[i], found = true, true
					break
				}
			}
			assert.True(t, found, "%s:%d: no test runs it:\n%s", page, step.Line, step.Commands)
		}
	}
	for i, c := range commands {
		assert.True(t, used[i], "%s has no block %q", c.page, c.block)
		if c.test == "" {
			assert.NotEmpty(t, c.why, c.page)
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, c.test))
		require.NoError(t, err)
		assert.Contains(t, string(text), c.names, "%s runs %s", c.test, c.page)
	}
}

// Commands stand in blocks marked sh, and nothing else does: other blocks hold no prompts.
func TestNoPrompts(t *testing.T) {
	prompt := regexp.MustCompile(`(?m)^\$ `)
	for page, text := range pages(t) {
		for _, b := range handbook.Blocks(text) {
			assert.NotContains(t, []string{"bash", "shell", "console"}, b.Language, "%s:%d", page, b.Line)
			assert.False(t, prompt.MatchString(b.Text), "%s:%d", page, b.Line)
		}
	}
}
