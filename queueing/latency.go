package queueing

import "math"

// Latency is the distribution of a latency over requests. It is a small value;
// its methods allocate nothing. The zero value is the constant 0.
//
// Requests that find a free place in the batch and those that wait for one are
// two parts of the distribution. The wait itself is exact (see [Performance]);
// where other varying times add to it, the sum is a gamma distribution of the
// same mean and variance.
type Latency struct {
	mean float64
	// delayedShare is the share of requests that wait.
	delayedShare float64
	// direct is the latency of those that don't wait.
	direct spread
	// delayed is the latency of those that wait; if exact without the wait.
	delayed spread
	exact   bool
	wait    queueWait
}

// fixedLatency is the same for all requests.
func fixedLatency(t float64) Latency {
	return Latency{mean: t, direct: spread{shift: t}}
}

// endless is the latency of a saturated replica.
func endless() Latency { return fixedLatency(math.Inf(1)) }

// duration is a time of which a part is constant; the rest has a mean and a
// variance.
type duration struct{ constant, varying, variance float64 }

func (d duration) mean() float64 { return d.constant + d.varying }

// plus returns the sum of independent durations.
func (d duration) plus(e duration) duration {
	return duration{d.constant + e.constant, d.varying + e.varying, d.variance + e.variance}
}

// proportional returns the duration of work on something of the given SCV: up to an
// SCV of 1 a constant plus an exponential part, above that a gamma variable.
func proportional(mean, scv float64) duration {
	varying := min(1, math.Sqrt(scv)) * mean
	return duration{mean - varying, varying, scv * mean * mean}
}

// set makes l, which is zero, a duration by itself. To write a latency in place costs a third of
// returning it.
func (l *Latency) set(d duration) {
	l.mean = d.mean()
	l.direct = matchGamma(d.constant, d.varying, d.variance)
}

// setAfterWait makes l, which is zero, the latency of a wait followed by a duration
// that does not depend on it.
func (l *Latency) setAfterWait(w *queueWait, d duration) {
	l.set(d)
	if w.probability == 0 {
		return
	}
	l.mean += w.probability * w.mean
	l.delayedShare = w.probability
	if l.direct.constant() {
		l.delayed.shift, l.exact, l.wait = l.direct.shift, true, *w
		return
	}
	l.delayed = matchGamma(d.constant, d.varying+w.mean, d.variance+w.variance)
}

// Mean returns the mean; +Inf if the replica is saturated.
func (l Latency) Mean() Seconds { return Seconds(l.mean) }

// CDF returns the share of requests whose latency is at most t.
func (l Latency) CDF(t Seconds) float64 {
	direct := l.direct.cdf(float64(t))
	if l.delayedShare == 0 {
		return direct
	}
	return (1-l.delayedShare)*direct + l.delayedShare*l.delayedCDF(float64(t))
}

func (l Latency) delayedCDF(t float64) float64 {
	if !l.exact {
		return l.delayed.cdf(t)
	}
	if t <= l.delayed.shift {
		return 0
	}
	return 1 - l.wait.survival(t-l.delayed.shift)
}

// least returns the lower end of the distribution.
func (l Latency) least() float64 {
	if l.delayedShare == 0 {
		return l.direct.shift
	}
	return min(l.direct.shift, l.delayed.shift)
}

// Quantile returns the least latency that at least the share q of requests keeps:
// for q ≤ 0 the lower end of the distribution, for q ≥ 1 (and NaN) +Inf unless all
// requests have the same latency.
func (l Latency) Quantile(q float64) Seconds {
	least := l.least()
	if l.delayedShare == 0 && l.direct.constant() {
		return Seconds(least)
	}
	if !(q < 1) {
		return Seconds(math.Inf(1))
	}
	if l.CDF(Seconds(least)) >= q {
		return Seconds(least)
	}
	if l.exact && math.IsInf(l.wait.places, 1) {
		rate := -math.Expm1(l.wait.logRatio) * l.wait.rate
		return Seconds(least + math.Log(l.delayedShare/(1-q))/rate)
	}
	return Seconds(quantile(l.tail, q, least, l.roughQuantile(q)))
}

// roughQuantile returns the quantile as it were if only those that wait or only those that
// don't were slow, whichever is later, and the mean where that is the lower end.
func (l *Latency) roughQuantile(q float64) float64 {
	t := l.direct.roughQuantile(1 - (1-q)/(1-l.delayedShare))
	if l.delayedShare > 0 {
		delayed := l.delayed
		if l.exact {
			delayed = matchGamma(delayed.shift, l.wait.mean, l.wait.variance)
		}
		t = max(t, delayed.roughQuantile(1-(1-q)/l.delayedShare))
	}
	if t > l.least() {
		return t
	}
	return l.mean
}

// tail returns what is above t.
func (l *Latency) tail(t float64) tail {
	direct := l.direct.tail(t)
	switch {
	case l.delayedShare == 0:
		return direct
	case !l.exact:
		return tail{}.plus(1-l.delayedShare, direct).plus(l.delayedShare, l.delayed.tail(t))
	case t <= l.delayed.shift:
		return tail{above: l.delayedShare}.plus(1-l.delayedShare, direct)
	}
	return tail{}.plus(1-l.delayedShare, direct).plus(l.delayedShare, l.wait.tail(t-l.delayed.shift))
}
