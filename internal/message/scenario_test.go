package message_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
)

// uncertain is a fleet of two workloads; load is added to the first one's load, and
// rest to the fleet.
func uncertain(load, rest string) string {
	return fmt.Sprintf(`
pools: [{accelerator: A100, pricePerHour: 2}]
workloads:
- {name: chat, namespace: prod, load: {arrivalRate: 8%s}, variants: [{name: v, accelerator: A100, capacityRps: 4}]}
- {name: batch, load: {arrivalRate: 4}, unmetPenaltyPerRps: 3, variants: [{name: v, accelerator: A100, capacityRps: 4}]}
%s`, load, rest)
}

func TestScenarios(t *testing.T) {
	f := translate(t, uncertain("", `
scenarios:
- {name: usual, probability: 0.75}
- {name: launch, probability: 0.25, factor: 2, arrivalRates: {batch: 0, prod/chat: 30}}
objective: {robustness: {service: JOINT, probability: 0.9}}
`))
	assert.Equal(t, []planner.Scenario{
		{Name: "usual", Probability: 0.75, Factor: 1, Rates: []planner.ScenarioRate{}},
		{Name: "launch", Probability: 0.25, Factor: 2, Rates: []planner.ScenarioRate{{Workload: 0, ArrivalRate: 30}, {Workload: 1}}},
	}, f.Scenarios)
	assert.Equal(t, planner.Robustness{Service: optimizer.Joint, Probability: 0.9}, f.Objective.Robustness)
}

func TestBands(t *testing.T) {
	f := translate(t, uncertain(", arrivalRateUpper: 12", "objective: {robustness: {service: ALL}}"))
	assert.InDelta(t, 12, float64(f.Workloads[0].ArrivalRateUpper), 0)
	assert.Zero(t, f.Workloads[1].ArrivalRateUpper)
	assert.Equal(t, planner.Robustness{Service: optimizer.All}, f.Objective.Robustness)
}

func TestMistakesInScenarios(t *testing.T) {
	const two = "scenarios: [{name: a}, {name: b}]\n"
	for _, c := range []struct{ name, load, rest, path, message string }{
		{"no name", "", "scenarios: [{}]", "scenarios[0].name", "at least 1 character"},
		{"same name", "", "scenarios: [{name: a}, {name: a}]", "scenarios[1].name", `"a" is the name of scenarios[0] too`},
		{"control character", "", `scenarios: [{name: "a\e"}]`, "scenarios[0].name", "control character"},
		{"some probabilities", "", "scenarios: [{name: a, probability: 1}, {name: b}]", "scenarios", "1 of 2 have a probability"},
		{"sum", "", "scenarios: [{name: a, probability: 0.9}]", "scenarios", "sum to 0.9, not to 1"},
		{"factor", "", "scenarios: [{name: a, factor: -1}]", "scenarios[0].factor", "0"},
		{"workload", "", "scenarios: [{name: a, arrivalRates: {chat: 1}}]", `scenarios[0].arrivalRates["chat"]`, "no such workload"},
		{"rate", "", "scenarios: [{name: a, arrivalRates: {batch: -1}}]", `scenarios[0].arrivalRates["batch"]`, "0"},
		{"band", ", arrivalRateUpper: 7", "", "workloads[0].load.arrivalRateUpper", "7 is less than the arrivalRate of 8"},
		{"both", ", arrivalRateUpper: 9", two, "workloads[0].load.arrivalRateUpper", "either scenarios or bands"},
		{"strategy", "", two + "objective: {robustness: {service: ALL}, strategy: KTHENA}", "objective.robustness.service", "KTHENA is for POINT only"},
		{"nothing", "", "objective: {robustness: {service: ALL}}", "objective.robustness.service", "ALL needs scenarios"},
		{"bands only", ", arrivalRateUpper: 9", "objective: {robustness: {service: EACH, probability: 0.9}}", "objective.robustness.service", "EACH needs scenarios"},
		{"no probability", "", two + "objective: {robustness: {service: JOINT}}", "objective.robustness.probability", "JOINT needs a probability"},
		{"probability 0", "", two + "objective: {robustness: {service: JOINT, probability: 0}}", "objective.robustness.probability", "greater than 0"},
		{"a probability of all", "", two + "objective: {robustness: {service: ALL, probability: 0.9}}", "objective.robustness.probability", "only EACH and JOINT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := message.Fleet(read(t, uncertain(c.load, c.rest)))
			var violations message.Violations
			require.ErrorAs(t, err, &violations)
			require.Len(t, violations, 1, "%v", err)
			assert.Equal(t, c.path, violations[0].Path)
			assert.Contains(t, violations[0].Message, c.message)
		})
	}
}

func TestTooManyScenarios(t *testing.T) {
	m := read(t, uncertain("", "scenarios: [{name: a}]"))
	for range 1000 {
		m.Scenarios = append(m.Scenarios, m.GetScenarios()[0])
	}
	_, err := message.Fleet(m)
	require.EqualError(t, err, "scenarios: 1001 are more than the 1000 allowed")
}

func TestPlanOfScenarios(t *testing.T) {
	f := translate(t, uncertain("", `
scenarios:
- {name: usual, probability: 0.5}
- {name: busy, probability: 0.4, factor: 1.5}
- {name: launch, probability: 0.1, factor: 3}
objective: {robustness: {service: JOINT, probability: 0.9}}
`))
	d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
	require.NoError(t, err)
	m := message.Plan(&d).GetRobustness()
	assert.InDelta(t, 10, m.GetCostPerHour(), 1e-12)
	assert.InDelta(t, 6, m.GetPointCostPerHour(), 1e-12)
	assert.InDelta(t, 0.9, m.GetExposure().GetServedProbability(), 1e-12)
	assert.InDelta(t, 12+4, m.GetExposure().GetWorstUnmetRps(), 1e-12)
	assert.InDelta(t, 0.1*3*4, m.GetExposure().GetExpectedPenaltyPerHour(), 1e-12)
	assert.InDelta(t, 0.4*6+0.1*24, m.GetPointExposure().GetExpectedUnmetRps(), 1e-12)
	busy, launch := m.GetScenarios()[1], m.GetScenarios()[2]
	assert.Empty(t, busy.GetShortages())
	assert.InDelta(t, 6, busy.GetPointUnmetRps(), 1e-12)
	assert.InDelta(t, 36, launch.GetDemandRps(), 1e-12)
	assert.Equal(t, "prod/chat", launch.GetShortages()[0].GetWorkload())
	assert.InDelta(t, 12, launch.GetShortages()[0].GetUnmetRps(), 1e-12)
}

func TestPlanOfBandsHasNoProbabilities(t *testing.T) {
	f := translate(t, uncertain(", arrivalRateUpper: 12", ""))
	d, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: f}, planner.Memory{}, nil)
	require.NoError(t, err)
	m := message.Plan(&d).GetRobustness()
	assert.Nil(t, m.GetExposure().ServedProbability)
	assert.Nil(t, m.PointCostPerHour, "the plan is the point plan")
	assert.InDelta(t, 4, m.GetExposure().GetWorstUnmetRps(), 1e-12)
	assert.Equal(t, "upper", m.GetScenarios()[0].GetName())
}
