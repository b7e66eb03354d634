package greedy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// read decodes a file of testdata.
func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS("testdata"), name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// choice is one allocation that the inferno family computes for a server on an
// accelerator. Prices are in cents.
type choice struct {
	ID        string  `json:"id"`
	Cents     float64 `json:"acc_cost"`
	PerMinute float64 `json:"arrival_rate_req_per_min"`
	Input     int     `json:"inTokens"`
	Output    int     `json:"outTokens"`
	MaxBatch  int     `json:"maxBatchSize"`
	MaxQueue  int     `json:"maxQueueSize"`
	Minimum   int     `json:"minNumReplicas"`
	Profile   *struct {
		Units    int `json:"accCount"`
		MaxBatch int `json:"maxBatchSize"`
		AtTokens int `json:"atTokens"`
		Parms    struct {
			Alpha, Beta, Gamma float64
		} `json:"perfParms"`
	} `json:"profile"`
	Target struct {
		ITL  float64 `json:"itl_ms"`
		TTFT float64 `json:"ttft_ms"`
	} `json:"target"`
	Out *struct {
		Cents    float64 `json:"cost"`
		ITL      float64 `json:"itl_ms"`
		MaxBatch int     `json:"maxBatch"`
		MaxRPM   float64 `json:"max_rpm_per_replica"`
		Replicas int     `json:"numReplicas"`
		TTFT     float64 `json:"ttft_ms"`
		Value    float64 `json:"value"`
	} `json:"out"`
}

// batch is the family's batch limit at the output length of the load.
func (c *choice) batch() int {
	if c.MaxBatch > 0 {
		return c.MaxBatch
	}
	return max(c.Profile.MaxBatch*c.Profile.AtTokens/c.Output, 1)
}

func (c *choice) station(t *testing.T) *queueing.Station {
	t.Helper()
	parms := c.Profile.Parms
	station, err := queueing.NewStation(queueing.Replica{
		Model:    queueing.LLMDV3,
		Profile:  queueing.Profile{Alpha: parms.Alpha / 1e3, Beta: parms.Beta / 1e3, Gamma: parms.Gamma / 1e3},
		MaxBatch: c.batch(),
		MaxQueue: queueing.Waiting{Limited: true, Places: c.MaxQueue},
	}, queueing.Shape{
		InputTokens: queueing.Tokens(c.Input), OutputTokens: queueing.Tokens(c.Output),
		InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1,
	})
	require.NoError(t, err)
	return station
}

// served is what one replica serves within the target.
func (c *choice) served(t *testing.T) float64 {
	t.Helper()
	capacity, err := c.station(t).Capacity(queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.ITL, Value: c.Target.ITL / 1e3},
		{Metric: queueing.TTFT, Value: c.Target.TTFT / 1e3},
	}})
	require.NoError(t, err)
	return float64(capacity.Served)
}

func TestAllocationVectors(t *testing.T) {
	var file struct {
		Allocations []choice `json:"allocations"`
	}
	read(t, "allocation.json", &file)
	require.Len(t, file.Allocations, 24)
	for _, c := range file.Allocations {
		t.Run(c.ID, func(t *testing.T) {
			p := &optimizer.Problem{
				Pools:     []optimizer.Pool{{Name: "g"}},
				Workloads: []optimizer.Workload{{Name: "s", Priority: 1, Demand: c.PerMinute / 60, MinReplicas: c.Minimum}},
			}
			if c.Profile != nil {
				p.Workloads[0].Variants = []optimizer.Variant{{
					Name: "v", Capacity: c.served(t), DevicesPerReplica: c.Profile.Units,
					Placements: []optimizer.Placement{{PricePerHour: c.Cents * float64(c.Profile.Units)}},
				}}
			}
			s, err := Inferno(p, Options{}, nil)
			require.NoError(t, err)
			c.check(t, s)
		})
	}
}

func (c *choice) check(t *testing.T, s *optimizer.Solution) {
	t.Helper()
	if c.Out == nil {
		require.InDelta(t, c.PerMinute/60, s.Allocations[0].Unmet, 0)
		require.Zero(t, s.PricePerHour)
		return
	}
	require.Equal(t, optimizer.Served, s.Demand)
	require.Equal(t, c.Out.Replicas, sum(slices.Concat(s.Allocations[0].Replicas...)))
	require.InDelta(t, c.Out.Cents, s.PricePerHour, 0)
	require.InDelta(t, c.Out.Value, s.Objective, 0)
	if c.Out.Replicas == 0 || c.PerMinute == 0 {
		return
	}
	require.Equal(t, c.Out.MaxBatch, c.batch())
	require.InEpsilon(t, c.Out.MaxRPM, 60*c.served(t), 1e-4)
	performance := c.station(t).Evaluate(queueing.Rate(c.PerMinute / 60 / float64(c.Out.Replicas)))
	require.InEpsilon(t, c.Out.ITL, 1e3*float64(performance.ITL.Mean()), 1e-4)
	require.InEpsilon(t, c.Out.TTFT, 1e3*float64(performance.TTFT.Mean()), 1e-4)
}

func TestTransitionVectors(t *testing.T) {
	var file struct {
		Transitions []struct {
			From, To string
			Penalty  float64
		} `json:"transition_penalty"`
	}
	read(t, "allocation.json", &file)
	require.Len(t, file.Transitions, 7)
	parse := func(text string) allocation {
		var a allocation
		var ok bool
		var rest string
		a.accelerator, rest, ok = strings.Cut(text, " ")
		require.True(t, ok, text)
		_, err := fmt.Sscanf(rest, "x%d cost %f", &a.replicas, &a.cost)
		require.NoError(t, err, text)
		return a
	}
	for _, c := range file.Transitions {
		t.Run(c.From+" to "+c.To, func(t *testing.T) {
			require.InDelta(t, c.Penalty, transitionPenalty(parse(c.From), parse(c.To)), 1e-5)
		})
	}
}

func TestDistributionVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			ID     string
			Params []struct {
				Name                     string
				Cost                     float64
				MinReplicas, MaxReplicas int
			}
			Blocks []struct {
				Cost     float64
				Replicas int
				Target   string
			}
			ExpansionRate int `json:"costExpansionRatePercent"`
			TotalReplicas int
			Expected      map[string]int
			TotalCost     float64
		}
	}
	read(t, "kthena_distribution.json", &file)
	require.Len(t, file.Cases, 150)
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			targets := make([]Target, len(c.Params))
			for i, p := range c.Params {
				targets[i] = Target{Cost: p.Cost, MinReplicas: p.MinReplicas, MaxReplicas: p.MaxReplicas}
			}
			got, cost := map[string]int{}, 0.0
			for i, n := range Distribute(targets, c.TotalReplicas, c.ExpansionRate) {
				got[c.Params[i].Name] = n
				cost += float64(n) * c.Params[i].Cost
			}
			require.Equal(t, c.Expected, got)
			require.InDelta(t, c.TotalCost, cost, 0)
			if c.ExpansionRate < 100 {
				return // batches of one replica, which fill a target like one batch
			}
			order := batches(targets, c.ExpansionRate)
			require.Len(t, order, len(c.Blocks))
			for i, b := range order {
				require.Equal(t, c.Blocks[i].Target, c.Params[b.target].Name)
				require.Equal(t, c.Blocks[i].Replicas, b.replicas)
				require.InDelta(t, c.Blocks[i].Cost, b.cost, 0)
			}
		})
	}
}
