package replica_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// drifting draws requests whose rate and lengths drift: a day within the span, bursts of
// half a minute that come at random, and lengths whose means wander. rate is the mean.
func drifting(seed uint64, span, rate float64, shape queueing.Shape) []replica.Request {
	random := rand.New(rand.NewPCG(seed, 0))
	const step = 5.0
	var requests []replica.Request
	burst, wander := 0.0, 0.0
	for start := 0.0; start < span; start += step {
		day := 1 + 0.35*math.Sin(2*math.Pi*start/span)
		if burst -= step; burst <= 0 && random.Float64() < step/240 {
			burst = 30
		}
		intensity := rate * 0.96 * day
		if burst > 0 {
			intensity *= 1.35
		}
		wander += 0.02*random.NormFloat64() - wander*step/300
		s := shape
		s.InputTokens *= queueing.Tokens(math.Exp(wander))
		s.OutputTokens *= queueing.Tokens(math.Exp(-wander / 2))
		load := replica.Load{
			Shape:  s,
			Phases: []replica.Phase{{Duration: step, Rate: queueing.Rate(intensity)}},
			Seed:   seed<<32 + uint64(start),
		}
		arrivals, err := load.Arrivals()
		if err != nil {
			panic(err)
		}
		for r := range arrivals {
			r.ID, r.Arrival = len(requests), r.Arrival+start
			requests = append(requests, r)
		}
	}
	return requests
}

// windowsOf groups requests by arrival and describes each window by its own lengths; an
// empty one by those of the window before.
func windowsOf(t *testing.T, r queueing.Replica, requests []replica.Request, width float64) []queueing.Window {
	t.Helper()
	var windows []queueing.Window
	shape := queueing.Shape{OutputTokens: 1}
	for n := 0; len(requests) > 0; n++ {
		end := slices.IndexFunc(requests, func(q replica.Request) bool { return q.Arrival >= float64(n+1)*width })
		if end < 0 {
			end = len(requests)
		}
		if end > 0 {
			shape = shapeOf(requests[:end])
		}
		station, err := queueing.NewStation(r, shape)
		require.NoError(t, err)
		windows = append(windows, queueing.Window{
			Station: station,
			Rate:    queueing.Rate(float64(end) / width),
			Length:  queueing.Seconds(width),
		})
		requests = requests[end:]
	}
	return windows
}

// shapeOf describes requests that arrive at random.
func shapeOf(requests []replica.Request) queueing.Shape {
	var in, out, inSquare, outSquare float64
	for _, r := range requests {
		in += float64(r.Input)
		out += float64(r.Output)
		inSquare += float64(r.Input) * float64(r.Input)
		outSquare += float64(r.Output) * float64(r.Output)
	}
	n := float64(len(requests))
	in, out, inSquare, outSquare = in/n, out/n, inSquare/n, outSquare/n
	return queueing.Shape{
		InputTokens:  queueing.Tokens(in),
		OutputTokens: queueing.Tokens(out),
		InputSCV:     max(inSquare/(in*in)-1, 0),
		OutputSCV:    max(outSquare/(out*out)-1, 0),
		ArrivalSCV:   1,
	}
}

// TestSeriesFollowsDrift: window by window, with what is carried over, the model keeps
// up with a load that drifts into overload and out of it; mean TTFT over all requests is
// within 10 % of the simulation, mean ITL within 5 %.
func TestSeriesFollowsDrift(t *testing.T) {
	const width, span = 15, 1800
	shape := queueing.Shape{InputTokens: 1000, OutputTokens: 200, InputSCV: 0.8, OutputSCV: 0.6, ArrivalSCV: 1}
	for name, profile := range map[string]queueing.Profile{
		"light prefill": {Alpha: 6.83e-3, Beta: 57e-6, Delta: 2.4e-6},
		"attention":     {Alpha: 6.83e-3, Kappa: 45e-9, Delta: 2.4e-6},
		"prefill":       {Alpha: 6.83e-3, Beta: 57e-6, Delta: 10e-6},
	} {
		r := queueing.Replica{Profile: profile, MaxBatch: 256, MaxBatchedTokens: 2048}
		whole, err := queueing.NewStation(r, shape)
		require.NoError(t, err)
		for _, load := range []float64{0.3, 0.5, 0.7, 0.8, 0.9} {
			t.Run(fmt.Sprintf("%s/%v", name, load), func(t *testing.T) {
				requests := drifting(1, span, load*float64(whole.SaturationRate()), shape)
				completions, err := replica.Run(r, slices.Values(requests))
				require.NoError(t, err)
				measured := replica.Collect(completions, 0)

				windows := windowsOf(t, r, requests, width)
				results, _ := queueing.EvaluateSeries(nil, windows, queueing.Backlog{})
				var ttft, itl, arrived, served float64
				for i, w := range windows {
					ttft += float64(w.Rate) * float64(results[i].TTFT)
					arrived += float64(w.Rate)
					itl += float64(results[i].Throughput) * float64(results[i].ITL)
					served += float64(results[i].Throughput)
				}
				require.InEpsilon(t, measured.TTFT.Mean(), ttft/arrived, 0.10)
				require.InEpsilon(t, measured.ITL.Mean(), itl/served, 0.05)
			})
		}
	}
}

// TestTandemFollowsPair: a prefill and a decode station in tandem predict the simulated
// pair: TTFT, ITL and E2E.
func TestTandemFollowsPair(t *testing.T) {
	d := queueing.Disaggregated{
		Prefill:         queueing.Replica{Profile: queueing.Profile{Alpha: 6.83e-3, Delta: 10e-6, TTFTOffset: 5e-3}, MaxBatch: 64, MaxBatchedTokens: 4096},
		Decode:          queueing.Replica{Profile: queueing.Profile{Alpha: 6.83e-3, Beta: 20e-6, Kappa: 40e-9}, MaxBatch: 256},
		PrefillReplicas: 1,
		DecodeReplicas:  1,
		Transfer:        queueing.Transfer{Base: 5e-3, PerToken: 5e-6},
	}
	shape := queueing.Shape{InputTokens: 1000, OutputTokens: 150, InputSCV: 0.8, OutputSCV: 0.6, ArrivalSCV: 1}
	tandem, err := queueing.NewTandem(d, shape)
	require.NoError(t, err)
	for _, share := range []float64{0.2, 0.4, 0.6, 0.8} {
		rate := queueing.Rate(share) * tandem.SaturationRate()
		load := replica.Load{Shape: shape, Phases: replica.Constant(rate), Requests: 60_000, Seed: 7}
		arrivals, err := load.Arrivals()
		require.NoError(t, err)
		server := pair(t, d.Prefill, d.Decode, replica.Transfer(d.Transfer))
		measured := replica.Collect(replica.Serve(server, arrivals), 20)
		p := tandem.Evaluate(rate)
		require.InEpsilon(t, measured.TTFT.Mean(), float64(p.TTFT.Mean()), 0.10, share)
		require.InEpsilon(t, measured.TTFT.Quantile(0.95), float64(p.TTFT.Quantile(0.95)), 0.15, share)
		require.InEpsilon(t, measured.ITL.Mean(), float64(p.ITL.Mean()), 0.05, share)
		require.InEpsilon(t, measured.E2E.Mean(), float64(p.E2E.Mean()), 0.05, share)
	}
}
