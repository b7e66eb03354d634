package calibration

import "math"

// openLoop is an open loop in which the time between tokens is assumed to be t.
type openLoop struct {
	*load
	c *coefficients
	t float64
	// prefill is what a prompt takes from decoding, share is ρ, the part of time that
	// all of them take.
	prefill, share float64
	// variation is the squared coefficient of variation of the time for a prompt.
	variation float64
	wake      wake
	// carried is the time of the prompts right behind the own one.
	carried float64
	// decoding is the mean number of requests that decode.
	decoding float64
}

func (l *load) openLoop(c *coefficients, t float64) openLoop {
	o := openLoop{
		load: l, c: c, t: t, prefill: l.interruption(c, l.iterationTime(t)),
		variation: c.prefillVariation(l.prefill(c), l.prompt, l.inputSCV),
	}
	o.share = min(l.rate*o.prefill, mostPrefill)
	if l.intervals == 0 {
		return o
	}
	o.wake = newWake(o.share, l.steps, 1, o.variation).varied(l.outputSCV)
	o.carried = min(o.wake.prefills*o.prefill, o.mostCarried())
	o.decoding = min(o.decode(), l.limit)
	return o
}

// mostCarried bounds carried where the token budget lets only so many prompts into an
// iteration.
func (o *openLoop) mostCarried() float64 {
	if o.blocking || o.prompt == 0 || math.IsInf(o.budget, 1) {
		return math.Inf(1)
	}
	return max(o.steps*o.prefill*o.budget/o.prompt-o.share*o.intervals*o.t, 0)
}

// decode returns the mean number of requests that decode: by Little's law, or the part
// of those that run which is not in prefill.
func (o *openLoop) decode() float64 {
	decode := max(o.intervals*o.t-o.carried, 0)
	if o.batch == 0 {
		return o.rate * decode
	}
	if decode == 0 {
		return 0
	}
	own := o.gated(decode/o.steps*(1-o.share), 1).own
	return o.batch * decode / (decode + o.carried + own)
}

// interval returns the mean time between tokens in an open loop that follows from the
// assumed one. With n requests decoding on average over time, a token meets n+w of
// them, see [wake]. In the time that prefill leaves,
//
//	t = steps/intervals·T(n+w)/(1−ρ) + carried/intervals
//
// By Little's law n = λ·(intervals·t − carried), unless the number running is known.
// Where T is linear and lengths are all alike that is within 1 % of the exact
// solution up to a load of 0.8, even for outputs of 3 tokens.
func (o *openLoop) interval() float64 {
	n := min(o.decoding+o.wake.together, max(o.limit, 1))
	iteration := o.c.iteration(n, o.context) - o.bend(n)
	return (o.steps*iteration/(1-o.share) + o.carried) / o.intervals
}

// bend returns by how much the mean of σ√n is less than that of the mean n, to second
// order. The variance of n is that of processor sharing, for a T linear about n.
func (o *openLoop) bend(n float64) float64 {
	root := math.Sqrt(n)
	slope := o.c[Beta] + o.c[Kappa]*o.context + o.c[Sigma]/(2*root)
	load := min(o.rate*o.steps*slope/(1-o.share), mostPrefill)
	variance := o.decoding * o.wake.together / (1 - load)
	return o.c[Sigma] * root * min(variance/(n*n), 1) / 8
}

// firstToken returns the mean TTFT. An arrival finds others decoding or an idle replica.
func (o *openLoop) firstToken() float64 {
	some := -math.Expm1(-o.decoding)
	alone := o.admitted(0, o.share)
	ttft := o.c[TTFTOffset] + (1-some)*(alone.wait+alone.own)
	if some > 0 {
		among := o.admitted(o.decoding/some, 1)
		ttft += some * (among.wait + among.own)
	}
	return ttft
}

// admitted is how a prompt is computed: wait is the time until the iterations with a
// part of it begin, own that of these iterations.
type admitted struct{ wait, own float64 }

// admitted is for an arrival that finds n requests decoding, where a share busy of the
// iterations without prefill is not idleness. The formulae are those of package queueing
// for Poisson arrivals.
func (o *openLoop) admitted(n, busy float64) admitted {
	iteration := o.c.iteration(n, o.context)
	if o.blocking {
		return o.stopping(iteration, busy)
	}
	a := o.gated(iteration, busy)
	if o.prompt == 0 || math.IsInf(o.budget, 1) {
		return a
	}
	// From half of an iteration on, prompts wait for each other.
	size := o.prompt / max(o.budget-n, 1)
	w := max(0, min(2*size-1, 1))
	b := o.backlogged(iteration, busy, size)
	return admitted{wait: a.wait + w*(b.wait-a.wait), own: a.own + w*(b.own-a.own)}
}

// gated admits to an iteration all prompts that arrived during the one before.
func (o *openLoop) gated(iteration, busy float64) admitted {
	square := o.prefill * o.prefill * (1 + o.variation)
	mean := iteration / (1 - o.share)
	met := lengthMet(mean, o.rate, square, o.share)
	return admitted{
		wait: busy*iteration/2 + o.share*mean + o.rate*square/(2*(1-o.share)),
		own:  iteration + o.prefill + o.share*met/2,
	}
}

// backlogged computes prompts one after the other, each in size iterations: a single
// server with the mean wait of A. Y. Khinchin and F. Pollaczek. The last iteration
// computes prompts behind it as well.
func (o *openLoop) backlogged(iteration, busy, size float64) admitted {
	service := o.prefill + size*iteration
	deviation := math.Sqrt(o.variation)*o.prefill + math.Sqrt(o.inputSCV)*size*iteration
	load := min(o.rate*service, mostPrefill)
	wait := busy*iteration/2 + o.rate*(service*service+deviation*deviation)/(2*(1-load))
	slack := o.slack(size, load)
	behind, most := 0.0, slack*o.prefill/size
	if most > 0 {
		window := max(wait+service-(1-slack)*(iteration+o.prefill/size), 0)
		behind = most * -math.Expm1(-o.rate*window*min(1, o.prefill/most))
	}
	return admitted{wait: wait, own: service + slack*iteration + behind}
}

// slackTerms is how many prompts of a busy period slack looks at one by one.
const slackTerms = 6

// slack returns the mean share of an iteration that is left behind the last token of the
// prompts of a busy period, each of which begins where the one before ended; load is
// the probability of another one. Prompts that vary end anywhere.
func (o *openLoop) slack(size, load float64) float64 {
	constant, weight := 0.0, 1-load
	for j := 1.0; j <= slackTerms; j++ {
		constant += weight * (math.Ceil(j*size) - j*size)
		weight *= load
	}
	constant += weight / (1 - load) / 2
	random := min(o.inputSCV, 1)
	return (1-random)*constant + random/2
}

// stopping is blocking prefill: prompts are computed with all others that arrived
// during the iteration before, which decoded or computed prompts too.
func (o *openLoop) stopping(iteration, busy float64) admitted {
	prompt, base := o.load.prefill(o.c), 0.0
	if o.prompt > 0 {
		base = o.c[Alpha]
	}
	share := min(o.rate*prompt, mostPrefill)
	square := prompt * prompt * (1 + o.variation)
	met := lengthMet(base/(1-share), o.rate, square, share)
	if prompt > 0 {
		met += square / prompt
	}
	decoding := busy * (1 - o.share)
	return admitted{
		wait: decoding*iteration/2 + o.share*(1+share)*met/2,
		own:  base + prompt + share*(decoding*iteration+o.share*met/2),
	}
}
