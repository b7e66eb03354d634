package examples

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// TestPlansShowWhatTheREADMEPromises plans the fleets and checks what each of them
// is there to show, at its own load and with somewhat less and more.
func TestPlansShowWhatTheREADMEPromises(t *testing.T) {
	tests := []struct {
		file   string
		demand poolwrightv1.Plan_Demand
		unmet  []string // workloads not served in full
		mixed  []string // workloads on several variants
		alone  []string // workloads on one variant
	}{
		{file: "mix.yaml", demand: poolwrightv1.Plan_SERVED, mixed: []string{"prod/chat", "research/reasoning"}},
		{file: "tight-priorities.yaml", demand: poolwrightv1.Plan_PARTIAL, unmet: []string{"nightly-batch"}, mixed: []string{"assistant"}},
		{file: "infeasible-slo.yaml", demand: poolwrightv1.Plan_PARTIAL, unmet: []string{"voice"}},
		{file: "single-type.yaml", demand: poolwrightv1.Plan_SERVED, mixed: []string{"chat-mixed"}, alone: []string{"chat"}},
		{file: "quotas-nodes.yaml", demand: poolwrightv1.Plan_SERVED},
		{file: "shapes.yaml", demand: poolwrightv1.Plan_SERVED, mixed: []string{"chat"}},
		{file: "disaggregated.yaml", demand: poolwrightv1.Plan_SERVED, mixed: []string{"assistant"}},
		{file: "generated-1000.json", demand: poolwrightv1.Plan_SERVED},
	}
	for _, test := range tests {
		for _, load := range []float64{0.95, 1, 1.05} {
			t.Run(fmt.Sprintf("%s/%g", test.file, load), func(t *testing.T) {
				p := planAt(t, test.file, load)
				require.Equal(t, poolwrightv1.Plan_OPTIMAL, p.GetProof())
				require.Equal(t, test.demand, p.GetDemand())
				require.ElementsMatch(t, test.unmet, unmet(p))
				require.Subset(t, mixed(p), test.mixed)
				for _, name := range test.alone {
					require.NotContains(t, mixed(p), name)
				}
			})
		}
	}
}

// TestMixUsesBothAccelerators checks that the fleet of the first run is worth its
// name.
func TestMixUsesBothAccelerators(t *testing.T) {
	pools := plan(t, "mix.yaml").GetPools()
	require.Len(t, pools, 2)
	for _, pool := range pools {
		require.Positive(t, pool.GetUsed(), pool.GetName())
	}
}

// TestInfeasibleLimitIsExplained expects the limit and its best value in the reason.
func TestInfeasibleLimitIsExplained(t *testing.T) {
	workloads := plan(t, "infeasible-slo.yaml").GetWorkloads()
	i := slices.IndexFunc(workloads, func(w *poolwrightv1.WorkloadPlan) bool { return w.GetName() == "voice" })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, "itl.mean", workloads[i].GetBinding())
	require.Contains(t, workloads[i].GetReason(), "the best is 11.8 ms")
}

// plan returns the plan of a fleet file, without a limit on time.
func plan(t *testing.T, file string) *poolwrightv1.Plan {
	t.Helper()
	return planAt(t, file, 1)
}

// planAt is [plan] with all arrival rates multiplied by load.
func planAt(t *testing.T, file string, load float64) *poolwrightv1.Plan {
	t.Helper()
	m := read(t, file)
	for _, w := range m.GetWorkloads() {
		w.Load.ArrivalRate *= load
	}
	fleet, err := message.Fleet(m)
	require.NoError(t, err)
	decision, _, err := planner.New(lp.Simplex()).Plan(planner.Snapshot{Fleet: fleet}, planner.Memory{}, nil)
	require.NoError(t, err)
	return message.Plan(&decision)
}

// unmet returns the workloads that are not served in full.
func unmet(p *poolwrightv1.Plan) []string {
	var names []string
	for _, w := range p.GetWorkloads() {
		if w.GetUnmetRps() > 0 {
			names = append(names, w.GetName())
		}
	}
	return names
}

// mixed returns the workloads that run on more than one variant.
func mixed(p *poolwrightv1.Plan) []string {
	var names []string
	variants := make(map[string]int)
	for _, a := range p.GetAllocations() {
		if a.GetReplicas() == 0 {
			continue
		}
		variants[a.GetWorkload()]++
		if variants[a.GetWorkload()] == 2 {
			names = append(names, a.GetWorkload())
		}
	}
	return names
}
