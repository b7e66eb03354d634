package main

import (
	"fmt"

	"github.com/poolwright/poolwright/benchmarks/baseline"
	"github.com/poolwright/poolwright/queueing"
)

// cell is one replica under one shape, in the words of both sides, with the
// questions that both are asked.
type cell struct {
	model, shape  string
	batch, places int

	replica  queueing.Replica
	load     queueing.Shape
	baseline baseline.Replica

	rates      []queueing.Rate
	objectives []objective
}

// objective is limits on mean TTFT and mean ITL, in the words of both sides.
type objective struct {
	slo     queueing.SLO
	targets baseline.Targets
}

func (c *cell) String() string {
	return fmt.Sprintf("%s/%s/B=%d/Q=%d", c.model, c.shape, c.batch, c.places)
}

// generation is a service model that both sides know, with coefficients of an 8B
// model on one H100, in milliseconds.
type generation struct {
	name                      string
	ours                      queueing.ServiceModel
	theirs                    baseline.Model
	alpha, beta, gamma, delta float64
}

// generations leaves out the first one, whose queue has a fixed length. The third
// uses the coefficients of the second, as the family does.
func generations() []generation {
	return []generation{
		{"V1", queueing.LLMDV1, baseline.V1, 7.47, 0.044, 15.415, 0.000337},
		{"V2", queueing.LLMDV2, baseline.V2, 6.49, 0.0219, 4.96e-5, 0},
		{"V3", queueing.LLMDV3, baseline.V3, 6.49, 0.0219, 4.96e-5, 0},
	}
}

type namedShape struct {
	name    string
	in, out float64
}

func shapes() []namedShape {
	return []namedShape{{"chat", 512, 256}, {"summary", 4096, 64}}
}

// batches returns the batch limits, and queues the waiting places at each.
func batches() []int         { return []int{16, 64, 256} }
func queues(batch int) []int { return []int{128, 10 * batch} }

// cells returns all combinations.
func cells() ([]*cell, error) {
	var all []*cell
	for _, batch := range batches() {
		for _, places := range queues(batch) {
			for _, g := range generations() {
				for _, s := range shapes() {
					c := newCell(g, s, batch, places)
					if err := c.ask(); err != nil {
						return nil, fmt.Errorf("%s: %w", c, err)
					}
					all = append(all, c)
				}
			}
		}
	}
	return all, nil
}

func newCell(g generation, s namedShape, batch, places int) *cell {
	return &cell{
		model: g.name, shape: s.name, batch: batch, places: places,
		replica: queueing.Replica{
			Model: g.ours,
			Profile: queueing.Profile{
				Alpha: g.alpha / 1e3, Beta: g.beta / 1e3, Gamma: g.gamma / 1e3, Delta: g.delta / 1e3,
			},
			MaxBatch: batch,
			MaxQueue: queueing.Waiting{Limited: true, Places: places},
		},
		load: queueing.Shape{InputTokens: queueing.Tokens(s.in), OutputTokens: queueing.Tokens(s.out)},
		baseline: baseline.Replica{
			Model: g.theirs,
			Alpha: float32(g.alpha), Beta: float32(g.beta), Gamma: float32(g.gamma), Delta: float32(g.delta),
			In: float32(s.in), Out: float32(s.out),
			MaxBatch: batch, MaxQueue: places,
		},
	}
}

// ask sets the questions: rates from light load to the highest that the baseline
// takes, and limits that are reached at given shares of it.
func (c *cell) ask() error {
	station, err := queueing.NewStation(c.replica, c.load)
	if err != nil {
		return err
	}
	const steps = 16
	// The baseline refuses its own highest rate where single precision rounds it down.
	highest := 0.9989 * station.SaturationRate()
	for i := 1; i <= steps; i++ {
		c.rates = append(c.rates, highest*queueing.Rate(i)/steps)
	}
	for _, share := range []struct{ ttft, itl queueing.Rate }{
		{0.9, 0.6}, {0.6, 0.9}, {0.99, 0.95}, {0.95, 0.3},
	} {
		ttft := station.Evaluate(share.ttft * highest).TTFT.Mean()
		itl := station.Evaluate(share.itl * highest).ITL.Mean()
		c.objectives = append(c.objectives, objective{
			slo: queueing.SLO{Limits: []queueing.Limit{
				{Metric: queueing.TTFT, Value: float64(ttft)},
				{Metric: queueing.ITL, Value: float64(itl)},
			}},
			targets: baseline.Targets{TTFT: float32(1e3 * ttft), ITL: float32(1e3 * itl)},
		})
	}
	return nil
}
