package sources_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

// An imported system gets the plan of the family's own greedy, under every
// saturation policy. The expected allocations are the family's, computed by its code.
func TestInfernoGreedyPlansAsTheFamilyDoes(t *testing.T) {
	var file struct {
		Accelerators, Models, ServiceClasses json.RawMessage
		Systems                              []struct {
			Count, Servers json.RawMessage
			Runs           []struct {
				SaturationPolicy  string
				DelayedBestEffort bool
				Allocations       map[string]string
			}
		}
	}
	require.NoError(t, json.Unmarshal(read(t, "testdata/inferno_greedy.json"), &file))
	require.Len(t, file.Systems, 3)
	type object = map[string]any
	for i, s := range file.Systems {
		require.Len(t, s.Runs, 8)
		for _, run := range s.Runs {
			t.Run(fmt.Sprintf("%d/%s/delayed=%v", i, run.SaturationPolicy, run.DelayedBestEffort), func(t *testing.T) {
				data, err := json.Marshal(object{"system": object{
					"acceleratorData":  object{"accelerators": file.Accelerators},
					"modelData":        object{"models": file.Models},
					"serviceClassData": object{"serviceClasses": file.ServiceClasses},
					"capacityData":     object{"count": s.Count},
					"serverData":       object{"servers": s.Servers},
					"optimizerData": object{"optimizer": object{
						"saturationPolicy": run.SaturationPolicy, "delayedBestEffort": run.DelayedBestEffort,
					}},
				}})
				require.NoError(t, err)
				require.Equal(t, run.Allocations, planByGreedy(t, data))
			})
		}
	}
}

// planByGreedy spells the plan as "accelerator xN" by server.
func planByGreedy(t *testing.T, system []byte) map[string]string {
	t.Helper()
	m, err := sources.ReadFleet(system)
	require.NoError(t, err)
	if m.GetObjective() == nil {
		m.Objective = &poolwrightv1.Objective{}
	}
	m.Objective.Strategy = poolwrightv1.Objective_INFERNO_GREEDY
	fleet, err := message.Fleet(m)
	require.NoError(t, err)
	decision, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: fleet}, planner.Memory{}, nil)
	require.NoError(t, err)
	got := map[string]string{}
	for i := range decision.Plans {
		for j := range decision.Plans[i].Variants {
			if n := decision.Plans[i].Variants[j].Total(); n > 0 {
				w := &fleet.Workloads[i]
				require.NotContains(t, got, w.Name, "one variant only")
				got[w.Name] = fmt.Sprintf("%s x%d", w.Variants[j].Name, n)
			}
		}
	}
	return got
}
