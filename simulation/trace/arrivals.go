package trace

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Process says how arrivals vary around their rate.
type Process int

const (
	// Poisson arrivals are independent of each other. The default.
	Poisson Process = iota
	// Gamma has times between arrivals that are gamma variables.
	Gamma
	// Weibull has times between arrivals that are Weibull variables.
	Weibull
)

// MinSCV and MaxSCV are the least and the largest SCV of a process other than Poisson. Beyond
// them its variables are as good as constant, or almost all 0.
const (
	MinSCV = 1e-4
	MaxSCV = 1e6
)

// Arrivals is a renewal process whose time runs at a rate: the integral of the rate between
// one arrival and the next is a random variable of mean 1. It starts as if it had always
// run, so that the number of arrivals in any time is the integral of the rate on the mean.
type Arrivals struct {
	// Rate is the mean rate over time.
	Rate Curve
	// Process is the distribution of those variables, SCV their squared coefficient of
	// variation, from MinSCV to MaxSCV. It does not count for Poisson, where it is 1.
	Process Process
	SCV     float64
	// States, if any, modulate the rate as a Markov process. With Poisson arrivals that is
	// a Markov-modulated Poisson process.
	States []State
}

// State is one of a Markov process. It lasts an exponential time of mean Sojourn seconds,
// positive, and any other one follows with equal probability. While it lasts, the rate is
// multiplied by Factor, ≥ 0, over the mean of the factors over time: so the mean of the
// rate is as given.
type State struct{ Factor, Sojourn float64 }

func (a *Arrivals) check() error {
	var errs []error
	if a.Process < Poisson || a.Process > Weibull {
		errs = append(errs, fmt.Errorf("trace: there is no process %d", a.Process))
	}
	if a.Process != Poisson && !(a.SCV >= MinSCV && a.SCV <= MaxSCV) {
		errs = append(errs, fmt.Errorf("trace: scv %g is not in [%g, %g]", a.SCV, MinSCV, MaxSCV))
	}
	others := len(errs)
	for i, s := range a.States {
		if !(s.Sojourn > 0) || math.IsInf(s.Sojourn, 1) {
			errs = append(errs, fmt.Errorf("trace: states[%d]: sojourn %g s is not positive", i, s.Sojourn))
		}
		if !(s.Factor >= 0) || math.IsInf(s.Factor, 1) {
			errs = append(errs, fmt.Errorf("trace: states[%d]: factor %g is not finite and ≥ 0", i, s.Factor))
		}
	}
	if _, mean := overTime(a.States); len(errs) == others && len(a.States) > 0 && !(mean > 0 && mean < math.Inf(1)) {
		errs = append(errs, fmt.Errorf("trace: states: the mean of factors over time must be positive and finite, and is %g", mean))
	}
	return errors.Join(errs...)
}

// gaps draws the variables of mean 1.
type gaps struct {
	random *rand.Rand
	kind   Process
	gamma  distuv.Gamma
	// shape and scale are those of the Weibull distribution.
	shape, scale float64
}

func newGaps(a *Arrivals, random *rand.Rand) gaps {
	g := gaps{random: random, kind: a.Process}
	switch a.Process {
	case Gamma:
		g.gamma = distuv.Gamma{Alpha: 1 / a.SCV, Beta: 1 / a.SCV, Src: random}
	case Weibull:
		g.shape = weibullShape(a.SCV)
		g.scale = 1 / math.Gamma(1+1/g.shape)
	}
	return g
}

func (g *gaps) draw() float64 {
	switch g.kind {
	case Gamma:
		return g.gamma.Rand()
	case Weibull:
		return g.scale * math.Pow(g.random.ExpFloat64(), 1/g.shape)
	}
	return g.random.ExpFloat64()
}

// first draws what is left of the gap that lasts at time 0: a uniform part of a gap that is
// met with a probability in proportion to its length (Cox: Renewal Theory, 1962). Such a gap
// is a gamma variable of a shape larger by 1; to the power of its shape and in its scale, a
// Weibull one is a gamma variable of shape 1 + 1/shape.
func (g *gaps) first() float64 {
	switch g.kind {
	case Gamma:
		met := g.gamma
		met.Alpha++
		return met.Rand() * g.random.Float64()
	case Weibull:
		met := distuv.Gamma{Alpha: 1 + 1/g.shape, Beta: 1, Src: g.random}
		return g.scale * math.Pow(met.Rand(), 1/g.shape) * g.random.Float64()
	}
	return g.random.ExpFloat64()
}

// weibullShape inverts SCV = Γ(1+2/k)/Γ(1+1/k)² - 1, which falls with the shape k.
func weibullShape(scv float64) float64 {
	low, high := -7.0, 7.0 // ln k
	for range 60 {
		middle := (low + high) / 2
		k := math.Exp(middle)
		second, _ := math.Lgamma(1 + 2/k)
		first, _ := math.Lgamma(1 + 1/k)
		if math.Expm1(second-2*first) > scv {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// spans are the pieces of a rate, with the factor of the state at the time.
type spans struct {
	rest []piece
	// at is the end of the last span.
	at     float64
	states *states
}

func newSpans(a *Arrivals, s seed) spans {
	x := spans{rest: a.Rate.pieces}
	if len(a.States) > 0 {
		x.states = newStates(a.States, s.of(ofStates).random())
	}
	return x
}

// next is the piece that follows, until the rate or the state changes.
func (x *spans) next() (piece, bool) {
	for len(x.rest) > 0 && x.rest[0].end <= x.at {
		x.rest = x.rest[1:]
	}
	if len(x.rest) == 0 {
		return piece{}, false
	}
	p := x.rest[0]
	if math.IsInf(p.end, 1) && p.rate == 0 {
		return piece{}, false
	}
	p.start = math.Max(x.at, p.start)
	p.rate = x.rest[0].at(p.start)
	if x.states != nil {
		factor := x.states.factor(p.start)
		p.end = math.Min(p.end, x.states.until)
		p.rate *= factor
		p.slope *= factor
	}
	x.at = p.end
	return p, true
}

// overTime is the total of the sojourns, and the mean of the factors over it.
func overTime(all []State) (total, mean float64) {
	var sum float64
	for _, x := range all {
		total += x.Sojourn
		sum += x.Sojourn * x.Factor
	}
	return total, sum / total
}

// states is a path of the Markov process.
type states struct {
	all     []State
	mean    float64
	current int
	until   float64
	random  *rand.Rand
}

func newStates(all []State, random *rand.Rand) *states {
	total, mean := overTime(all)
	s := &states{all: all, mean: mean, random: random}
	// A state is met in proportion to the time that it lasts, and all others are left.
	met := random.Float64() * total
	for s.current < len(all)-1 && met >= all[s.current].Sojourn {
		met -= all[s.current].Sojourn
		s.current++
	}
	s.until = random.ExpFloat64() * all[s.current].Sojourn
	return s
}

// factor is that at a time, for times in ascending order, and holds until then.
func (s *states) factor(at float64) float64 {
	for at >= s.until {
		if n := len(s.all); n > 1 {
			other := s.random.IntN(n - 1)
			if other >= s.current {
				other++
			}
			s.current = other
		}
		s.until += s.random.ExpFloat64() * s.all[s.current].Sojourn
	}
	return s.all[s.current].Factor / s.mean
}

// clock tells the moments of arrivals.
type clock struct {
	spans spans
	span  piece
	now   float64
	gaps  gaps
	begun bool
}

func newClock(a *Arrivals, s seed) clock {
	return clock{spans: newSpans(a, s), gaps: newGaps(a, s.of(ofGaps).random())}
}

// next is the moment of the next arrival, or false after the last one.
func (c *clock) next() (float64, bool) {
	var left float64
	if c.begun {
		left = c.gaps.draw()
	} else {
		left = c.gaps.first()
		c.begun = true
	}
	for {
		rate := c.span.at(c.now)
		// The positive root of rate·x + slope·x²/2 = left, NaN where the rate falls to 0
		// before.
		x := left / rate
		if c.span.slope != 0 {
			x = 2 * left / (rate + math.Sqrt(rate*rate+2*c.span.slope*left))
		}
		if c.now+x < c.span.end {
			c.now += x
			return c.now, true
		}
		if math.IsInf(c.span.end, 1) {
			return 0, false
		}
		left = math.Max(0, left-c.span.area(c.now, c.span.end))
		var more bool
		if c.span, more = c.spans.next(); !more {
			return 0, false
		}
		c.now = c.span.start
	}
}

// expect adds the integral of the rate, with the path of the states.
func (a *Arrivals) expect(s seed, edges, counts []float64) {
	spans := newSpans(a, s)
	c := counter{edges: edges, counts: counts}
	last := edges[len(edges)-1]
	for p, more := spans.next(); more && p.start < last; p, more = spans.next() {
		c.share(p.start, p.end, p.area)
	}
}
