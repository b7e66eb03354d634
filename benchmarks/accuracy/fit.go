package main

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/poolwright/poolwright/queueing"
)

// measurement is what a profile is fitted to: mean latencies under a condition,
// with how far each may be off in relative terms before it counts as an error.
type measurement struct {
	condition
	ttft, itl                   float64
	ttftTolerance, itlTolerance float64
}

// coefficients is how many coefficients of a profile are fitted.
const coefficients = 6

// profileOf turns logarithms of coefficients into a profile, which keeps them
// positive and gives coefficients that differ by six orders of magnitude one scale.
func profileOf(logs []float64, offset float64) queueing.Profile {
	return queueing.Profile{
		Alpha:      math.Exp(logs[0]),
		Beta:       math.Exp(logs[1]),
		Kappa:      math.Exp(logs[2]),
		Gamma:      math.Exp(logs[3]),
		Delta:      math.Exp(logs[4]),
		Epsilon:    math.Exp(logs[5]),
		TTFTOffset: offset,
	}
}

func logsOf(p queueing.Profile) []float64 {
	return []float64{
		math.Log(p.Alpha), math.Log(p.Beta), math.Log(p.Kappa),
		math.Log(p.Gamma), math.Log(p.Delta), math.Log(p.Epsilon),
	}
}

// residuals writes what each measurement contributes to the loss, two numbers per
// measurement whose squares add up.
func residuals(dst []float64, ms []measurement, p queueing.Profile) error {
	for i := range ms {
		m := &ms[i]
		s, err := m.station(p)
		if err != nil {
			return err
		}
		predicted := s.Evaluate(queueing.Rate(m.rate))
		dst[2*i] = robust(float64(predicted.ITL.Mean()), m.itl, m.itlTolerance)
		dst[2*i+1] = robust(float64(predicted.TTFT.Mean()), m.ttft, m.ttftTolerance)
	}
	return nil
}

// robust returns the signed root of the pseudo-Huber loss, P. Charbonnier et al.,
// "Deterministic edge-preserving regularization in computed imaging" (1997): square
// up to the tolerance, linear beyond, so that a few bad predictions do not bend
// the rest.
func robust(predicted, observed, tolerance float64) float64 {
	// An endless prediction is as bad as one that is off by e^4.
	deviation := min(math.Log(predicted/observed), 4) / tolerance
	return math.Copysign(math.Sqrt(2*(math.Sqrt(1+deviation*deviation)-1)), deviation)
}

// fitProfile returns the profile whose predictions of mean ITL and mean TTFT are
// nearest to the measurements, and its loss per measured latency. The offset is known.
func fitProfile(ms []measurement, offset float64) (best queueing.Profile, loss float64, err error) {
	loss = math.Inf(1)
	for _, start := range fitStarts(ms) {
		logs, l, err := levenbergMarquardt(ms, logsOf(start), offset)
		if err != nil {
			return queueing.Profile{}, 0, err
		}
		if l < loss {
			best, loss = profileOf(logs, offset), l
		}
	}
	return best, loss, nil
}

// fitStarts returns profiles of the right magnitude: the base a little under the
// least ITL, decoding that grows with the batch or with the context, and cheap or
// dear prompts.
func fitStarts(ms []measurement) []queueing.Profile {
	least := math.Inf(1)
	for i := range ms {
		least = min(least, ms[i].itl)
	}
	var starts []queueing.Profile
	for _, decode := range [][2]float64{{1e-3, 1e-6}, {1e-4, 1e-5}} {
		for _, prompt := range []float64{3e-4, 3e-3} {
			start := queueing.Profile{
				Alpha: 0.9 * least, Beta: decode[0] * least, Kappa: decode[1] * least,
				Gamma: 1e-2 * least, Delta: prompt * least, Epsilon: 1e-8 * least,
			}
			switch ms[0].replica.Model {
			case queueing.LLMDV1:
				start.Delta /= 10 // for each request in the batch
			case queueing.LLMDV2, queueing.LLMDV3:
				start.Beta, start.Gamma = prompt*least, decode[1]*least // for each token, computed or kept
			}
			starts = append(starts, start)
		}
	}
	return starts
}

// levenbergMarquardt minimises the sum of squared residuals over logarithms of
// coefficients: D. W. Marquardt, "An algorithm for least-squares estimation of
// nonlinear parameters" (1963).
func levenbergMarquardt(ms []measurement, logs []float64, offset float64) (best []float64, loss float64, err error) {
	n := 2 * len(ms)
	r := make([]float64, n)
	if err := residuals(r, ms, profileOf(logs, offset)); err != nil {
		return nil, 0, err
	}
	loss = squares(r)
	damping, trial := 1e-2, make([]float64, n)
	for range 200 {
		jacobian, err := differences(ms, logs, offset, r)
		if err != nil {
			return nil, 0, err
		}
		before := loss
		for ; damping < 1e8; damping *= 4 {
			next := step(jacobian, r, logs, damping)
			if err := residuals(trial, ms, profileOf(next, offset)); err != nil {
				return nil, 0, err
			}
			if l := squares(trial); l < loss {
				logs, loss = next, l
				copy(r, trial)
				damping = max(damping/10, 1e-9)
				break
			}
		}
		if before-loss <= 1e-7*before {
			break
		}
	}
	return logs, loss / float64(n), nil
}

// differences returns the Jacobian of the residuals r by central differences. The
// step bridges the jumps at which a prompt takes another iteration.
func differences(ms []measurement, logs []float64, offset float64, r []float64) (*mat.Dense, error) {
	const width = 1e-3
	jacobian := mat.NewDense(len(r), coefficients, nil)
	up, down := make([]float64, len(r)), make([]float64, len(r))
	moved := append([]float64(nil), logs...)
	for j := range coefficients {
		moved[j] = logs[j] + width
		if err := residuals(up, ms, profileOf(moved, offset)); err != nil {
			return nil, err
		}
		moved[j] = logs[j] - width
		if err := residuals(down, ms, profileOf(moved, offset)); err != nil {
			return nil, err
		}
		moved[j] = logs[j]
		for i := range r {
			jacobian.Set(i, j, (up[i]-down[i])/(2*width))
		}
	}
	return jacobian, nil
}

// step returns the damped Gauss–Newton step from logs, bounded to a factor of e² per
// coefficient and to magnitudes that a profile may have.
func step(jacobian *mat.Dense, r, logs []float64, damping float64) []float64 {
	var normal mat.Dense
	normal.Mul(jacobian.T(), jacobian)
	var slope mat.VecDense
	slope.MulVec(jacobian.T(), mat.NewVecDense(len(r), r))
	for j := range coefficients {
		normal.Set(j, j, normal.At(j, j)*(1+damping)+1e-9)
	}
	var d mat.VecDense
	next := append([]float64(nil), logs...)
	if err := d.SolveVec(&normal, &slope); err != nil {
		return next
	}
	for j := range coefficients {
		move := min(max(-d.AtVec(j), -2), 2)
		next[j] = min(max(logs[j]+move, math.Log(1e-15)), 0)
	}
	return next
}

func squares(r []float64) float64 {
	sum := 0.0
	for _, x := range r {
		sum += x * x
	}
	return sum
}
