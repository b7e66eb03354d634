package calibration

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolwright/poolwright/queueing"
)

const (
	// leastNoise is the relative error that every measurement is believed to have at
	// least, when it comes to what samples can tell apart: an exact fit of few
	// samples proves nothing.
	leastNoise = 0.01
	// mostUncertain is the standard deviation, as a share of the prediction, from which
	// on what several terms contribute counts as shared at will among them.
	mostUncertain = 1
	// mostVague is the standard error, as a share of the coefficient, from which on a
	// prior inside the confidence interval is better than the estimate.
	mostVague = 0.5
	// participation is the share of a term's variance from which on a direction that
	// the samples leave open is the term's.
	participation = 0.5
)

// fixOrder is the order in which one of several terms that can't be told apart is
// fixed, after those with a prior: first those that matter least where samples tell
// nothing about them. γ goes before the offset: what is only seen in TTFT is taken to
// be overhead outside the engine, which costs no capacity, see [Fit].
var fixOrder = [...]Term{Sigma, Epsilon, Gamma, Kappa, Delta, Beta, Alpha, TTFTOffset}

// mixtureFixOrder is the order where σ is known to be there: it takes the place of β.
var mixtureFixOrder = [...]Term{Epsilon, Gamma, Kappa, Delta, Beta, Sigma, Alpha, TTFTOffset}

// identified is a solution over terms that the observations tell apart.
type identified struct {
	problem  problem
	solution solution
	// reasons say why terms are not free.
	reasons [terms]string
	// standardErrors are those of the free terms; degrees is the number of
	// observations beyond that of free terms.
	standardErrors [terms]float64
	degrees        int
}

// identify solves the problem, fixing terms at their prior until the observations
// tell the free ones apart.
func identify(p problem) identified {
	found := identified{problem: p}
	found.fixUnseen()
	for {
		found.solution = found.problem.solve()
		if len(found.problem.free) == 0 || found.problem.stop() {
			return found
		}
		found.errors()
		if !found.fixConfounded() && !found.fixVague() {
			return found
		}
	}
}

// fix takes a term out of the free ones.
func (f *identified) fix(t Term, reason string) {
	f.problem.free = slices.DeleteFunc(slices.Clone(f.problem.free), func(free Term) bool { return free == t })
	f.reasons[t] = reason
}

// fixUnseen fixes terms that no observation depends on. ITL depends on the offset where
// the wait of a closed loop is not known, but too weakly to count.
func (f *identified) fixUnseen() {
	start := f.problem.startingPoint()
	seen := [terms]bool{}
	for i := range f.problem.observations {
		o := &f.problem.observations[i]
		for k, x := range f.problem.derivatives(o, start) {
			t := f.problem.free[k]
			seen[t] = seen[t] || x != 0 && (t != TTFTOffset || o.metric == queueing.TTFT)
		}
	}
	for _, t := range slices.Clone(f.problem.free) {
		if !seen[t] {
			f.fix(t, "no sample that counts depends on it")
		}
	}
}

// design returns the rows of the least-squares problem at the solution, without
// robustness: derivatives by weight.
func (f *identified) design() [][]float64 {
	rows := make([][]float64, len(f.problem.observations))
	for i := range f.problem.observations {
		o := &f.problem.observations[i]
		rows[i] = f.problem.derivatives(o, f.solution.values)
		for k := range rows[i] {
			rows[i][k] *= math.Sqrt(o.weight)
		}
	}
	return rows
}

// fixConfounded fixes one term of a direction that the observations leave open, if
// there is one: a singular vector of the scaled design along which coefficients may
// move without predictions noticing. The terms that it is made of are those that owe
// most of their variance to it: D. A. Belsley, E. Kuh, R. E. Welsch, "Regression
// Diagnostics" (1980), section 3.2.
func (f *identified) fixConfounded() bool {
	free := f.problem.free
	rows := f.design()
	var svd mat.SVD
	if !svd.Factorize(newLeastSquares(rows, make([]float64, len(rows))).r, mat.SVDThin) {
		return false
	}
	values := svd.Values(nil)
	var v mat.Dense
	svd.VTo(&v)
	weakest := len(values) - 1
	noise := max(f.solution.spread, leastNoise)
	limit := noise / (mostUncertain * math.Sqrt(float64(len(f.problem.observations))))
	if values[weakest] > limit {
		return false
	}
	var confounded []Term
	for j, t := range free {
		own, total := 0.0, 0.0
		for k, s := range values {
			// Below, derivatives are rounded too coarsely to tell how open it is.
			part := math.Pow(v.At(j, k)/max(s, limit/1000), 2)
			total += part
			if s <= limit {
				own += part
			}
		}
		if own > participation*total {
			confounded = append(confounded, t)
		}
	}
	t := f.expendable(confounded)
	f.fix(t, confoundedReason(t, confounded))
	return true
}

// expendable returns which of several terms to fix.
func (f *identified) expendable(confounded []Term) Term {
	for _, withPrior := range []bool{true, false} {
		for _, t := range f.problem.fixOrder {
			if slices.Contains(confounded, t) && (f.problem.start[t] > 0) == withPrior {
				return t
			}
		}
	}
	return f.problem.free[0]
}

func confoundedReason(t Term, confounded []Term) string {
	var others []string
	for _, o := range confounded {
		if o != t {
			others = append(others, o.String())
		}
	}
	if len(others) == 0 {
		return "the samples hardly depend on it"
	}
	return "the samples do not tell it apart from " + strings.Join(others, ", ")
}

// fixVague fixes the term whose standard error is largest for its size, if it has a
// prior that the samples do not contradict.
func (f *identified) fixVague() bool {
	vaguest, most := Term(-1), mostVague
	for _, t := range f.problem.free {
		prior, value, se := f.problem.start[t], f.solution.values[t], f.standardErrors[t]
		if prior == 0 || math.Abs(prior-value) > f.quantile()*se {
			continue
		}
		if vague := se / max(prior, value); vague > most {
			vaguest, most = t, vague
		}
	}
	if vaguest < 0 {
		return false
	}
	f.fix(vaguest, fmt.Sprintf("the samples tell it only to ±%.0f %%, and do not contradict the prior", 100*most))
	return true
}

// errors computes the standard errors of the free terms: the larger of those for errors
// that are alike, s²·(XᵀX)⁻¹ with Huber's correction for robust estimates, P. J.
// Huber, E. M. Ronchetti, "Robust Statistics" (2009), equation 7.81, and of those for
// errors that differ from sample to sample, see [identified.clustered].
func (f *identified) errors() {
	count := len(f.problem.observations)
	f.degrees = count - len(f.problem.free)
	f.standardErrors = [terms]float64{}
	if f.degrees <= 0 {
		for _, t := range f.problem.free {
			f.standardErrors[t] = math.Inf(1)
		}
		return
	}
	sum, inside := 0.0, 0.0
	limit := huberTuning * f.solution.spread
	for i, d := range f.solution.deviations {
		psi := min(math.Abs(d), limit)
		sum += f.problem.observations[i].weight * psi * psi
		if math.Abs(d) <= limit {
			inside++
		}
	}
	share := max(inside, 1) / float64(count)
	correction := 1 + float64(len(f.problem.free))/float64(count)*(1-share)/share
	scale := correction * math.Sqrt(sum/float64(f.degrees)) / share

	rows := f.design()
	inverse := newLeastSquares(rows, make([]float64, len(rows))).inverse()
	clustered := f.clustered(rows, inverse)
	for k, t := range f.problem.free {
		f.standardErrors[t] = math.Inf(1)
		if alike := scale * norm(inverse.RawRowView(k)); !math.IsNaN(alike) {
			f.standardErrors[t] = max(alike, clustered[k]/share)
		}
	}
}

// clustered returns standard errors that allow for errors which are larger in some
// samples than in others, as in shorter tests, and alike in both metrics of one: K.-Y. Liang,
// S. L. Zeger, "Longitudinal data analysis using generalized linear models" (1986).
// Deviations are divided by 1 minus the leverage, which a sample has on its own
// prediction: J. G. MacKinnon, H. White, "Some heteroskedasticity-consistent covariance
// matrix estimators with improved finite sample properties" (1985).
func (f *identified) clustered(rows [][]float64, inverse *mat.Dense) []float64 {
	limit := huberTuning * f.solution.spread
	squares := make([]float64, len(f.problem.free))
	moved := make([]float64, len(f.problem.free))
	for i, row := range rows {
		var through, influence mat.VecDense
		through.MulVec(inverse.T(), mat.NewVecDense(len(row), row))
		influence.MulVec(inverse, &through)
		leverage := min(mat.Dot(&through, &through), mostLeverage)
		deviation := max(-limit, min(f.solution.deviations[i], limit)) / (1 - leverage)
		last := i+1 == len(rows) || f.problem.observations[i+1].sample != f.problem.observations[i].sample
		for k := range moved {
			moved[k] += influence.AtVec(k) * deviation
			if last {
				squares[k] += moved[k] * moved[k]
				moved[k] = 0
			}
		}
	}
	for k := range squares {
		squares[k] = math.Sqrt(squares[k])
		if math.IsNaN(squares[k]) {
			squares[k] = math.Inf(1)
		}
	}
	return squares
}

// mostLeverage keeps the deviation of an observation that alone determines a coefficient
// finite.
const mostLeverage = 0.9

// inverse returns the matrix C with C·Cᵀ = (AᵀA)⁻¹, in the units of the unknowns; its
// elements are NaN where A does not determine them.
func (p leastSquares) inverse() *mat.Dense {
	unknowns := len(p.scale)
	var inverse mat.Dense
	// An error only warns of a bad condition.
	if err := inverse.Inverse(p.r); err != nil && inverse.IsEmpty() {
		inverse.ReuseAs(unknowns, unknowns)
		inverse.Apply(func(int, int, float64) float64 { return math.NaN() }, &inverse)
	}
	inverse.Apply(func(i, _ int, x float64) float64 { return x / p.scale[i] }, &inverse)
	return &inverse
}

// quantile returns the 0.975 quantile of Student's t: half the width of a 95 %
// confidence interval in standard errors.
func (f *identified) quantile() float64 {
	if f.degrees <= 0 {
		return math.Inf(1)
	}
	return distuv.StudentsT{Sigma: 1, Nu: float64(f.degrees)}.Quantile(0.975)
}
