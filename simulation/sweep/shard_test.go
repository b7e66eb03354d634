package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/sweep"
)

// imagined makes a result of a simulation without simulating it; processor times differ.
func imagined() sweep.Simulate {
	runs := make(chan float64, 1)
	runs <- 0
	return func(_ context.Context, s *poolwrightv1.Simulation, _ int) (*poolwrightv1.SimulationResult, error) {
		n := <-runs
		runs <- n + 1
		capacity := float64(s.GetFleet().GetPools()[0].GetCapacity())
		return &poolwrightv1.SimulationResult{
			Name: s.GetName(), Duration: s.GetDuration(),
			Demand: []*poolwrightv1.DemandSeries{{Workload: "a/chat"}},
			Autoscalers: []*poolwrightv1.AutoscalerResult{{
				Name: "ours", Cost: &poolwrightv1.Estimate{Mean: capacity / 3}, CostPerHour: []float64{1},
				Runs: []*poolwrightv1.SimulationRun{{Seed: 1, Cost: capacity / 3, ProcessorSeconds: n}},
			}},
		}, nil
	}
}

func seven(t testing.TB) *sweep.Sweep {
	t.Helper()
	s, err := sweep.New(simulation(t), dimensions(t, "pools.H100=1..7"))
	require.NoError(t, err)
	return s
}

// shards computes the shards of a sweep, and has them written and read as commands do.
func shards(t testing.TB, s *sweep.Sweep, count int) []*poolwrightv1.Sweep {
	t.Helper()
	var all []*poolwrightv1.Sweep
	for i := range count {
		m, err := s.Run(t.Context(), sweep.Shard{Index: i, Count: count}, imagined(), nil)
		require.NoError(t, err)
		written, err := document.MarshalJSON(m)
		require.NoError(t, err)
		read := &poolwrightv1.Sweep{}
		require.NoError(t, document.Unmarshal(written, read))
		all = append(all, read)
	}
	return all
}

func TestMergedShardsAreTheWhole(t *testing.T) {
	s := seven(t)
	whole, err := s.Run(t.Context(), sweep.Whole, imagined(), nil)
	require.NoError(t, err)
	require.Len(t, whole.GetResults(), 7)
	want, err := document.MarshalJSON(whole)
	require.NoError(t, err)
	for _, count := range []int{1, 2, 3, 7, 9} {
		parts := shards(t, s, count)
		parts[0], parts[count-1] = parts[count-1], parts[0]
		merged, err := sweep.Merge(parts)
		require.NoError(t, err)
		got, err := document.MarshalJSON(merged)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%d shards", count)
	}
}

func TestResultsAreInOrderOnAnyNumberOfProcessors(t *testing.T) {
	s := seven(t)
	one, err := s.Run(t.Context(), sweep.Whole, imagined(), nil)
	require.NoError(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	four, err := s.Run(t.Context(), sweep.Whole, imagined(), nil)
	require.NoError(t, err)
	assert.True(t, proto.Equal(one, four))
	for i, p := range four.GetResults() {
		assert.Equal(t, int32(i), p.GetIndex())
		assert.Equal(t, []string{fmt.Sprint(i + 1)}, p.GetValues())
		assert.InDelta(t, float64(i+1)/3, p.GetResult().GetAutoscalers()[0].GetCost().GetMean(), 0)
		assert.Empty(t, p.GetResult().GetDemand())
	}
}

func TestProgressCountsPoints(t *testing.T) {
	var counts []int
	_, err := seven(t).Run(t.Context(), sweep.Shard{Index: 1, Count: 2}, imagined(), func(points, of int) {
		assert.Equal(t, 3, of)
		counts = append(counts, points)
	})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3}, counts)
}

func TestPointThatFailsEndsTheSweep(t *testing.T) {
	_, err := seven(t).Run(t.Context(), sweep.Whole, func(_ context.Context, s *poolwrightv1.Simulation, _ int) (*poolwrightv1.SimulationResult, error) {
		if s.GetFleet().GetPools()[0].GetCapacity() == 5 {
			return nil, errors.New("no way")
		}
		return &poolwrightv1.SimulationResult{}, nil
	}, nil)
	assert.EqualError(t, err, "sweep: point 4, pools.H100=5: no way")
}

func TestSweepIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := seven(t).Run(ctx, sweep.Whole, func(ctx context.Context, _ *poolwrightv1.Simulation, _ int) (*poolwrightv1.SimulationResult, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestMergeNamesWhatIsWrong(t *testing.T) {
	s := seven(t)
	other, err := sweep.New(simulation(t), dimensions(t, "pools.H100=1..8"))
	require.NoError(t, err)
	changed := simulation(t)
	changed.Name = "another"
	again, err := sweep.New(changed, dimensions(t, "pools.H100=1..7"))
	require.NoError(t, err)
	three, others, changes := shards(t, s, 3), shards(t, other, 3), shards(t, again, 3)
	short := proto.CloneOf(three[1])
	short.Results = short.Results[1:]
	foreign := proto.CloneOf(three[1])
	foreign.Results[0].Index = 2
	empty := proto.CloneOf(three[1])
	empty.Results[1].Result = nil
	outside := proto.CloneOf(three[1])
	outside.Shard.Index = 3
	for want, parts := range map[string][]*poolwrightv1.Sweep{
		"no shard to merge":                               nil,
		"missing shards: 1/3, 2/3":                        {three[0]},
		"shard 0/3 is given twice":                        {three[0], three[1], three[0]},
		"it is of another sweep":                          {three[0], others[1], three[2]},
		"number 3 of those given: it is of another sweep": {three[0], three[1], changes[2]},
		"1 points, not 2":                                 {three[0], short, three[2]},
		"results[0] is of point 2, not 1":                 {three[0], foreign, three[2]},
		"results[1] is empty":                             {three[0], empty, three[2]},
		"the index is not from 0 to 2":                    {three[0], outside, three[2]},
		"the first is one of 3":                           {three[0], shards(t, s, 2)[1], three[2]},
		"0 points and is one of 1":                        {{}},
	} {
		_, err := sweep.Merge(parts)
		if assert.Error(t, err, want) {
			assert.Contains(t, err.Error(), want)
		}
	}
}

func TestParseShard(t *testing.T) {
	s, err := sweep.ParseShard("3/8")
	require.NoError(t, err)
	assert.Equal(t, sweep.Shard{Index: 3, Count: 8}, s)
	assert.Equal(t, "3/8", s.String())
	for _, text := range []string{"", "3", "8/8", "-1/8", "a/b", "0/0", "1/8/2", "0/100001"} {
		_, err := sweep.ParseShard(text)
		assert.Error(t, err, text)
	}
}
