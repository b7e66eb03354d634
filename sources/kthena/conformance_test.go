package kthena

import (
	"fmt"
	"os"
	"testing"

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
