package queueing

import "math"

// shifted returns a latency that is longer by a constant time for all requests.
func (l Latency) shifted(t float64) Latency {
	l.mean += t
	l.direct.shift += t
	l.delayed.shift += t
	return l
}

// variance returns the variance over requests; of a finite latency.
func (l Latency) variance() float64 {
	square := (1 - l.delayedShare) * l.direct.square()
	if l.delayedShare > 0 {
		delayed := l.delayed
		square += l.delayedShare * delayed.square()
		if l.exact {
			square += l.delayedShare * (l.wait.variance + l.wait.mean*(l.wait.mean+2*delayed.shift))
		}
	}
	return max(square-l.mean*l.mean, 0)
}

// square returns the second moment.
func (s spread) square() float64 {
	mean := s.shift + s.shape*s.scale
	return mean*mean + s.shape*s.scale*s.scale
}

// plus returns a latency that is followed, for a share of requests, by an independent
// one.
func (l Latency) plus(m Latency, share float64) Latency {
	if share == 0 {
		return l
	}
	mean := l.mean + share*m.mean
	if math.IsInf(mean, 1) {
		return endless()
	}
	least := l.least()
	if share == 1 {
		least += m.least()
	}
	variance := l.variance() + share*m.variance() + share*(1-share)*m.mean*m.mean
	return Latency{mean: mean, direct: matchGamma(least, mean-least, variance)}
}
