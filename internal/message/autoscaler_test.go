package message_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/policy/saturation"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// autoscalersOf reads the autoscalers of a simulation.
func autoscalersOf(t *testing.T, list string) []*poolwrightv1.Autoscaler {
	t.Helper()
	var m poolwrightv1.Simulation
	require.NoError(t, document.Unmarshal([]byte("autoscalers: "+list), &m))
	return m.GetAutoscalers()
}

// Kinds without settings are what the kinds are by default, and have their names.
func TestAutoscalerDefaults(t *testing.T) {
	all, err := message.Autoscalers(autoscalersOf(t, `[
  {poolwright: {}}, {hpa: {}}, {hpa: {metric: KV_USAGE}}, {hpa: {metric: CONCURRENCY}}, {kpa: {}}, {kthena: {}},
  {kthenaHeterogeneous: {}}, {saturation: {}}, {inferno: {}}, {static: {}}, {clairvoyant: {}}]`))
	require.NoError(t, err)
	kinds := autoscaler.Kinds()
	require.Len(t, all, len(kinds))
	for i, a := range all {
		assert.Equal(t, kinds[i], a.Settings)
		assert.Equal(t, kinds[i].Name(), a.Name)
		assert.NoError(t, a.Settings.Validate())
	}
}

// Every field, with a value that is no default.
func TestAutoscalerSettings(t *testing.T) {
	all, err := message.Autoscalers(autoscalersOf(t, `
- {name: ours, poolwright: {}}
- {hpa: {metric: CONCURRENCY, target: 32, policy: {downscaleStabilization: 1m}}}
- {kpa: {target: 20, policy: {stableWindow: 120s}}}
- {kthena: {metric: KV_USAGE, target: 0.5, policy: {behavior: {scaleDown: {period: 30s}}}}}
- {kthenaHeterogeneous: {metric: CONCURRENCY, target: 64, policy: {behavior: {scaleDown: {period: 30s}}}, costExpansionRatePercent: 100}}
- {saturation: {kvCacheThreshold: 0.7, queueLengthThreshold: 4, kvSpareTrigger: 0.2, queueSpareTrigger: 1, interval: 30s}}
- {inferno: {interval: 90s, saturationPolicy: ROUND_ROBIN, delayedBestEffort: true}}`))
	require.NoError(t, err)

	h := autoscaler.DefaultHPA(autoscaler.Concurrency)
	h.Target, h.Policy = 32, hpa.DefaultConfig()
	h.Policy.DownscaleStabilization = time.Minute
	kpa := autoscaler.DefaultKPA()
	kpa.Policy.Target, kpa.Policy.StableWindow = 20, 2*time.Minute
	down, _ := kthena.SectionDefaults()
	down.Period = 30 * time.Second
	k := autoscaler.DefaultKthena(autoscaler.KVUsage)
	k.Target, k.Policy.ScaleDown = 0.5, down
	het := autoscaler.KthenaHeterogeneous{Kthena: autoscaler.DefaultKthena(autoscaler.Concurrency), ExpansionRate: 100}
	het.Target, het.Policy.ScaleDown = 64, down
	assert.Equal(t, []message.NamedAutoscaler{
		{Name: "ours", Settings: autoscaler.Poolwright{}},
		{Name: "hpa concurrency 32 down 1m", Settings: h},
		{Name: "kpa 20 over 2m", Settings: kpa},
		{Name: "kthena kv 0.5", Settings: k},
		{Name: "kthena heterogeneous concurrency 64 at 100 %", Settings: het},
		{Name: "llm-d saturation 0.7/4 every 30s", Settings: autoscaler.Saturation{
			Policy: saturation.Config{KVCacheThreshold: 0.7, QueueLengthThreshold: 4, KVSpareTrigger: 0.2, QueueSpareTrigger: 1}, Interval: 30 * time.Second,
		}},
		{Name: "inferno greedy every 1m30s RoundRobin", Settings: autoscaler.Inferno{
			Interval: 90 * time.Second, Greedy: greedy.Options{Saturation: greedy.RoundRobin, DelayedBestEffort: true},
		}},
	}, all)
}

func TestAutoscalerMistakes(t *testing.T) {
	_, err := message.Autoscalers(autoscalersOf(t, `
- {kpa: {policy: {stableWindow: 60.5s}}}
- {saturation: {kvCacheThreshold: 0.05, queueLengthThreshold: 2, interval: 20s}}
- {name: llm-d saturation 0.05/2 every 20s, static: {}}`))
	var violations message.Violations
	require.ErrorAs(t, err, &violations)
	paths := make([]string, 0, len(violations))
	for _, v := range violations {
		paths = append(paths, v.Path)
	}
	assert.Equal(t, []string{
		"autoscalers[0].kpa.policy.stableWindow",
		"autoscalers[1].saturation.interval", "autoscalers[1].saturation.kvSpareTrigger", "autoscalers[1].saturation.queueSpareTrigger",
		"autoscalers[2].name",
	}, paths)
}

// The example of the page is one of every kind.
func TestDocumentedAutoscalers(t *testing.T) {
	page, err := os.ReadFile("../../docs/autoscalers.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "```yaml\nautoscalers:\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	all, err := message.Autoscalers(autoscalersOf(t, "\n"+example))
	require.NoError(t, err)
	kinds := map[string]bool{}
	for _, a := range all {
		require.NoError(t, a.Settings.Validate(), a.Name)
		kinds[fmt.Sprintf("%T", a.Settings)] = true
	}
	for _, k := range autoscaler.Kinds() {
		assert.True(t, kinds[fmt.Sprintf("%T", k)], "%T is missing", k)
	}
}
