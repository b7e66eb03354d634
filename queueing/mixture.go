package queueing

import "math"

// Mixture is the latency of requests that are shared among several replicas or
// variants. The zero value is empty; its mean and quantiles are 0.
type Mixture struct {
	parts []mixturePart
	total float64
}

type mixturePart struct {
	latency Latency
	weight  float64
}

// Add adds requests with the given latency. Weights count relative to each other:
// arrival rates or shares alike. A weight that is not positive and finite adds
// nothing.
func (m *Mixture) Add(l Latency, weight float64) {
	if !(weight > 0) || math.IsInf(weight, 1) {
		return
	}
	m.parts = append(m.parts, mixturePart{l, weight})
	m.total += weight
}

// Mean returns the mean over all requests.
func (m *Mixture) Mean() Seconds {
	mean := 0.0
	for i := range m.parts {
		p := &m.parts[i]
		mean += p.weight / m.total * p.latency.mean
	}
	return Seconds(mean)
}

// CDF returns the share of requests whose latency is at most t.
func (m *Mixture) CDF(t Seconds) float64 {
	share := 0.0
	for i := range m.parts {
		p := &m.parts[i]
		share += p.weight / m.total * p.latency.CDF(t)
	}
	return share
}

// Quantile returns the least latency that at least the share q of requests keeps,
// with the ends as of [Latency.Quantile]. It is +Inf where that share includes
// requests of a saturated replica.
func (m *Mixture) Quantile(q float64) Seconds {
	switch {
	case len(m.parts) == 0:
		return 0
	case len(m.parts) == 1:
		return m.parts[0].latency.Quantile(q)
	case !(q < 1):
		return m.greatest()
	}
	// served is the share of requests with a finite latency.
	served, least, start := 0.0, math.Inf(1), 0.0
	for i := range m.parts {
		p := &m.parts[i]
		if math.IsInf(p.latency.mean, 1) {
			continue
		}
		share := p.weight / m.total
		served += share
		least = min(least, p.latency.least())
		start += share * p.latency.roughQuantile(q)
	}
	if served < q {
		return Seconds(math.Inf(1))
	}
	if m.CDF(Seconds(least)) >= q {
		return Seconds(least)
	}
	return Seconds(quantile(m.tail, q, least, start/served))
}

// tail returns what is above t.
func (m *Mixture) tail(t float64) (above tail) {
	for i := range m.parts {
		p := &m.parts[i]
		above = above.plus(p.weight/m.total, p.latency.tail(t))
	}
	return above
}

// greatest returns the upper end of the distribution.
func (m *Mixture) greatest() Seconds {
	greatest := Seconds(0)
	for i := range m.parts {
		greatest = max(greatest, m.parts[i].latency.Quantile(1))
	}
	return greatest
}
