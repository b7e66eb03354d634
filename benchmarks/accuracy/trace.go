package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// readTrace reads azure2023_conv.csv.gz: requests with moments in seconds.
func readTrace(data string) ([]replica.Request, error) {
	file := filepath.Join(data, "traces", "azure2023_conv.csv.gz")
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	plain, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rows, err := csv.NewReader(plain).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all, err := recordsOf(file, rows)
	if err != nil {
		return nil, err
	}
	requests := make([]replica.Request, len(all.rows))
	for i := range requests {
		r := record{records: &all, index: i}
		requests[i] = replica.Request{
			ID: i, Arrival: r.number("t"), Input: int(r.number("in")), Output: max(1, int(r.number("out"))),
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return requests, nil
}

// driftingTrace generates an hour of traffic whose rate drifts and has bursts, as
// recorded traffic does: a random walk that changes every 10 s and returns to its mean
// in some minutes, and now and then a minute at twice the rate.
func driftingTrace() ([]replica.Request, error) {
	const (
		phase, phases = 10.0, 360
		persistence   = 0.95
		spread        = 0.25
	)
	random := rand.New(rand.NewPCG(2023, 3))
	load := replica.Load{
		Shape: queueing.Shape{
			InputTokens: 1000, OutputTokens: 200, InputSCV: 1.2, OutputSCV: 0.6, ArrivalSCV: 1,
		},
		Lengths: replica.LogNormal, Seed: 2023,
	}
	level, burst := 0.0, 0
	for range phases {
		level = persistence*level + spread*math.Sqrt(1-persistence*persistence)*random.NormFloat64()
		if burst--; burst < 0 && random.IntN(60) == 0 {
			burst = 5
		}
		rate := 5 * math.Exp(level)
		if burst >= 0 {
			rate *= 2
		}
		load.Phases = append(load.Phases, replica.Phase{Duration: phase, Rate: queueing.Rate(rate)})
	}
	arrivals, err := load.Arrivals()
	if err != nil {
		return nil, err
	}
	var requests []replica.Request
	for r := range arrivals {
		requests = append(requests, r)
	}
	return requests, nil
}
