package calibration

import (
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// predict returns the mean ITL or TTFT of a window, in seconds.
func (w *conditions) predict(m queueing.Metric, c *coefficients) float64 {
	if m == queueing.ITL {
		return w.itl(c)
	}
	return w.ttft(c)
}

// variance returns the variance of log(observed) about its prediction.
func (w *conditions) variance(m queueing.Metric, c *coefficients) float64 {
	if m == queueing.ITL {
		return w.itlVariance(c)
	}
	return w.ttftVariance(c)
}

// itl predicts the mean ITL of a window: with n requests decoding as a token meets
// them, itself included, an iteration without prefill takes T(n), and with the
// prefills of the requests that arrive meanwhile
//
//	T̄ = T(n) + λ·T̄·P,  P = γ + δ·E[x] + ε·E[x²]
//
// Under blocking prefill each iteration that prefills adds α as well. Right behind a
// request there are more prefills than that, see [wake].
func (w *conditions) itl(c *coefficients) float64 {
	k := w.wake(c)
	carried := k.prefills * w.prefill(c)
	return w.perToken * (w.interval(c, w.met(c, k)) + carried/max(w.steps, 1))
}

// wake returns what a request meets of those that come with it.
func (w *conditions) wake(c *coefficients) wake {
	n := w.decoding(c)
	share := 1 - c.iteration(n, w.context)/w.interval(c, n)
	variation := c.prefillVariation(w.prefill(c), w.prompt, w.inputSCV)
	return newWake(share, w.steps, w.arrivalSCV, variation).varied(w.outputSCV)
}

// mostPrefillShare bounds λP, which keeps predictions finite while the rate of a bad
// observation is high.
const mostPrefillShare = 0.95

// mostPrefillLoad does the same for λ(α+P).
const mostPrefillLoad = 3

// prefill returns the mean of P.
func (w *conditions) prefill(c *coefficients) float64 {
	if w.prompt == 0 {
		return 0
	}
	return c[Gamma] + c[Delta]*w.prompt + c[Epsilon]*w.promptSquare
}

// interval returns the mean time from one decoding iteration to the next while n
// requests decode.
func (w *conditions) interval(c *coefficients, n float64) float64 {
	decode, prefill := c.iteration(n, w.context), w.prefill(c)
	if w.blocking && w.prompt > 0 {
		decode += c[Alpha] * w.prefillIterations(decode, c[Alpha]+prefill)
	}
	return decode / (1 - min(w.rate*prefill, mostPrefillShare))
}

// prefillIterations returns how many iterations prefill between two that decode:
// arrivals during one that takes decode make a first, arrivals during that another.
func (w *conditions) prefillIterations(decode, prefill float64) float64 {
	return -math.Expm1(-w.rate*decode) * math.Exp(min(w.rate*prefill, mostPrefillLoad))
}

// decoding returns how many of the running requests decode on average over time; the
// others are in prefill.
func (w *conditions) decoding(c *coefficients) float64 {
	t := w.interval(c, w.running)
	decode := w.steps * t
	return w.running * decode / (decode + t + w.prefill(c))
}

// met returns how many requests a token finds decoding, itself and its wake included.
// The part of the variation that is slower than the window shows in its mean already.
func (w *conditions) met(c *coefficients, k wake) float64 {
	n := w.decoding(c)
	stay := w.steps * w.interval(c, n)
	slow := w.window / (2 * stay)
	within := 1 - math.Min(1, -math.Expm1(-slow)/slow)
	full := math.Min(1, n/w.limit)
	return math.Min(n+within*k.together*(1-full), w.limit)
}

// ttft predicts the mean TTFT of a window: offset, rest of the iteration under way or
// wait for a place, prompts that share the first iteration, the own prompt in as many
// iterations as it has chunks.
func (w *conditions) ttft(c *coefficients) float64 {
	f := w.firstToken(c)
	return c[TTFTOffset] + max(f.rest, f.wait) + f.others + f.own
}

// firstToken is what a TTFT is made of, in seconds: rest of the iteration under way,
// wait by Little's law, prompts of others, own prompt.
type firstToken struct {
	rest, wait, others, own float64
}

func (w *conditions) firstToken(c *coefficients) firstToken {
	n := w.decoding(c)
	prefill := w.prefill(c)
	decode := c.iteration(n, w.context)
	// A moment lies more often in a long iteration than in a short one.
	found, base := w.chunkedFound(c, n), decode
	if w.blocking {
		found, base = w.blockingFound(c, n), c[Alpha]
	}
	busy := -math.Expm1(-w.running)
	room := math.Inf(1)
	chunks := 1.0
	if w.prompt > 0 && !w.blocking {
		perIteration := max(w.budget-n, 1)
		chunks = max(1, w.prompt/perIteration)
		room = max(0, perIteration/w.prompt-1)
	}
	return firstToken{
		rest:   busy * found / 2,
		wait:   w.waiting.Or(0) / w.rate,
		others: busy * min(w.company(found), room) * prefill,
		own:    chunks*base + prefill,
	}
}

// company returns how many other arrivals there are on average within a time about
// one. Bursts bring ca² times as many as a Poisson process, up to ca² − 1 more.
func (w *conditions) company(t float64) float64 {
	return w.rate*t + (w.arrivalSCV-1)*min(w.rate*t, 1)
}

// chunkedFound returns E[T²]/E[T] of iterations that last T(n) and the prefills of
// what arrived during the one before.
func (w *conditions) chunkedFound(c *coefficients, n float64) float64 {
	mean, prefill := w.interval(c, n), w.prefill(c)
	varying := c.varyingPrefill(w.prompt)
	square := w.arrivalSCV*prefill*prefill + w.inputSCV*varying*varying
	share := min(w.rate*prefill, mostPrefillShare)
	return lengthMet(mean, w.rate, square, share)
}

// blockingFound returns E[T²]/E[T] of iterations that either decode or prefill.
func (w *conditions) blockingFound(c *coefficients, n float64) float64 {
	decode, prefill := c.iteration(n, w.context), c[Alpha]+w.prefill(c)
	share := min(decode/w.interval(c, n), 1)
	return share*decode + (1-share)*prefill
}

// Relative deviations of observed from predicted latencies that are not for the
// profile to explain. They were chosen so that the deviations of simulated replicas
// under their true profiles are at most about as large as expected.
const (
	// itlFloor and ttftFloor are what the model leaves out.
	itlFloor  = 0.01
	ttftFloor = 0.04
	// itlSpread and ttftSpread are of one request about the mean.
	itlSpread  = 0.25
	ttftSpread = 0.6
	// prefillSpread is of the prefills that meet one request.
	prefillSpread = 0.7
	// gaugeSpread is of a mean number running of 1 about the truth: with four samples
	// in a window, half of that of a Poisson variable.
	gaugeSpread = 0.5
	// lagSpread is of the ITL of requests that stay for the whole window.
	lagSpread = 0.05
	// burstSpread is of the part of TTFT that depends on who arrived together, for
	// each unit by which ca² is not 1.
	burstSpread = 0.2
	// waitSpread is of a wait for a place about Little's law in one window.
	waitSpread = 0.5
)

// itlVariance returns the variance of log(observed ITL) about its prediction. It grows
// with the share of time that goes into prefill, with that of the iteration which depends
// on the number running, and with the share of the window that a request stays: lengths
// are those of requests that finish, not of those that run.
func (w *conditions) itlVariance(c *coefficients) float64 {
	t := w.interval(c, w.running)
	share := min(w.rate*w.prefill(c), mostPrefillShare)
	prefill := prefillSpread * share / (1 - share)
	lag := lagSpread * min(w.steps*t/w.window, 1)
	varying := 1 - c[Alpha]/c.iteration(w.running, w.context)
	gauge := gaugeSpread * varying / math.Sqrt(1+w.running)
	return itlFloor*itlFloor + lag*lag + gauge*gauge +
		itlSpread*itlSpread/(w.arrivals+w.running) +
		prefill*prefill*(w.arrivalSCV+w.inputSCV)/max(w.arrivals, 1)
}

// ttftVariance returns the variance of log(observed TTFT) about its prediction. It
// grows with the part that is a wait for a place or for the token budget, of which
// the profile says little.
func (w *conditions) ttftVariance(c *coefficients) float64 {
	f := w.firstToken(c)
	ttft := c[TTFTOffset] + max(f.rest, f.wait) + f.others + f.own
	waits := max(f.wait-f.rest, 0)
	if !w.waiting.Known {
		waits = f.rest + f.others + f.own
	}
	filled := min(w.rate*w.prompt*w.interval(c, w.running)/max(w.budget-w.running, 1), 1)
	waits += filled * filled * (f.rest + f.own)
	wait := waitSpread * waits / ttft
	burst := burstSpread * (w.arrivalSCV - 1) * (f.rest + f.others) / ttft
	return ttftFloor*ttftFloor + ttftSpread*ttftSpread/max(w.arrivals, 1) + wait*wait + burst*burst
}
