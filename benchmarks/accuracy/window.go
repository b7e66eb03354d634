package main

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// windowLength is the span over which a rate is taken as constant, in seconds.
const windowLength = 15

// tracedReplica is a replica that traffic is sent to.
type tracedReplica struct {
	name    string
	replica queueing.Replica
	// stress replicas are shown, but no target is about them.
	stress bool
}

// tracedReplicas are replicas with the time that one H100 takes for a model of 8
// billion parameters, per request and the same per token of its context, and two whose
// prefill takes a large share of that: many times as long.
func tracedReplicas(trace []replica.Request) []tracedReplica {
	const alpha, beta, delta = 6.83e-3, 57e-6, 2.4e-6
	context := decodingContext(trace)
	profiles := []struct {
		name    string
		profile queueing.Profile
		stress  bool
	}{
		{"β", queueing.Profile{Alpha: alpha, Beta: beta, Delta: delta}, false},
		{"κ", queueing.Profile{Alpha: alpha, Kappa: beta / context, Delta: delta}, false},
		{"β, δ 10 µs", queueing.Profile{Alpha: alpha, Beta: beta, Delta: 10e-6}, true},
		{"β, δ 40 µs", queueing.Profile{Alpha: alpha, Beta: beta, Delta: 40e-6}, true},
	}
	all := make([]tracedReplica, len(profiles))
	for i, p := range profiles {
		all[i] = tracedReplica{p.name, queueing.Replica{Profile: p.profile, MaxBatch: 256, MaxBatchedTokens: 2048}, p.stress}
	}
	return all
}

// decodingContext returns the mean context of the iterations that generate the tokens of
// requests.
func decodingContext(requests []replica.Request) float64 {
	var tokens, read float64
	for _, r := range requests {
		in, out := float64(r.Input), float64(r.Output)
		tokens += out
		read += out * (in + out/2)
	}
	return read / tokens
}

// traceSaturation returns the rate at which a replica completes the requests of a trace
// when all of them are there from the start.
func traceSaturation(r queueing.Replica, trace []replica.Request) (float64, error) {
	at := slices.Clone(trace)
	for i := range at {
		at[i].Arrival = 0
	}
	completions, err := replica.Run(r, slices.Values(at))
	if err != nil {
		return 0, err
	}
	last := 0.0
	for c := range completions {
		last = max(last, c.Finished)
	}
	return float64(len(at)) / last, nil
}

// scaled returns a trace whose mean rate is the given one.
func scaled(trace []replica.Request, rate float64) []replica.Request {
	end := trace[len(trace)-1].Arrival
	factor := float64(len(trace)) / rate / end
	at := slices.Clone(trace)
	for i := range at {
		at[i].Arrival *= factor
	}
	return at
}

// windowsOf cuts a trace in windows, each with the rate and the shape that its own
// requests have.
func windowsOf(r queueing.Replica, trace []replica.Request) ([]queueing.Window, error) {
	var windows []queueing.Window
	shape := shapeOf(trace)
	for start, i := 0.0, 0; i < len(trace); start += windowLength {
		j := i
		for j < len(trace) && trace[j].Arrival < start+windowLength {
			j++
		}
		if j > i {
			shape = shapeOf(trace[i:j])
		}
		s, err := queueing.NewStation(r, shape)
		if err != nil {
			return nil, err
		}
		windows = append(windows, queueing.Window{
			Station: s, Rate: queueing.Rate(float64(j-i) / windowLength), Length: windowLength,
		})
		i = j
	}
	return windows, nil
}

// fewestGaps is the least number of times between arrivals that say something about
// their variation; arrivals are taken as Poisson below.
const fewestGaps = 30

// shapeOf returns the moments of requests.
func shapeOf(requests []replica.Request) queueing.Shape {
	var in, out, product, gaps moments
	for i, r := range requests {
		in.add(float64(r.Input))
		out.add(float64(r.Output))
		product.add(float64(r.Input) * float64(r.Output))
		if i > 0 {
			gaps.add(r.Arrival - requests[i-1].Arrival)
		}
	}
	s := queueing.Shape{
		InputTokens: queueing.Tokens(in.mean()), InputSCV: in.scv(),
		OutputTokens: queueing.Tokens(out.mean()), OutputSCV: out.scv(),
		ArrivalSCV: 1,
	}
	if spread := in.mean() * out.mean() * math.Sqrt(in.scv()*out.scv()); spread > 0 {
		s.LengthCorrelation = min(max((product.mean()-in.mean()*out.mean())/spread, -1), 1)
	}
	if gaps.n >= fewestGaps {
		s.ArrivalSCV = gaps.scv()
	}
	return s
}

// moments are sums of numbers and of their squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

func (m *moments) mean() float64 { return m.sum / m.n }

// scv returns the squared coefficient of variation.
func (m *moments) scv() float64 {
	if m.sum == 0 {
		return 0
	}
	return math.Max(m.squares*m.n/(m.sum*m.sum)-1, 0)
}
