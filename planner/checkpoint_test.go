package planner_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/exact"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// Whoever goes on from a checkpoint that was written and read decides like whoever goes on
// from the memory itself.
func TestCheckpointRemembersAll(t *testing.T) {
	p, random := planner.New(lp.Simplex()), rand.New(rand.NewPCG(1, 2))
	f := contested()
	f.Objective.RelativeGap = 0.05 // so that it matters where the search begins
	f.Workloads[0].Variants[0] = profiled("h100", 0)
	f.Workloads[0].Shape = queueing.Shape{} // so that lengths come from observations
	for i, name := range []string{"hpa", "hpa with behavior", "kthena", "knative"} {
		f.Workloads[i+1].Policy = policies()[name]
	}
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	var kept, stored planner.Memory
	for range 60 {
		s := planner.Snapshot{Now: now, Fleet: f, Observations: observed(&f, random)}
		decision, memory, err := p.Plan(s, kept, nil)
		require.NoError(t, err)
		again, after, err := p.Plan(s, stored, nil)
		require.NoError(t, err)
		require.Equal(t, text(t, decision), text(t, again))
		require.Equal(t, text(t, memory.Checkpoint()), text(t, after.Checkpoint()))
		kept, stored = memory, reread(t, after)
		now = now.Add(15 * time.Second)
	}
}

// observed is a demand that wanders and is sometimes missing.
func observed(f *planner.Fleet, random *rand.Rand) []planner.Observation {
	observations := []planner.Observation{}
	for i := range f.Workloads {
		w := &f.Workloads[i]
		o := planner.Observation{Workload: w.QualifiedName()}
		if random.IntN(10) > 0 {
			o.ArrivalRate = rate(float64(w.ArrivalRate) * (0.5 + random.Float64()))
			o.InputTokens, o.OutputTokens = rate(500*(0.5+random.Float64())), rate(200*(0.5+random.Float64()))
		}
		observations = append(observations, o)
	}
	return observations
}

func text(t *testing.T, v any) string {
	t.Helper()
	written, err := exact.Marshal(v)
	require.NoError(t, err)
	return string(written)
}

func reread(t *testing.T, m planner.Memory) planner.Memory {
	t.Helper()
	var c planner.Checkpoint
	require.NoError(t, exact.Unmarshal([]byte(text(t, m.Checkpoint())), &c))
	return c.Memory()
}

// What is not exported would be lost without a trace.
func TestCheckpointHidesNothing(t *testing.T) {
	// The solver's problems have notes for its own copies of them.
	seen := map[reflect.Type]bool{reflect.TypeFor[time.Time](): true, reflect.TypeFor[optimizer.Start](): true}
	var visit func(at string, of reflect.Type)
	visit = func(at string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			visit(at+"[]", of.Elem())
		case reflect.Struct:
			if seen[of] {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				assert.True(t, of.Field(i).IsExported(), "%s.%s", at, of.Field(i).Name)
				visit(at+"."+of.Field(i).Name, of.Field(i).Type)
			}
		case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
			assert.Fail(t, "not plain", at)
		default:
		}
	}
	visit("Checkpoint", reflect.TypeFor[planner.Checkpoint]())
	visit("Snapshot", reflect.TypeFor[planner.Snapshot]())
	require.True(t, seen[reflect.TypeFor[queueing.Replica]()], "the fleet was visited")
}
