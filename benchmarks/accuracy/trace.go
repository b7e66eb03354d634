package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"

	"github.com/poolwright/poolwright/benchmarks/internal/records"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// readTrace reads azure2023_conv.csv.gz: requests with moments in seconds.
func readTrace(data string) ([]replica.Request, error) {
	var requests []replica.Request
	err := records.Each(filepath.Join(data, "traces", "azure2023_conv.csv.gz"), func(r *records.Record) {
		requests = append(requests, replica.Request{
			ID: len(requests), Arrival: r.Number("t"), Input: int(r.Number("in")), Output: max(1, int(r.Number("out"))),
		})
	})
	return requests, err
}

// driftingTrace generates a quarter of an hour of traffic of a mean rate, whose rate and
// lengths drift as those of recorded traffic do: the rate rises and falls once, and
// walks at random, changing every 10 s and returning to its mean in some minutes; now
// and then there is a minute of 1.4 times as much; means of lengths wander in opposite
// directions. Equal seeds give equal courses.
func driftingTrace(seed uint64, rate float64) ([]replica.Request, error) {
	const (
		phase, phases                   = 10.0, 90
		persistence, spread             = 0.95, 0.2
		day, burst                      = 0.2, 1.4
		lengthPersistence, lengthSpread = 0.97, 0.02
	)
	random := rand.New(rand.NewPCG(seed, 3))
	intensity, wander := make([]float64, phases), make([]float64, phases)
	level, length, bursting, total := 0.0, 0.0, 0, 0.0
	for i := range intensity {
		level = persistence*level + spread*math.Sqrt(1-persistence*persistence)*random.NormFloat64()
		length = lengthPersistence*length + lengthSpread*random.NormFloat64()
		if bursting--; bursting < 0 && random.IntN(60) == 0 {
			bursting = 5
		}
		intensity[i], wander[i] = math.Exp(level)*(1+day*math.Sin(2*math.Pi*float64(i)/phases)), length
		if bursting >= 0 {
			intensity[i] *= burst
		}
		total += intensity[i]
	}

	var requests []replica.Request
	for i := range intensity {
		shape := driftingShape()
		shape.InputTokens *= queueing.Tokens(math.Exp(wander[i]))
		shape.OutputTokens *= queueing.Tokens(math.Exp(-wander[i] / 2))
		arrivals, err := replica.Load{
			Shape:   shape,
			Phases:  []replica.Phase{{Duration: phase, Rate: queueing.Rate(rate * phases * intensity[i] / total)}},
			Lengths: replica.LogNormal, Seed: seed<<32 + uint64(i),
		}.Arrivals()
		if err != nil {
			return nil, err
		}
		for r := range arrivals {
			r.ID, r.Arrival = len(requests), r.Arrival+float64(i)*phase
			requests = append(requests, r)
		}
	}
	return requests, nil
}

// driftingShape is what lengths of generated traffic wander about.
func driftingShape() queueing.Shape {
	return queueing.Shape{InputTokens: 1000, OutputTokens: 200, InputSCV: 1, OutputSCV: 0.6, ArrivalSCV: 1}
}
