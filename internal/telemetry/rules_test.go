package telemetry_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/poolwright/poolwright/planner"
)

// rules are those of deploy/prometheus.
type rules struct {
	Groups []struct {
		Rules []struct {
			Alert, Record, Expr string
			Annotations         map[string]string
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile("../../" + path) //nolint:gosec // a file of this repository
	require.NoError(t, err)
	return string(content)
}

// Rules look at metrics and conditions that there are, each alert has a section that says
// what to do, and a test that it fires.
func TestRules(t *testing.T) {
	var all rules
	require.NoError(t, yaml.Unmarshal([]byte(text(t, "deploy/prometheus/rules.yaml")), &all))
	metrics, page, tests := text(t, "docs/metrics.md"), text(t, "docs/alerts.md"), text(t, "deploy/prometheus/rules_test.yaml")
	conditions := []string{"OwnershipConflict"}
	for _, c := range []planner.ConditionType{
		planner.DemandUnknown, planner.DemandIncomplete, planner.LengthsUnknown, planner.ExternalChange,
		planner.ProfileMissing, planner.ProfileDoubtful, planner.SLOInfeasible,
	} {
		conditions = append(conditions, string(c))
	}
	alerts := 0
	for _, group := range all.Groups {
		for _, rule := range group.Rules {
			for _, name := range regexp.MustCompile(`poolwright_[a-z_]+`).FindAllString(rule.Expr, -1) {
				name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
				assert.Contains(t, metrics, "| `"+name+"` |", "%s%s", rule.Alert, rule.Record)
			}
			for _, named := range regexp.MustCompile(`condition="([A-Za-z]+)"`).FindAllStringSubmatch(rule.Expr, -1) {
				assert.Contains(t, conditions, named[1], rule.Alert)
			}
			if rule.Alert == "" {
				continue
			}
			alerts++
			assert.Contains(t, page, "\n### "+rule.Alert+"\n")
			assert.Equal(t, "docs/alerts.md#"+strings.ToLower(rule.Alert), rule.Annotations["runbook_url"])
			assert.NotEmpty(t, rule.Annotations["summary"])
			assert.Regexp(t, `alertname: `+rule.Alert+`\n\s+exp_alerts:\n\s+- `, tests, "a test in which it fires")
		}
	}
	assert.Equal(t, alerts, strings.Count(page, "\n### "), "sections without an alert")
}
