package calibration

import (
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// measurement is one observed latency, as the filter takes it in: its logarithm.
type measurement struct {
	target float64
	// variance is of target about its prediction.
	variance   float64
	conditions *conditions
	metric     queueing.Metric
}

// predict returns the logarithm of the latency that coefficients predict.
func (m *measurement) predict(c *coefficients) float64 {
	return math.Log(max(m.conditions.predict(m.metric, c), leastTime))
}

// innovation is the difference between a measurement and its prediction.
type innovation struct {
	// value is log(observed/predicted), deviation its standard deviation, and
	// sensitivity the derivatives of the prediction by the logarithms.
	value, deviation float64
	sensitivity      [terms]float64
}

// differenceStep is the step of derivatives in a logarithm.
const differenceStep = 1e-5

func (f *Filter) innovate(m *measurement) innovation {
	i := innovation{}
	c := f.coefficients()
	predicted := m.predict(&c)
	i.value = clamp(m.target-predicted, mostInnovation)
	for t := range Term(terms) {
		if !f.tracked(t) {
			continue
		}
		moved := c
		moved[t] *= math.Exp(differenceStep)
		i.sensitivity[t] = (m.predict(&moved) - predicted) / differenceStep
	}
	explained := quadratic(&f.state.Covariance, &i.sensitivity)
	i.deviation = math.Sqrt(max(explained, 0) + m.variance)
	return i
}

// relinearizations is how often an update is repeated about its own result.
const relinearizations = 3

// learn updates the estimate by a measurement with its first linearization. The update is shortened where it would
// move a coefficient too far; Joseph's form of the covariance is right for any gain,
// also the shortened one: R. S. Bucy and P. D. Joseph, "Filtering for Stochastic
// Processes with Applications to Guidance" (1968).
func (f *Filter) learn(m *measurement, first *innovation) {
	start, bound := f.state.Logarithms, math.Log(f.config.MostChange)
	var sensitivity, gain, step [terms]float64
	i := *first
	for n := range relinearizations {
		if n > 0 {
			i = f.innovate(m)
		}
		sensitivity = i.sensitivity
		gain = times(&f.state.Covariance, &sensitivity)
		explained := max(dot(&gain, &sensitivity), 0)
		residual := i.value + dot(&sensitivity, &step)
		for t := range gain {
			gain[t] /= explained + m.variance
			step[t] = clamp(gain[t]*residual, 2*bound)
			f.state.Logarithms[t] = clamp(start[t]+step[t], bound)
		}
	}
	shortened := shortening(&step, math.Log(f.config.MostStep))
	for t := range step {
		gain[t] *= shortened
		f.state.Logarithms[t] = clamp(start[t]+shortened*step[t], bound)
	}
	f.state.Covariance = joseph(&f.state.Covariance, &gain, &sensitivity, m.variance)
}

// shortening returns the factor by which a step is shortened to move no logarithm
// farther than most.
func shortening(step *[terms]float64, most float64) float64 {
	longest := 0.0
	for _, s := range step {
		longest = max(longest, math.Abs(s))
	}
	return min(1, most/max(longest, most))
}

// joseph returns (I − K·Hᵀ)·P·(I − K·Hᵀ)ᵀ + K·R·Kᵀ, which stays symmetric and positive
// definite whatever the gain K.
func joseph(p *[terms][terms]float64, gain, sensitivity *[terms]float64, variance float64) [terms][terms]float64 {
	ph := times(p, sensitivity)
	total := dot(sensitivity, &ph) + variance
	var q [terms][terms]float64
	for i := range terms {
		for j := range i + 1 {
			q[i][j] = p[i][j] - gain[i]*ph[j] - ph[i]*gain[j] + gain[i]*gain[j]*total
			q[j][i] = q[i][j]
		}
	}
	return q
}

// forget lets the covariance return towards that of the prior as time goes by, while
// the estimate stays where it is. What is not observed is never more uncertain than
// in the beginning, so that a quiet night does not let the filter forget how to tell
// coefficients apart: R. Kulhavý and M. B. Zarrop, "On a General Concept of
// Forgetting" (1993).
func (f *Filter) forget(seconds float64) {
	kept := math.Exp(-seconds / float64(f.config.Memory))
	for i := range terms {
		d := f.priorDeviation(Term(i))
		for j := range terms {
			f.state.Covariance[i][j] *= kept
		}
		f.state.Covariance[i][i] += (1 - kept) * d * d
	}
}

// doubt returns to the covariance of the prior after a change of the replica, widened
// so that the innovation becomes a plausible one.
func (f *Filter) doubt(i *innovation) {
	f.state.Covariance = f.priorCovariance(1)
	explained := quadratic(&f.state.Covariance, &i.sensitivity)
	wanted := i.value * i.value / (plausibleChange * plausibleChange)
	if explained > 0 && wanted > explained {
		f.state.Covariance = f.priorCovariance(wanted / explained)
	}
}

// plausibleChange is how many standard deviations an accepted change may be.
const plausibleChange = 1

// priorCovariance returns a multiple of the covariance of the prior: coefficients are
// uncertain independently of each other.
func (f *Filter) priorCovariance(factor float64) (p [terms][terms]float64) {
	for t := range p {
		d := f.priorDeviation(Term(t))
		p[t][t] = factor * d * d
	}
	return p
}

// isCovariance tells whether p is finite, symmetric, positive definite over the
// tracked coefficients and 0 elsewhere, by Cholesky's factorization.
func (f *Filter) isCovariance(p *[terms][terms]float64) bool {
	var l [terms][terms]float64
	for i := range terms {
		for j := range i + 1 {
			if p[i][j] != p[j][i] || !between(p[i][j], -math.MaxFloat64, math.MaxFloat64) {
				return false
			}
			if !f.tracked(Term(i)) || !f.tracked(Term(j)) {
				if p[i][j] != 0 {
					return false
				}
				continue
			}
			sum := p[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i != j {
				l[i][j] = sum / l[j][j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			l[i][i] = math.Sqrt(sum)
		}
	}
	return true
}

func times(p *[terms][terms]float64, v *[terms]float64) (product [terms]float64) {
	for i := range product {
		product[i] = dot(&p[i], v)
	}
	return product
}

func dot(a, b *[terms]float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func quadratic(p *[terms][terms]float64, v *[terms]float64) float64 {
	product := times(p, v)
	return dot(&product, v)
}

func clamp(x, most float64) float64 { return max(-most, min(x, most)) }
