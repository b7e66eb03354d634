package replica

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolwright/poolwright/queueing"
)

// Load describes requests to generate. Equal loads give equal requests; arrivals,
// prompts, outputs and cached prefixes are drawn independently of each other, so that
// loads which differ in one of them share the others.
type Load struct {
	// Shape gives means and variation. Times between arrivals are gamma variables:
	// exponential for an SCV of 1, all equal for 0.
	Shape queueing.Shape
	// Phases gives the rate over time, from time 0 on. The load ends with the last one.
	Phases []Phase
	// Lengths is the distribution of prompts and outputs.
	Lengths Distribution
	// Requests is the most requests to generate; 0 = as many as the phases have.
	Requests int
	Seed     uint64
}

// Phase is a span of time with a constant rate.
type Phase struct {
	// Duration is positive, possibly +Inf.
	Duration queueing.Seconds
	// Rate is finite and ≥ 0.
	Rate queueing.Rate
}

// Constant returns a rate that never changes and never ends.
func Constant(rate queueing.Rate) []Phase {
	return []Phase{{Duration: queueing.Seconds(math.Inf(1)), Rate: rate}}
}

// Streams of random numbers.
const (
	arrivalStream = iota
	inputStream
	outputStream
	cacheStream
)

// Arrivals generates the requests, one at a time, with IDs from 0 on. They may be
// iterated over again. The error says what is wrong with the load.
func (l Load) Arrivals() (iter.Seq[Request], error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	return func(yield func(Request) bool) {
		clock := newArrivalClock(l)
		input := NewLengths(l.Shape.InputTokens, l.Shape.InputSCV, l.Lengths, l.stream(inputStream))
		output := NewLengths(l.Shape.OutputTokens, l.Shape.OutputSCV, l.Lengths, l.stream(outputStream))
		cache := l.stream(cacheStream)
		for id := 0; id < l.Requests || l.Requests == 0; id++ {
			arrival, more := clock.next()
			if !more {
				return
			}
			r := Request{ID: id, Arrival: arrival, Input: input.Draw(), Output: output.Draw()}
			r.Cached = roundRandomly(l.Shape.PrefixHitRatio*float64(r.Input), cache)
			if !yield(r) {
				return
			}
		}
	}, nil
}

func (l Load) stream(n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed, n))
}

func (l Load) validate() error {
	var errs []error
	// Whatever else a station needs is given.
	anything := queueing.Replica{Profile: queueing.Profile{Alpha: 1}, MaxBatch: 1}
	if _, err := queueing.NewStation(anything, l.Shape); err != nil {
		errs = append(errs, fmt.Errorf("replica: shape: %w", err))
	}
	if l.Lengths != Gamma && l.Lengths != LogNormal {
		errs = append(errs, fmt.Errorf("replica: lengths: %d is no distribution", l.Lengths))
	}
	if l.Requests < 0 {
		errs = append(errs, fmt.Errorf("replica: requests: %d < 0", l.Requests))
	}
	for i, p := range l.Phases {
		if !(p.Duration > 0) {
			errs = append(errs, fmt.Errorf("replica: phases[%d].duration: %v is not positive", i, p.Duration))
		}
		if !(p.Rate >= 0) || math.IsInf(float64(p.Rate), 1) {
			errs = append(errs, fmt.Errorf("replica: phases[%d].rate: %v is not finite and ≥ 0", i, p.Rate))
		}
	}
	return errors.Join(errs...)
}

// arrivalClock is a renewal process whose time runs at the rate of the phases.
type arrivalClock struct {
	phases []Phase
	// now is the last arrival, end the end of the first phase left.
	now, end float64
	scv      float64
	random   *rand.Rand
	gaps     distuv.Gamma
}

func newArrivalClock(l Load) *arrivalClock {
	c := &arrivalClock{phases: l.Phases, scv: l.Shape.ArrivalSCV, random: l.stream(arrivalStream)}
	if c.scv > 0 {
		c.gaps = distuv.Gamma{Alpha: 1 / c.scv, Beta: 1 / c.scv, Src: c.random}
	}
	if len(c.phases) > 0 {
		c.end = float64(c.phases[0].Duration)
	}
	return c
}

// gap draws from a distribution of mean 1.
func (c *arrivalClock) gap() float64 {
	switch c.scv {
	case 0:
		return 1
	case 1:
		return c.random.ExpFloat64()
	}
	return c.gaps.Rand()
}

// next returns the moment of the next arrival, or false after the last one.
func (c *arrivalClock) next() (moment float64, more bool) {
	gap := c.gap()
	for len(c.phases) > 0 {
		rate := float64(c.phases[0].Rate)
		if arrival := c.now + gap/rate; rate > 0 && arrival <= c.end {
			c.now = arrival
			return arrival, true
		}
		if math.IsInf(c.end, 1) {
			return 0, false
		}
		gap -= (c.end - c.now) * rate
		c.now = c.end
		c.phases = c.phases[1:]
		if len(c.phases) > 0 {
			c.end += float64(c.phases[0].Duration)
		}
	}
	return 0, false
}
