package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/scenario"
)

const fleet = `fleet
pools:
- {name: h100, accelerator: H100, pricePerHour: 4, capacity: 4}
- {name: cloud, accelerator: H100, pricePerHour: 6}
workloads:
- name: chat
  namespace: prod
  load: {arrivalRate: 15}
  variants:
  - {name: own, pools: [h100], capacityRps: 10, currentReplicas: 2, startup: 1m}
`

// story runs blocks and returns what the last one prints.
func story(t *testing.T, blocks ...string) string {
	t.Helper()
	script, output := scenario.New(), ""
	for _, block := range blocks {
		var err error
		output, err = script.Run(block)
		require.NoError(t, err, block)
	}
	return output
}

func TestMistakesNameTheCommand(t *testing.T) {
	for command, mistake := range map[string]string{
		"dance":                        `"dance": no such command; there are demand, `,
		"tick 0":                       `"tick 0": 0 cycles are not between 1 and 100000 (usage: tick [CYCLES | DURATION])`,
		"tick 20s":                     `"20s" is neither a number nor a multiple of the cycle of 15s`,
		"tick 1 2":                     "too many arguments",
		"watch 1h":                     "usage: watch DURATION every DURATION",
		"state other":                  `no workload "other"`,
		"trail":                        "not one workload",
		"demand prod/chat":             `"prod/chat" has no =`,
		"demand chat=1/s":              `no workload "chat"`,
		"demand prod/chat=3":           `a demand is such as "40/s"`,
		"demand prod/chat=-3/s":        `"-3" is not a number ≥ 0`,
		"demand prod/chat=9..3/s":      "9 is not between 0 and 3",
		"metrics prod/chat=some":       `metrics "some" are none of arrivals, engine, all, missing,`,
		"profile prod/chat/own=lost":   "a profile is declared or missing, not lost",
		"scale own=3":                  `"own" is not WORKLOAD/VARIANT`,
		"scale prod/chat/other=3":      `no variant "other" of workload "prod/chat"`,
		"scale prod/chat/own=x":        `"x" is not a number between 0 and a million`,
		"race prod/chat/own=-1":        `"-1" is not a number between 0 and a million`,
		"lose a100=1":                  `no pool "a100"`,
		"lose cloud=1":                 `pool "cloud" has no limit`,
		"lose h100=5":                  `pool "h100" has 4 devices left`,
		"return h100=1":                `pool "h100" has lost 0 devices`,
		"startup prod/chat/own=x":      `"x" is not a duration ≥ 0`,
		"termination -1s":              `"-1s" is not a duration ≥ 0`,
		"fail world":                   `no interface "world"`,
		"failover now":                 "it is forgetful or not",
		"pause other":                  `no workload "other"`,
		"pause prod/chat for ever":     `"ever" is not a duration > 0`,
		"resume prod/chat":             `"prod/chat" is not paused`,
		"fleet\npools: [{name: h100}]": "fleet: pools[0].accelerator",
	} {
		t.Run(command, func(t *testing.T) {
			script := scenario.New()
			_, err := script.Run(fleet)
			require.NoError(t, err)
			_, err = script.Run(command)
			assert.ErrorContains(t, err, mistake)
		})
	}
}

func TestReplicasStartServeAndLeave(t *testing.T) {
	output := story(t, fleet, "termination 45s", "scale prod/chat/own=3\nstate")
	assert.Contains(t, output, "own: 3 asked for, 2 ready, 1 starting")
	output = story(t, fleet, "termination 45s", "scale prod/chat/own=5\nstate")
	assert.Contains(t, output, "own: 5 asked for, 2 ready, 2 starting, 1 pending", "the pool has 4 devices")
	output = story(t, fleet, "termination 45s", "scale prod/chat/own=5\nscale prod/chat/own=1\nstate")
	assert.Contains(t, output, "own: 1 asked for, 1 ready, 3 leaving")
	output = story(t, fleet, "fail metrics", "termination 45s", "scale prod/chat/own=1", "tick 2", "tick 1\nstate")
	assert.Contains(t, output, "own: 1 asked for, 1 ready;")
}

func TestLostDevicesComeBack(t *testing.T) {
	blocks := []string{fleet, "fail metrics", "lose h100=3", "tick 2\nstate"}
	assert.Contains(t, story(t, blocks...), "own: 2 asked for, 1 ready, 1 pending")
	blocks = append(blocks, "return h100=2", "state")
	assert.Contains(t, story(t, blocks...), "own: 2 asked for, 1 ready, 1 starting")
	assert.Contains(t, story(t, append(blocks, "tick 4\nstate")...), "own: 2 asked for, 2 ready;")
}

func TestRequestsWaitForReplicas(t *testing.T) {
	blocks := []string{fleet, "metrics prod/chat=missing", "demand prod/chat=30/s", "tick 4\nstate"}
	assert.Contains(t, story(t, blocks...), "30/s arrive, ready replicas complete 20/s, 600 wait")
	blocks = append(blocks, "demand prod/chat=15/s", "tick 4\nstate")
	assert.Contains(t, story(t, blocks...), "15/s arrive, ready replicas complete 20/s, 300 wait")
}

func TestUneventfulCyclesAreCounted(t *testing.T) {
	assert.Equal(t, "… 40 cycles without news\n", story(t, fleet, "tick 10m"))
	assert.Equal(t, "… 1 cycle without news\n", story(t, fleet, "tick"))
}

func TestTable(t *testing.T) {
	assert.Equal(t, `time      prod/chat  own  changes
00:10:00  15.0/s     2    0
00:20:00  15.0/s     2    0
`, story(t, fleet, "watch 20m every 10m"))
}
