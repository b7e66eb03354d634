package main

import (
	"math"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// effort bounds a simulation by the tokens it generates or computes one by one: about
// the iterations it takes.
type effort struct{ least, most float64 }

// fewestRequests is the least number of requests simulated, a quarter of them warm-up.
const fewestRequests = 4000

// oracleSaturation returns the rate at which the simulated replica completes requests
// while more of them wait than it can run.
func oracleSaturation(c *oracleCase) (float64, error) {
	r := c.replica
	r.MaxQueue = queueing.Waiting{}
	s, err := queueing.NewStation(r, c.shape)
	if err != nil {
		return 0, err
	}
	// The queue grows as fast as it is served, so half of the requests are completed
	// within the load.
	rate := 2 * float64(s.SaturationRate())
	for {
		requests := max(fewestRequests, 40*r.MaxBatch)
		m, err := simulate(c, r, rate, requests)
		if err != nil {
			return 0, err
		}
		if served := float64(m.Totals.Throughput()); served < 0.8*rate {
			return served, nil
		}
		rate *= 4
	}
}

// simulate runs a number of requests at a rate; the first quarter is warm-up.
func simulate(c *oracleCase, r queueing.Replica, rate float64, requests int) (replica.Measurement, error) {
	server, err := replica.New(r)
	if err != nil {
		return replica.Measurement{}, err
	}
	load := replica.Load{
		Shape: c.shape, Lengths: c.lengths, Seed: c.seed,
		Phases: replica.Constant(queueing.Rate(rate)), Requests: requests,
	}
	arrivals, err := load.Arrivals()
	if err != nil {
		return replica.Measurement{}, err
	}
	return replica.Measure(server, arrivals, float64(requests)/rate/4), nil
}

// observe simulates a case at a rate until its mean TTFT is known well enough or the
// effort is spent.
func observe(c *oracleCase, rate, saturation float64, e effort) (point, error) {
	perRequest := iterationsPerRequest(c, rate/saturation)
	requests := int(min(max(e.least/perRequest, fewestRequests), 1e6))
	for {
		m, err := simulate(c, c.replica, rate, requests)
		if err != nil {
			return point{}, err
		}
		p := pointOf(c, m, rate/saturation)
		next := 4 * requests
		if p.ttft.interval <= mostInterval/4*p.ttft.mean || float64(next)*perRequest > e.most || next > 1e6 {
			return p, nil
		}
		requests = next
	}
}

// iterationsPerRequest estimates the iterations that one more request takes: a full
// batch shares them.
func iterationsPerRequest(c *oracleCase, load float64) float64 {
	running := max(1, load*load*float64(c.replica.MaxBatch))
	return 1 + float64(c.shape.OutputTokens)/running
}

func pointOf(c *oracleCase, m replica.Measurement, load float64) point {
	latency := func(s *replica.Sample) observed {
		if s.Len() == 0 {
			return observed{}
		}
		return observed{
			mean: s.Mean(), p50: s.Quantile(0.5), p95: s.Quantile(0.95), p99: s.Quantile(0.99),
			interval: s.Interval(),
		}
	}
	p := point{
		condition: condition{
			replica: c.replica, shape: c.shape,
			rate: float64(m.Totals.Accepted+m.Totals.Rejected) / m.Totals.Time,
		},
		load: load,
		ttft: latency(&m.TTFT), itl: latency(&m.ITL), e2e: latency(&m.E2E),
		running: m.Totals.MeanRunning(), blocked: m.BlockedShare(),
	}
	if math.IsInf(p.itl.interval, 1) {
		p.itl = observed{}
	}
	return p
}
