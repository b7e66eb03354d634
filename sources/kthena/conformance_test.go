package kthena

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

func TestEveryFieldIsAccountedFor(t *testing.T) {
	for api, kinds := range map[string][]string{
		"workload":   {"autoscalingpolicies", "autoscalingpolicybindings", "modelboosters", "modelservings"},
		"networking": {"modelroutes", "modelservers"},
	} {
		for _, release := range []string{"v0.1", "v0.4", "v1.0"} {
			name := api + "-" + release
			c := resourcetest.Conformance{
				Repository: os.DirFS("../.."),
				Fields:     "sources/kthena/testdata/fields/" + name + ".txt",
				Page:       "docs/conformance/kthena-" + name + ".md",
			}
			for _, kind := range kinds {
				if release == "v1.0" && kind == "autoscalingpolicybindings" {
					continue
				}
				c.Definitions = append(c.Definitions, fmt.Sprintf("deploy/crds/kthena-%s/%s.serving.volcano.sh_%s.yaml", release, api, kind))
			}
			t.Run(name, c.Check)
		}
	}
}

// The page of each release lists every reason and condition that it can have, and no others.
func TestEveryReasonIsAccountedFor(t *testing.T) {
	of := []string{
		resource.Malformed, resource.InvalidSpec, PolicyNotFound, TargetNotFound, TargetUnsupported, resource.DuplicateOwnership,
		resource.DuplicateName, resource.EngineUnsupported, PolicyIgnored, RateLimited,
	}
	for _, release := range []string{"v0.1", "v0.4", "v1.0"} {
		want := slices.Clone(of)
		if release == "v1.0" { // without bindings and backends with policies of their own
			want = slices.DeleteFunc(want, func(reason string) bool { return reason == PolicyNotFound || reason == PolicyIgnored })
		}
		page, err := fs.ReadFile(os.DirFS("../../docs/conformance"), "kthena-workload-"+release+".md")
		require.NoError(t, err)
		_, table, found := strings.Cut(string(page), "| reason, condition | meaning |\n|---|---|\n")
		require.True(t, found, release)
		table, _, _ = strings.Cut(table, "\n\n")
		var listed []string
		for row := range strings.Lines(table) {
			names, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
			for name := range strings.SplitSeq(names, ", ") {
				listed = append(listed, strings.Trim(name, "`"))
			}
		}
		assert.Equal(t, want, listed, release)
	}
}
