package message_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/message"
)

// uncommon has the fields that no example has.
const uncommon = `
pools: [{name: a, accelerator: A, growable: {max: 3, delay: 5m}}]
workloads:
- name: chat
  minReplicas: 1
  costExpansionRatePercent: 150
  zeroGrace: 20m
  load: {arrivalRate: 1, arrivalRateUpper: 2, outputTokens: 10, prefixHitRatio: 0.5}
  slo: {ttft: {mean: 1s, p50: 1s, p90: 2s, p99: 4s}, itl: {p99: 50ms}, tokensPerSecond: 3}
  variants:
  - {name: v, pools: [a], maxBatch: 4, serviceModel: LLMD_V2, profile: {alphaMs: 1, sigmaMs: 0.1, epsilonMs: 1e-8, ttftOffsetMs: 3}}
  - {name: w, pools: [a], maxBatch: 4, profile: {alphaMs: 1}, prefillMode: BLOCKING, kvTransfer: {base: 5ms, perToken: 10us}, role: PREFILL}
  - {name: x, pools: [a], maxBatch: 4, profile: {alphaMs: 1}, role: DECODE}
objective: {budgetPerHour: 9, timeLimit: 2s, robustness: {service: ALL}}
`

const greedily = `
pools: [{accelerator: A}]
workloads: [{name: chat, load: {arrivalRate: 1}, variants: [{name: v, accelerator: A, capacityRps: 1}]}]
objective: {strategy: INFERNO_GREEDY, saturationPolicy: ROUND_ROBIN, delayedBestEffort: true, costExpansionRatePercent: 150}
`

// A fleet that is written and read again is the same fleet, whatever of the schema it
// uses.
func TestFleetThereAndBack(t *testing.T) {
	examples := os.DirFS("../../examples")
	files, err := fs.Glob(examples, "*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := []string{controlled, uncommon, greedily, policies["hpa"], policies["kthena"], policies["knative"]}
	for _, file := range files {
		text, err := fs.ReadFile(examples, file)
		require.NoError(t, err)
		if !strings.Contains(string(text), "\nfleet:") { // a simulation is more than a fleet
			texts = append(texts, string(text))
		}
	}
	for _, name := range []string{"fleet.md", "policies.md"} {
		page, err := fs.ReadFile(os.DirFS("../../docs"), name)
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(page), "```yaml\n")
		require.True(t, found, name)
		documented, _, _ := strings.Cut(rest, "```")
		texts = append(texts, documented)
	}
	fields := map[protoreflect.FullName]bool{}
	for _, text := range texts {
		f := translate(t, text)
		written := message.OfFleet(&f)
		used(written.ProtoReflect(), fields)
		again, err := message.Fleet(written)
		require.NoError(t, err)
		assert.Equal(t, f, again)
	}
	for name, used := range fields {
		// A variant lists the pools of its accelerator.
		assert.Equal(t, name != "poolwright.v1.Variant.accelerator", used, name)
	}
}

// used marks the fields that a message and those in it have.
func used(m protoreflect.Message, fields map[protoreflect.FullName]bool) {
	if m.Descriptor().ParentFile().Package() != "poolwright.v1" {
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		fields[f.FullName()] = fields[f.FullName()] || m.Has(f)
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for j := range m.Get(f).List().Len() {
				used(m.Get(f).List().Get(j).Message(), fields)
			}
		case m.Has(f):
			used(m.Get(f).Message(), fields)
		}
	}
}
