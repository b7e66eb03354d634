package queueing

import "math"

// prompt describes the prefill of one request.
type prompt struct {
	// asks is false if there is no prompt at all.
	asks bool
	// tokens is the mean number of tokens to compute, scv their variation.
	tokens, scv float64
	// time is P, the mean time that a prompt adds to iterations; its variance and its
	// second moment; varying is dP/dx·x, by which time follows the length.
	time, variance, secondMoment, varying float64
}

func newPrompt(p Profile, s Shape) prompt {
	if s.InputTokens == 0 {
		return prompt{}
	}
	x := float64(s.InputTokens) * (1 - s.PrefixHitRatio)
	varying := p.Delta*x + 2*p.Epsilon*x*x
	time, variance := p.Gamma+p.Delta*x+p.Epsilon*x*x*(1+s.InputSCV), s.InputSCV*varying*varying
	return prompt{
		asks:         true,
		tokens:       x,
		scv:          s.InputSCV,
		time:         time,
		variance:     variance,
		secondMoment: time*time + variance,
		varying:      varying,
	}
}

// chunks returns the mean number of iterations of which a prompt fills the given room
// but for the last one. Lengths between constant and exponential lie between both.
func (p *prompt) chunks(room float64) float64 {
	if p.tokens == 0 || math.IsInf(room, 1) {
		return 1
	}
	size := p.tokens / room
	random := min(p.scv, 1)
	return (1-random)*max(1, roundUp(size)) + random/-math.Expm1(-1/size)
}

// slack returns the mean share of an iteration's room that is left behind the last
// token of the prompts of a busy period. The first of them starts with an iteration,
// each other one where the one before has ended; load is the probability that
// there is another one.
func (p *prompt) slack(size, load float64) float64 {
	random := min(p.scv, 1)
	uniform := 0.5
	if size < 1 {
		uniform = 1 - size/2
	}
	sum, weight := 0.0, 1-load
	for j := 1.0; j <= slackTerms; j++ {
		constant := roundUp(j*size) - j*size
		varied := uniform
		if j == 1 {
			varied = 1/-math.Expm1(-1/size) - size
		}
		sum += weight * ((1-random)*constant + random*varied)
		weight *= load
	}
	return sum + weight/(1-load)/2
}

// slackTerms is how many prompts of a busy period slack looks at one by one.
const slackTerms = 6

// roundUp is the least whole number that is not less than x but for rounding.
func roundUp(x float64) float64 { return math.Ceil(x - 1e-9) }
