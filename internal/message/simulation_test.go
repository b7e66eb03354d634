package message_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// smallSimulation is the least that a simulation needs.
const smallSimulation = `
duration: 10m
fleet:
  pools: [{accelerator: H100, capacity: 4}]
  workloads:
  - name: chat
    load: {arrivalRate: 1, inputTokens: 100, outputTokens: 10}
    variants: [{name: v, accelerator: H100, capacityRps: 2, currentReplicas: 1}]
`

func simulationOf(t *testing.T, text string) *poolwrightv1.Simulation {
	t.Helper()
	m := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal([]byte(text), m))
	return m
}

func TestSimulationDefaults(t *testing.T) {
	s, err := message.Simulation(simulationOf(t, smallSimulation), message.NoFiles)
	require.NoError(t, err)
	assert.Equal(t, 10*time.Minute, s.Duration)
	assert.Zero(t, s.Warmup)
	assert.Equal(t, time.Minute, s.Window)
	assert.Equal(t, []uint64{1}, s.Seeds)
	assert.Equal(t, []message.NamedAutoscaler{{Name: "poolwright", Settings: autoscaler.Poolwright{}}}, s.Autoscalers)
	assert.Equal(t, simulation.LeastLoaded, s.Cluster.Routing)
	assert.Equal(t, simulation.DefaultGateway(), s.Cluster.Gateway)
	assert.Equal(t, time.Monday, s.Cluster.Start.Weekday())
	require.Len(t, s.Traffic, 1)
	assert.Equal(t, "chat", s.Traffic[0].Name)
}

func TestSimulationInFull(t *testing.T) {
	s, err := message.Simulation(simulationOf(t, smallSimulation+`
name: all of it
warmup: 90s
window: 20s
seeds: [3, 18446744073709551615]
routing: {strategy: PREFIX_AWARE}
gateway: {maxHeld: 0, timeout: 30s}
disruptions:
- {at: 2m, pool: H100, devices: 2, returnsAfter: 1m, notice: 15s}
- {at: 1m, pool: H100, devices: 1}
autoscalers: [{kpa: {target: 8}}, {name: ours, poolwright: {}}]
`), message.NoFiles)
	require.NoError(t, err)
	assert.Equal(t, "all of it", s.Name)
	assert.Equal(t, 100*time.Second, s.Warmup, "in whole windows")
	assert.Equal(t, 20*time.Second, s.Window)
	assert.Equal(t, []uint64{3, 1<<64 - 1}, s.Seeds)
	assert.Equal(t, simulation.PrefixAware, s.Cluster.Routing)
	assert.Equal(t, simulation.Gateway{MostHeld: 0, Timeout: 30 * time.Second}, s.Cluster.Gateway)
	assert.Equal(t, []simulation.Disruption{
		{At: 2 * time.Minute, Pool: "H100", Devices: 2, ReturnsAfter: time.Minute, Notice: 15 * time.Second},
		{At: time.Minute, Pool: "H100", Devices: 1},
	}, s.Cluster.Disruptions)
	require.Len(t, s.Autoscalers, 2)
	assert.Equal(t, "kpa 8", s.Autoscalers[0].Name)
	assert.Equal(t, "ours", s.Autoscalers[1].Name)
}

// Every strategy of the schema has its own.
func TestEveryRoutingIsTranslated(t *testing.T) {
	seen := make(map[simulation.Routing]string)
	for number, name := range poolwrightv1.Routing_Strategy_name {
		m := simulationOf(t, smallSimulation)
		m.Routing = &poolwrightv1.Routing{Strategy: poolwrightv1.Routing_Strategy(number)}
		s, err := message.Simulation(m, message.NoFiles)
		require.NoError(t, err)
		assert.Empty(t, seen[s.Cluster.Routing], name)
		seen[s.Cluster.Routing] = name
	}
}

// mistakesInSimulations are what is added to a small simulation or changed in it, and what
// is said of it.
var mistakesInSimulations = map[string]struct{ old, new, want string }{
	"no fleet":                       {smallSimulation, "duration: 1m", "fleet: value is required"},
	"no workloads":                   {smallSimulation, "duration: 1m\nfleet: {pools: []}", "fleet.workloads: there is none"},
	"mistake in the fleet":           {"capacityRps: 2", "capacityRps: -2", "fleet.workloads[0].variants[0].capacityRps: must be greater"},
	"schema of a pool":               {"capacity: 4", "capacity: -4", "fleet.pools[0].capacity: must be greater"},
	"neither profile nor capacity":   {"capacityRps: 2, ", "", "fleet.workloads[0].variants[0]: "},
	"no duration":                    {"duration: 10m", "", "duration: "},
	"duration of 0":                  {"duration: 10m", "duration: 0s", "duration: must be greater than 0s"},
	"duration of a year":             {"duration: 10m", "duration: 8760h", "duration: must be greater than 0s and less than or equal to"},
	"warm-up without end":            {"duration: 10m", "duration: 10m\nwarmup: 9m30s", "warmup: 9m30s in windows of 1m0s leave nothing of 10m0s"},
	"negative warm-up":               {"duration: 10m", "duration: 10m\nwarmup: -1s", "warmup: must be greater than or equal to 0s"},
	"window below a second":          {"duration: 10m", "duration: 10m\nwindow: 10ms", "window: must be greater than or equal to 1s"},
	"too many windows":               {"duration: 10m", "duration: 700h\nwindow: 1s", "window: 700h0m0s are 2520000 windows of 1s, more than the 100000 allowed"},
	"seed twice":                     {"duration: 10m", "duration: 10m\nseeds: [1, 2, 1]", "seeds: repeated value must contain unique items"},
	"negative hold":                  {"duration: 10m", "duration: 10m\ngateway: {maxHeld: -1}", "gateway.maxHeld: must be greater than or equal to 0"},
	"hold for no time":               {"duration: 10m", "duration: 10m\ngateway: {timeout: 0s}", "gateway.timeout: must be greater than 0s"},
	"disruption without a pool":      {"duration: 10m", "duration: 10m\ndisruptions: [{at: 1m, devices: 1}]", "disruptions[0].pool: "},
	"disruption of an unknown pool":  {"duration: 10m", "duration: 10m\ndisruptions: [{at: 1m, devices: 1, pool: A100}]", `disruptions[0].pool: there is no pool "A100"`},
	"disruption of nothing":          {"duration: 10m", "duration: 10m\ndisruptions: [{at: 1m, pool: H100}]", "disruptions[0].devices: must be greater than or equal to 1"},
	"disruption at no time":          {"duration: 10m", "duration: 10m\ndisruptions: [{pool: H100, devices: 1}]", "disruptions[0].at: value is required"},
	"autoscaler without a kind":      {"duration: 10m", "duration: 10m\nautoscalers: [{name: x}]", "autoscalers[0].kind: exactly one field is required"},
	"autoscaler twice":               {"duration: 10m", "duration: 10m\nautoscalers: [{kpa: {}}, {kpa: {}}]", `autoscalers[1].name: "kpa 70" is also the name of autoscalers[0]`},
	"autoscaler out of range":        {"duration: 10m", "duration: 10m\nautoscalers: [{hpa: {target: 0}}]", "autoscalers[0].hpa.target: must be greater than or equal to 0.001"},
	"traffic of an unknown workload": {"duration: 10m", "duration: 10m\ntraffic: [{workload: chit, parts: [{generated: {rate: {constant: 1}}}]}]", `traffic[0].workload: there is no workload "chit"`},
	"traffic without an origin":      {"duration: 10m", "duration: 10m\ntraffic: [{workload: chat, parts: [{}]}]", "traffic[0].parts[0].origin: exactly one field is required"},
	"file over the network":          {"duration: 10m", "duration: 10m\ntraffic: [{workload: chat, parts: [{trace: {file: /etc/passwd}}]}]", "traffic[0].parts[0].trace.file: /etc/passwd: files can't be read over the network"},
}

func TestMistakesInSimulations(t *testing.T) {
	for name, x := range mistakesInSimulations {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, smallSimulation, x.old)
			_, err := message.Simulation(simulationOf(t, strings.Replace(smallSimulation, x.old, x.new, 1)), message.NoFiles)
			var violations message.Violations
			require.ErrorAs(t, err, &violations)
			assert.Contains(t, violations.Error(), x.want)
			assert.Len(t, violations, 1, "%v", violations)
		})
	}
}

func TestTooManyWindowsOfWorkloads(t *testing.T) {
	m := simulationOf(t, strings.Replace(smallSimulation, "duration: 10m", "duration: 100h\nwindow: 10s", 1))
	one := m.GetFleet().GetWorkloads()[0]
	for i := range 80 {
		w := proto.CloneOf(one)
		w.Name = fmt.Sprint("w", i)
		m.Fleet.Workloads = append(m.Fleet.Workloads, w)
	}
	_, err := message.Simulation(m, message.NoFiles)
	require.ErrorContains(t, err, "window: 36000 windows of each of 81 workloads are more than the 2880000 allowed")
	m.Fleet.Workloads = m.GetFleet().GetWorkloads()[1:]
	_, err = message.Simulation(m, message.NoFiles)
	require.NoError(t, err)
}

// Mistakes in different parts come in one error, in the order of paths.
func TestEveryMistakeInASimulation(t *testing.T) {
	m := simulationOf(t, `
warmup: -1s
seeds: [1, 1]
fleet:
  pools: [{accelerator: H100}, {accelerator: H100}]
  workloads:
  - name: chat
    load: {arrivalRate: 1}
    variants: [{name: v, accelerator: B200, capacityRps: 2}]
traffic: [{workload: chit, parts: [{generated: {}}]}]
disruptions: [{at: 1m, pool: A100, devices: 1}]
autoscalers: [{kpa: {}}, {kpa: {}}]
`)
	_, err := message.Simulation(m, message.NoFiles)
	var violations message.Violations
	require.ErrorAs(t, err, &violations)
	var paths []string
	for _, v := range violations {
		paths = append(paths, v.Path)
	}
	assert.Equal(t, []string{
		"autoscalers[1].name", "disruptions[0].pool", "fleet.pools[1].name", "fleet.workloads[0].variants[0].accelerator", "seeds",
		"traffic[0].parts[0].generated.rate", "traffic[0].workload", "warmup",
	}, paths)
}
