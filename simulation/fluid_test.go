package simulation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
)

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func fleet() planner.Fleet {
	return planner.Fleet{
		Pools: []planner.Pool{{Name: "h100", Accelerator: "H100", PricePerHour: 4, Capacity: optimizer.Bound{Limited: true, Value: 8}}},
		Workloads: []planner.Workload{{
			Name: "chat", Priority: 1, ArrivalRate: 40,
			Variants: []planner.Variant{{
				Name: "chat-h100", Pools: []int{0}, DevicesPerReplica: 1, NodesPerReplica: 1,
				Capacity: 10, CurrentReplicas: 1, Startup: 90 * time.Second,
			}},
		}},
	}
}

func newFluid(t *testing.T) *simulation.Fluid {
	t.Helper()
	f, err := simulation.NewFluid(fleet(), []simulation.Curve{{Trough: 0.25, Peak: 12 * time.Hour}}, midnight)
	require.NoError(t, err)
	return f
}

func TestCurve(t *testing.T) {
	c := simulation.Curve{Trough: 0.25, Peak: 14 * time.Hour}
	assert.InDelta(t, 1, c.Factor(midnight.Add(14*time.Hour)), 1e-12)
	assert.InDelta(t, 0.25, c.Factor(midnight.Add(2*time.Hour)), 1e-12)
	assert.InDelta(t, (1+0.25)/2, c.Factor(midnight.Add(8*time.Hour)), 1e-12)
	assert.InDelta(t, c.Factor(midnight.Add(5*time.Hour)), c.Factor(midnight.Add(29*time.Hour)), 1e-12, "every day is the same")
}

func change(from, to int) []planner.Change {
	return []planner.Change{{Workload: "chat", Variant: "chat-h100", From: from, To: to}}
}

func apply(t *testing.T, f *simulation.Fluid, changes []planner.Change) {
	t.Helper()
	for _, err := range f.Apply(t.Context(), changes) {
		require.NoError(t, err)
	}
}

func TestReplicasServeAfterStartup(t *testing.T) {
	f := newFluid(t)
	apply(t, f, change(1, 3))
	assert.Equal(t, 1, f.Ready(0, 0))
	require.NoError(t, f.Advance(midnight.Add(89*time.Second)))
	assert.Equal(t, 1, f.Ready(0, 0))
	require.NoError(t, f.Advance(midnight.Add(90*time.Second)))
	assert.Equal(t, 3, f.Ready(0, 0))
}

func TestStartingReplicasAreRemovedFirst(t *testing.T) {
	f := newFluid(t)
	apply(t, f, change(1, 4))
	apply(t, f, change(4, 2))
	assert.Equal(t, 1, f.Ready(0, 0))
	apply(t, f, change(2, 0))
	assert.Equal(t, 0, f.Ready(0, 0))
}

func TestChangeFromElsewhereIsDropped(t *testing.T) {
	f := newFluid(t)
	require.Error(t, f.Apply(t.Context(), change(7, 3))[0])
	now, _, err := f.Fleet(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, now.Workloads[0].Variants[0].CurrentReplicas)
}

func TestUnknownVariantIsAnError(t *testing.T) {
	err := newFluid(t).Apply(t.Context(), []planner.Change{{Workload: "chat", Variant: "none"}})[0]
	assert.ErrorContains(t, err, `no variant "none" of workload "chat"`)
}

func TestClockMovesForwardOnly(t *testing.T) {
	assert.Error(t, newFluid(t).Advance(midnight.Add(-time.Second)))
}

func TestCurvesMustMatch(t *testing.T) {
	_, err := simulation.NewFluid(fleet(), nil, midnight)
	assert.ErrorContains(t, err, "0 curves for 1 workloads")
}

// The production controller follows the day: peak demand needs four replicas,
// the trough one.
func TestControllerFollowsTheDay(t *testing.T) {
	day := fleet()
	day.Control.Cycle = 10 * time.Minute
	f, err := simulation.NewFluid(day, []simulation.Curve{{Trough: 0.25, Peak: 12 * time.Hour}}, midnight)
	require.NoError(t, err)
	c := controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: f, Observer: f, Actuator: f})
	replicas := map[int]int{}
	for now := midnight; now.Before(midnight.Add(24 * time.Hour)); now = now.Add(10 * time.Minute) {
		require.NoError(t, f.Advance(now))
		_, err := c.Tick(t.Context(), now, nil)
		require.NoError(t, err)
		current, _, err := f.Fleet(t.Context())
		require.NoError(t, err)
		if now.Minute() == 0 {
			replicas[now.Hour()] = current.Workloads[0].Variants[0].CurrentReplicas
		}
	}
	assert.Equal(t, 1, replicas[0])
	assert.Equal(t, 4, replicas[12])
	assert.Equal(t, 2, replicas[22], "the evening gives back what noon needed")
}
