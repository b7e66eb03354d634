package calibration

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// FilterState is all that a [Filter] has learnt. It is plain data without NaN and
// infinities, to be stored in any format.
type FilterState struct {
	// Windows counts the observed windows, Seconds adds up their lengths.
	Windows int
	Seconds float64
	// Prior is the profile that Logarithms refer to.
	Prior queueing.Profile
	// Logarithms are log(estimate/prior), in the order of the terms; 0 where there is
	// no prior. Covariance is theirs: symmetric, positive definite over the tracked
	// coefficients and 0 elsewhere.
	Logarithms [terms]float64
	Covariance [terms][terms]float64
	ITL, TTFT  LatencyState
	// Input and Output are about the lengths of prompts and outputs.
	Input, Output LengthState
}

// LatencyState is what is remembered about one latency.
type LatencyState struct {
	// Last is the last valid observation in seconds, to recognize repetitions; 0 =
	// there was none.
	Last float64
	// Implausible counts the windows in a row that were implausible in the same way,
	// and Innovation is their mean log(observed/predicted).
	Implausible int
	Innovation  float64
	// Longer and Shorter are the sums that watch for drift in both directions.
	Longer, Shorter DriftSum
}

// LengthState is what is remembered about a mean length.
type LengthState struct {
	// Typical is log(1 + length) as it usually is; 0 = not known yet.
	Typical float64
	// Far counts the windows in a row that were far from that.
	Far int
}

// DriftSum is a cumulative sum of standardized innovations: E. S. Page, "Continuous
// Inspection Schemes" (1954).
type DriftSum struct {
	// Sum is in [0, 2·threshold]; Since is FilterState.Seconds when it was last 0.
	Sum, Since float64
	// Alarm is on from the threshold up, until the sum has halved.
	Alarm bool
}

// validate refuses what no filter with this prior can have had as its state.
func (f *Filter) validate(s *FilterState) error {
	var v violations
	if s.Prior != f.state.Prior {
		v.add("state.prior: it is that of another profile")
	}
	v.within("state.windows", float64(s.Windows), 0, math.MaxInt32)
	v.within("state.seconds", s.Seconds, 0, math.MaxFloat64)
	most := math.Log(f.config.MostChange) * (1 + 1e-12)
	for t := range Term(terms) {
		bound := 0.0
		if f.tracked(t) {
			bound = most
		}
		v.within(fmt.Sprintf("state.logarithms[%d]", t), s.Logarithms[t], 0-bound, bound)
	}
	if !f.isCovariance(&s.Covariance) {
		v.add("state.covariance: it is not symmetric and positive definite over the coefficients of the prior")
	}
	s.ITL.validate("state.itl", s.Seconds, &v)
	s.TTFT.validate("state.ttft", s.Seconds, &v)
	for i, l := range [...]LengthState{s.Input, s.Output} {
		path := [...]string{"state.input", "state.output"}[i]
		v.within(path+".typical", l.Typical, 0, math.Log1p(maxTokens)*(1+1e-12))
		v.within(path+".far", float64(l.Far), 0, math.MaxInt32)
	}
	return errors.Join(v...)
}

func (s *LatencyState) validate(path string, now float64, v *violations) {
	v.within(path+".last", s.Last, 0, maxSeconds)
	v.within(path+".implausible", float64(s.Implausible), 0, math.MaxInt32)
	v.within(path+".innovation", s.Innovation, -mostInnovation, mostInnovation)
	for name, d := range [...]DriftSum{s.Longer, s.Shorter} {
		direction := [...]string{"longer", "shorter"}[name]
		v.within(path+"."+direction+".sum", d.Sum, 0, 2*driftThreshold)
		v.within(path+"."+direction+".since", d.Since, 0, now)
	}
}

// mostInnovation is above the logarithm of any ratio of valid times.
const mostInnovation = 100
