package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

const twoAutoscalers = `
name: evening
duration: 5400s
warmup: 600s
window: 60s
seeds: [1, 2]
hindsightCost: [10, 12]
autoscalers:
- name: hpa queue 5
  cost: {mean: 24000.4, lower: 23000, upper: 25000}
  deviceHours: {mean: 8.25}
  attainment: {mean: 0.99999}
  unmetRequests: {mean: 0.4}
  scaleEvents: {mean: 120}
  regret: {mean: 1.5, lower: -0.0001, upper: 2.25}
  classes:
  - {serviceClass: "", requests: 50}
  - {serviceClass: gold, requests: 1000, attainment: {mean: 0.98999}, objective: 0.99}
  workloads:
  - workload: prod/chat
    serviceClass: gold
    requests: 1000
    objective: 0.99
    attainment: {mean: 0.98999}
    ttft: {p50: {mean: 0.0695}, p95: {mean: 12.5}, p99: {mean: 1234.5}, limit: 0.8}
    itl: {p50: {mean: 0.0005}, p95: {mean: 0.05}, p99: {mean: 0.0501}, limit: 0.05}
  - {workload: batch, requests: 0, ttft: {}, itl: {}}
- name: poolwright
  cost: {mean: 11.5, lower: 11, upper: 12}
  deviceHours: {mean: 3}
  attainment: {mean: 1}
  unmetRequests: {mean: 0}
  scaleEvents: {mean: 4}
  classes:
  - {serviceClass: "", requests: 50}
  - {serviceClass: gold, requests: 1000, attainment: {mean: 0.99}, objective: 0.99}
  workloads:
  - workload: prod/chat
    serviceClass: gold
    requests: 1000
    objective: 0.99
    attainment: {mean: 0.99}
    ttft: {p50: {mean: 0.07}, p95: {mean: 0.2}, p99: {mean: 0.5}, limit: 0.8}
    itl: {p50: {mean: 0.01}, p95: {mean: 0.02}, p99: {mean: 0.03}, limit: 0.05}
  - {workload: batch, requests: 0, ttft: {}, itl: {}}
`

func simulationResult(t *testing.T) *poolwrightv1.SimulationResult {
	t.Helper()
	m := &poolwrightv1.SimulationResult{}
	require.NoError(t, document.Unmarshal([]byte(twoAutoscalers), m))
	return m
}

func tableOf(t *testing.T, m proto.Message) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, writeTable(&out, m))
	return out.String()
}

func TestSimulationTable(t *testing.T) {
	assert.Equal(t, `evening: the SLO holds under poolwright (11.50).

AUTOSCALER             COST   DEVICE-H  IN SLO     UNMET  EVENTS  REGRET
hpa queue 5            24000  8.2       99.99 % ✗  0      120     150 % (0.0 to 225)
poolwright             11.50  3.0       100.00 %   0      4       –
(least, in hindsight)  11.00

IN SLO, BY CLASS  (no class)  gold
hpa queue 5       –           98.99 % ✗
poolwright        –           99.00 %

prod/chat: 1000 requests, of which 99 % must be within the SLO (TTFT 800 ms, ITL 50 ms)
AUTOSCALER   IN SLO     TTFT P50  P95     P99     ITL P50  P95    P99
hpa queue 5  98.99 % ✗  69.5 ms   12.5 s  1234 s  500 µs   50 ms  50.1 ms
poolwright   99.00 %    70 ms     200 ms  500 ms  10 ms    20 ms  30 ms

batch: 0 requests, without an SLO
AUTOSCALER   IN SLO  TTFT P50  P95  P99  ITL P50  P95  P99
hpa queue 5  –       –         –    –    –        –    –
poolwright   –       –         –    –    –        –    –

1h30m of arrivals after 10m that do not count; means over 2 seeds, with 95 % confidence intervals
  of the regret; ✗ marks what is below its objective.
`, tableOf(t, simulationResult(t)))
}

func TestVerdict(t *testing.T) {
	m := simulationResult(t)
	m.Name = ""
	m.Autoscalers[0].Workloads[0].Attainment.Mean = 1
	assert.Equal(t, "the SLO holds under poolwright (11.50), hpa queue 5 (24000).", verdict(m), "the cheapest first")
	assert.True(t, anyMet(m))
	m.Autoscalers = m.GetAutoscalers()[:1]
	assert.Equal(t, "the SLO holds, at a cost of 24000.", verdict(m))
	m.Autoscalers[0].Workloads[0].Attainment.Mean = 0.98
	assert.Equal(t, "the SLO is missed.", verdict(m))
	assert.False(t, anyMet(m))
}

func TestManyClasses(t *testing.T) {
	m := simulationResult(t)
	for _, a := range m.GetAutoscalers() {
		a.Classes = nil
		for _, name := range strings.Split("a b c d e f g h", " ") {
			a.Classes = append(a.Classes, &poolwrightv1.ClassResult{ServiceClass: name, Attainment: &poolwrightv1.Estimate{Mean: 1}})
		}
	}
	text := tableOf(t, m)
	assert.Contains(t, text, "IN SLO, BY CLASS  a         b         c         d         e         f\n")
	assert.Contains(t, text, "IN SLO, BY CLASS  g         h\nhpa queue 5       100.00 %  100.00 %\npoolwright        100.00 %  100.00 %\n")
}

func TestSweepTable(t *testing.T) {
	missed, met := simulationResult(t), simulationResult(t)
	missed.Autoscalers, met.Autoscalers = missed.GetAutoscalers()[:1], met.GetAutoscalers()[1:]
	text := tableOf(t, &poolwrightv1.Sweep{
		Dimensions: []*poolwrightv1.SweepDimension{
			{Path: "fleet.pools[0].capacity"}, {Path: "workloads.chat.load.arrivalRate"}, {Path: "workloads.batch.load.arrivalRate"}, {Path: "duration"},
		},
		Points: 8, Shard: &poolwrightv1.SweepShard{Index: 1, Count: 4},
		Results: []*poolwrightv1.SweepPoint{
			{Index: 1, Values: []string{"8", "10", "1", "1h"}, Result: missed},
			{Index: 5, Values: []string{"16", "10", "1", "1h"}, Result: met},
		},
	})
	assert.Equal(t, `pools[0].capacity  chat.load.arrivalRate  batch.load.arrivalRate  duration  AUTOSCALER   COST   DEVICE-H  IN SLO     UNMET  EVENTS  REGRET
8                  10                     1                       1h        hpa queue 5  24000  8.2       99.99 % ✗  0      120     150 %
16                 10                     1                       1h        poolwright   11.50  3.0       100.00 %   0      4       –

Shard 1/4 with 2 of 8 points.

✗ marks where a workload is below its objective.
`, text)
}

func TestSpan(t *testing.T) {
	for seconds, want := range map[float64]string{10: "10s", 60: "1m", 1200: "20m", 5400: "1h30m", 36000: "10h", 3605: "1h0m5s", 0.5: "500ms"} {
		assert.Equal(t, want, span(inSeconds(seconds)))
	}
}
