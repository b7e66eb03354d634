package message_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func TestExplanation(t *testing.T) {
	e := &planner.Explanation{
		Decision: planner.Decision{
			Fleet: planner.Fleet{
				Pools:     []planner.Pool{{Name: "a", Accelerator: "H100"}, {Name: "b", Accelerator: "H100"}},
				Workloads: []planner.Workload{{Namespace: "prod", Name: "chat", Variants: []planner.Variant{{Name: "v"}}}},
			},
			Quotas: []planner.QuotaUse{{Pool: 1, Quota: planner.Quota{Namespace: "prod"}}},
			Plans:  []planner.WorkloadPlan{{Variants: []planner.VariantPlan{{}}}},
		},
		Shortage: &planner.Shortage{
			Hopeless: []planner.Hopeless{{Unmet: 2, Shortfall: 1}},
			Increases: []planner.Increase{
				{Verdict: optimizer.Helps, Pools: []int{0, 3}, Quotas: []int{0}, Total: optimizer.Interval{Low: 2, High: 3}},
				{Raise: planner.RaiseQuotas, Lifted: true, Verdict: optimizer.Helps, Pools: []int{0, 0}, Quotas: []int{4}},
				{Raise: planner.RaiseBudget, Verdict: optimizer.Insufficient},
				{Raise: planner.RaisePoolsCheaply, Verdict: optimizer.Unknown},
			},
			Relaxations: []planner.Relaxation{
				{Workload: planner.AllWorkloads, Factor: optimizer.Interval{Low: 1.2, High: 1.3}, Possible: true}, {Workload: 0},
			},
		},
		Prices: []planner.PriceRange{
			{Pool: 1, Accelerator: "H100", Range: optimizer.PriceRange{Rise: optimizer.Interval{Low: 1, High: math.Inf(1)}}},
			{Pool: planner.AllPools, Accelerator: "H100"},
		},
		Curves:      []planner.DemandCurve{{Workload: 0, Points: []planner.DemandPoint{{Factor: 2, Demand: optimizer.Partial, Unmet: 3}}}},
		Changes:     []planner.PoolChange{{Pool: 1, Devices: -8, Demand: optimizer.Infeasible, Shortfall: 3}},
		Commitments: []planner.Commitment{{Pool: 1, Idle: 2, IdlePricePerHour: 8}},
		Unused:      []planner.UnusedVariant{{PricePerHour: 4, MarginalFall: 1}, {Fall: &optimizer.Interval{Low: 2, High: 2}}},
		LeftOut:     []string{"more"},
	}
	m := message.Explanation(e)
	assert.Equal(t, "prod/chat", m.GetPlan().GetWorkloads()[0].GetName())

	s := m.GetShortage()
	assert.Equal(t, "prod/chat", s.GetHopeless()[0].GetWorkload())
	require.Len(t, s.GetIncreases()[0].GetPools(), 1)
	assert.Equal(t, "b", s.GetIncreases()[0].GetPools()[0].GetPool())
	assert.Equal(t, int32(3), s.GetIncreases()[0].GetPools()[0].GetDevices())
	assert.InDelta(t, 2, s.GetIncreases()[0].GetTotal().GetLow(), 0)
	assert.Equal(t, "prod", s.GetIncreases()[1].GetQuotas()[0].GetNamespace())
	assert.True(t, s.GetIncreases()[1].GetOthersLifted())
	assert.Equal(t, poolwrightv1.Increase_INSUFFICIENT, s.GetIncreases()[2].GetVerdict())
	assert.Nil(t, s.GetIncreases()[2].GetTotal())
	assert.Equal(t, poolwrightv1.Increase_POOLS_CHEAPLY, s.GetIncreases()[3].GetRaise())
	assert.Equal(t, poolwrightv1.Increase_UNKNOWN, s.GetIncreases()[3].GetVerdict())
	assert.Empty(t, s.GetRelaxations()[0].GetWorkload())
	assert.InDelta(t, 1.3, s.GetRelaxations()[0].GetFactor().GetHigh(), 0)
	assert.Equal(t, "prod/chat", s.GetRelaxations()[1].GetWorkload())
	assert.Nil(t, s.GetRelaxations()[1].GetFactor(), "no factor serves")

	assert.Equal(t, "b", m.GetPrices()[0].GetPool())
	assert.Nil(t, m.GetPrices()[0].GetRise().High, "infinite is absent")
	assert.Empty(t, m.GetPrices()[1].GetPool())
	assert.Equal(t, poolwrightv1.Plan_PARTIAL, m.GetCurves()[0].GetPoints()[0].GetDemand())
	assert.Equal(t, int32(-8), m.GetChanges()[0].GetDevices())
	assert.Equal(t, poolwrightv1.Plan_INFEASIBLE, m.GetChanges()[0].GetDemand())
	assert.Equal(t, int32(3), m.GetChanges()[0].GetShortfall())
	assert.Equal(t, int32(2), m.GetCommitments()[0].GetIdle())
	assert.Nil(t, m.GetUnused()[0].GetFall(), "not solved for")
	assert.InDelta(t, 2, m.GetUnused()[1].GetFall().GetHigh(), 0)
	assert.Equal(t, []string{"more"}, m.GetLeftOut())
}
