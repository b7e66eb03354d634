package calibration

import (
	"cmp"
	"math"
	"slices"

	"github.com/poolwright/poolwright/queueing"
)

// observation is one metric of one sample.
type observation struct {
	sample int
	group  string
	metric queueing.Metric
	value  float64
	weight float64
	// counts tells whether it is fitted.
	counts bool
	load   load
}

// predict returns what coefficients predict for an observation, in seconds.
func (o *observation) predict(c *coefficients) float64 {
	t := 0.0
	if o.load.kind == DecodePoint || o.load.intervals > 0 {
		t = o.load.itl(c)
	}
	if o.metric == queueing.ITL {
		return t
	}
	return o.load.ttft(c, t)
}

// deviation returns log(predicted/observed): the relative error to first order, but a
// value that is twice too long deviates as much as one that is twice too short.
func (o *observation) deviation(c *coefficients) float64 {
	return math.Log(max(o.predict(c), leastPrediction) / o.value)
}

const (
	// leastPrediction stands for one of 0 seconds, which has no logarithm.
	leastPrediction = 1e-15
	// huberTuning is the deviation in standard deviations from which on an
	// observation counts less: 95 % efficiency on normal errors. P. J. Huber,
	// "Robust Estimation of a Location Parameter" (1964).
	huberTuning = 1.345
	// leastSpread keeps deviations that nobody measures, 0.01 %, from being outliers.
	leastSpread = 1e-4
	// maxIterations bounds the Gauss–Newton iterations.
	maxIterations = 60
)

// problem is a fit: observations that count, and the terms that are free. The others
// keep the values that they have in start.
type problem struct {
	observations []observation
	free         []Term
	start        coefficients
	// fixOrder says which of several terms that can't be told apart is fixed first.
	fixOrder [terms]Term
	// stop tells whether to give up: what is found then is worth nothing.
	stop func() bool
}

// solution is the minimum of a problem.
type solution struct {
	values coefficients
	// spread is the robust standard deviation of the deviations.
	spread float64
	// deviations and robustness are per observation; robustness is the factor of its
	// weight, 1 for all but outliers.
	deviations, robustness []float64
	// cost is Huber's function, summed.
	cost float64
}

// solve minimizes Σ weight·ρ(deviation/spread) over non-negative coefficients, where
// ρ is Huber's function, by Gauss–Newton steps that are non-negative least-squares
// problems, and backtracking. The spread is the median absolute deviation, estimated
// anew between steps as usual for M-estimates: P. J. Huber, E. M. Ronchetti, "Robust
// Statistics" (2009), section 7.8.
func (p *problem) solve() solution {
	c := p.startingPoint()
	s := p.evaluate(c, 0)
	if len(p.free) == 0 {
		return s
	}
	for range maxIterations {
		if p.stop() {
			break
		}
		next, improved := p.step(s)
		if !improved {
			break
		}
		moved := distance(s.values, next.values)
		s = p.evaluate(next.values, 0)
		if moved < 1e-9 {
			break
		}
	}
	return s
}

// step returns a solution of less cost at the same spread.
func (p *problem) step(s solution) (next solution, improved bool) {
	rows, targets := p.linearized(s)
	x := newLeastSquares(rows, targets).nonNegative()
	target := s.values
	for k, t := range p.free {
		target[t] = min(x[k], maxSeconds)
	}
	for length := 1.0; length > 1e-4; length /= 2 {
		c := s.values
		for _, t := range p.free {
			c[t] += length * (target[t] - c[t])
		}
		next = p.evaluate(c, s.spread)
		if next.cost < s.cost*(1-1e-15) {
			return next, true
		}
	}
	return s, false
}

// linearized returns the least-squares problem whose solution is the next step: rows of
// derivatives of log predictions, weighted.
func (p *problem) linearized(s solution) (rows [][]float64, targets []float64) {
	for i := range p.observations {
		o := &p.observations[i]
		weight := math.Sqrt(o.weight * s.robustness[i])
		row := p.derivatives(o, s.values)
		target := -s.deviations[i]
		for k, t := range p.free {
			target += row[k] * s.values[t]
			row[k] *= weight
		}
		rows = append(rows, row)
		targets = append(targets, weight*target)
	}
	return rows, targets
}

// derivatives returns ∂ log(predicted)/∂c over the free terms.
func (p *problem) derivatives(o *observation, c coefficients) []float64 {
	predicted := max(o.predict(&c), leastPrediction)
	row := make([]float64, len(p.free))
	for k, t := range p.free {
		step := 1e-5 * max(c[t], predicted/o.load.size(t))
		up, down := c, c
		up[t] += step
		down[t] = max(0, c[t]-step)
		row[k] = (o.predict(&up) - o.predict(&down)) / (up[t] - down[t]) / predicted
	}
	return row
}

// evaluate returns the cost and what belongs to it. A spread of 0 is estimated.
func (p *problem) evaluate(c coefficients, spread float64) solution {
	s := solution{
		values:     c,
		spread:     spread,
		deviations: make([]float64, len(p.observations)),
		robustness: make([]float64, len(p.observations)),
	}
	for i := range p.observations {
		s.deviations[i] = p.observations[i].deviation(&c)
	}
	if spread == 0 {
		s.spread = max(p.medianDeviation(s.deviations)/0.6745, leastSpread)
	}
	limit := huberTuning * s.spread
	for i, d := range s.deviations {
		s.robustness[i] = 1
		cost := d * d / 2
		if a := math.Abs(d); a > limit {
			s.robustness[i] = limit / a
			cost = limit * (a - limit/2)
		}
		s.cost += p.observations[i].weight * cost
	}
	return s
}

// medianDeviation returns the weighted median of absolute deviations.
func (p *problem) medianDeviation(deviations []float64) float64 {
	weighted := make([]weightedValue, len(deviations))
	for i, d := range deviations {
		weighted[i] = weightedValue{math.Abs(d), p.observations[i].weight}
	}
	return quantile(weighted, 0.5)
}

// startingPoint returns coefficients of the right size: every free term alone makes
// an equal part of the median observation.
func (p *problem) startingPoint() coefficients {
	c := p.start
	for _, t := range p.free {
		var parts []weightedValue
		for i := range p.observations {
			o := &p.observations[i]
			parts = append(parts, weightedValue{o.value / o.load.size(t), o.weight})
		}
		c[t] = quantile(parts, 0.5) / float64(len(p.free))
	}
	return c
}

// distance returns how far two vectors of coefficients are apart, relative to their
// sizes.
func distance(a, b coefficients) float64 {
	most := 0.0
	for t := range a {
		if size := max(a[t], b[t]); size > 0 {
			most = max(most, math.Abs(a[t]-b[t])/size)
		}
	}
	return most
}

type weightedValue struct{ value, weight float64 }

// quantile returns the least value that has at least a share q of the weight at or
// below it.
func quantile(values []weightedValue, q float64) float64 {
	slices.SortFunc(values, func(a, b weightedValue) int { return cmp.Compare(a.value, b.value) })
	total := 0.0
	for _, v := range values {
		total += v.weight
	}
	reached := 0.0
	for _, v := range values {
		reached += v.weight
		if reached >= q*total {
			return v.value
		}
	}
	return values[len(values)-1].value
}
