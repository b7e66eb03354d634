package llmaz

import (
	"os"
	"testing"

	"github.com/poolwright/poolwright/internal/resource/resourcetest"
)

func TestEveryFieldIsAccountedFor(t *testing.T) {
	root := os.DirFS("../..")
	for name, c := range map[string]resourcetest.Conformance{
		"core": {
			Repository: root, Fields: "sources/llmaz/testdata/fields/core.txt",
			Definitions: []string{"deploy/crds/llmaz.io_openmodels.yaml"},
			Page:        "docs/conformance/llmaz-core.md",
		},
		"inference": {
			Repository: root, Fields: "sources/llmaz/testdata/fields/inference.txt",
			Definitions: []string{
				"deploy/crds/inference.llmaz.io_playgrounds.yaml", "deploy/crds/inference.llmaz.io_services.yaml",
				"deploy/crds/inference.llmaz.io_backendruntimes.yaml",
			},
			Page: "docs/conformance/llmaz-inference.md",
		},
	} {
		t.Run(name, c.Check)
	}
}
