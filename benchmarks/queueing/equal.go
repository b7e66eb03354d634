package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/benchmarks/baseline"
	"github.com/poolwright/poolwright/queueing"
)

const (
	// tolerance is the largest relative difference of answers that count as equal.
	tolerance = 1e-4
	// rounding is the relative error of the baseline's load, the ratio of an arrival
	// rate and a service rate that are each rounded to single precision.
	rounding = 1.0 / (1 << 23)
)

// different returns an error for each answer of the baseline that is not ours.
func (c *cell) different() error {
	theirs, err := baseline.New(c.baseline)
	if err != nil {
		return err
	}
	ours, err := queueing.NewStation(c.replica, c.load)
	if err != nil {
		return err
	}
	var all []error
	for _, rate := range c.rates {
		m, err := theirs.Analyze(float32(rate))
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		p := ours.Evaluate(rate)
		// A queue is as long as 1/(1-load), and so is the effect of rounding on it.
		queue := tolerance + rounding/float64(1-rate/p.SaturationRate)
		all = append(all,
			c.compare(rate, "throughput", float64(m.Throughput), float64(p.Throughput), tolerance),
			c.compare(rate, "ttft", float64(m.TTFT)/1e3, float64(p.TTFT.Mean()), queue),
			c.compare(rate, "itl", float64(m.ITL)/1e3, float64(p.ITL.Mean()), tolerance))
	}
	for _, o := range c.objectives {
		s, err := theirs.Size(o.targets)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		sized, err := ours.Capacity(o.slo)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		all = append(all,
			c.compare(sized.Rate, "capacity", float64(s.Rate), float64(sized.Rate), tolerance),
			c.compare(sized.Rate, "served", float64(s.Metrics.Throughput), float64(sized.Served), tolerance))
	}
	return errors.Join(all...)
}

func (c *cell) compare(rate queueing.Rate, what string, theirs, ours, allowed float64) error {
	if math.Abs(theirs-ours) <= allowed*math.Abs(ours) {
		return nil
	}
	return fmt.Errorf("%s at %.6g requests/s: %s: baseline %.8g, ours %.8g", c, rate, what, theirs, ours)
}
