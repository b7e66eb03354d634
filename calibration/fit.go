package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/poolwright/poolwright/queueing"
)

// Estimate is a fitted profile, and how far to trust it.
type Estimate struct {
	Profile queueing.Profile
	// Coefficients has one entry per term, in the order of the terms.
	Coefficients []Coefficient
	// Residuals are in the order of samples, ITL before TTFT.
	Residuals []Residual
	// Errors summarizes the residuals. It is zero where the fit has no degrees of
	// freedom: an exact fit to as many observations as coefficients says nothing.
	Errors Summary
	// HeldOut is filled if Options.HeldOut asks for it. If that can't be, Notes say why.
	HeldOut Validation
	// Notes say in words what to know about the fit.
	Notes []string
}

// Fit estimates a profile from samples.
//
// It minimizes the weighted sum of Huber's function of log(predicted/observed), which
// is the relative error to first order, over coefficients ≥ 0. Predictions are those
// of [Predict]. Coefficients that the samples do not tell apart are fixed, one after
// the other, until the remaining ones are determined: first those with a prior, then
// in the order σ, ε, γ, κ, δ, β, α, ttftOffset.
//
// So a constant part of TTFT counts as ttftOffset, not as γ, where nothing but TTFT was
// measured: from that alone nobody can tell them apart. An overhead of 15 ms in the API
// server mistaken for γ would cap a replica at 66 requests/s whatever they ask for; the
// opposite mistake overrates capacity where prompts are short, which Estimate.Notes
// say. ITL under load tells them apart, and Options.Prior.Gamma settles it.
//
// The error lists every mistake in samples and options, each with its index, and is
// set if nothing is left to fit, or to [ErrStopped].
func Fit(samples []Sample, options Options) (Estimate, error) {
	if err := validate(samples, options); err != nil {
		return Estimate{}, err
	}
	observations := observe(samples, options)
	fitted, notes, err := fit(observations, options)
	if err != nil {
		return Estimate{}, fmt.Errorf("calibration: %w", err)
	}
	e := Estimate{
		Profile:   fitted.solution.values.profile(),
		Residuals: residuals(observations, &fitted.solution.values),
		Notes:     slices.Concat(sampleNotes(samples), notes, fitted.notes()),
	}
	e.Notes = append(e.Notes, servingNotes(e.Profile)...)
	for t := range Term(terms) {
		e.Coefficients = append(e.Coefficients, fitted.coefficient(t))
	}
	fitted.markOutliers(e.Residuals)
	e.Notes = append(e.Notes, burstNotes(e.Residuals)...)
	if !fitted.saturated() {
		e.Errors = Summarize(e.Residuals)
	}
	if options.HeldOut {
		e.HeldOut, err = leaveOneGroupOut(observations, options)
		if errors.Is(err, ErrStopped) {
			return Estimate{}, fmt.Errorf("calibration: %w", ErrStopped)
		}
		if err != nil {
			e.Notes = append(e.Notes, "no held-out errors: "+err.Error())
		}
	}
	return e, nil
}

// observe returns the known metrics of samples, ITL before TTFT.
func observe(samples []Sample, options Options) []observation {
	var all []observation
	for i, s := range samples {
		l := newLoad(s, options)
		for _, known := range []struct {
			metric queueing.Metric
			Quantity
			counts bool
		}{
			{queueing.ITL, s.ITL, true},
			{queueing.TTFT, s.TTFT, s.Waiting.Or(0) < mostWaiting && !l.overfull()},
		} {
			if !known.Known {
				continue
			}
			all = append(all, observation{
				sample: i,
				group:  s.Group,
				metric: known.metric,
				value:  known.Value,
				weight: s.Weight.Or(1),
				counts: known.counts && !slices.Contains(options.Ignore, Use{l.kind, known.metric}),
				load:   l,
			})
		}
	}
	return all
}

// ErrStopped is the error of a fit that was stopped.
var ErrStopped = errors.New("the fit was stopped")

// fit estimates from the observations that count.
func fit(all []observation, options Options) (identified, []string, error) {
	p := problem{start: coefficientsOf(options.Prior), fixOrder: fixOrder}
	total := 0.0
	for _, o := range all {
		if o.counts {
			p.observations = append(p.observations, o)
			total += o.weight
		}
	}
	if len(p.observations) == 0 {
		return identified{}, nil, errors.New("no sample has a metric that counts")
	}
	// Only ratios of weights matter.
	for i := range p.observations {
		p.observations[i].weight *= float64(len(p.observations)) / total
	}
	stopped := false
	p.stop = func() bool {
		stopped = stopped || options.Stop != nil && options.Stop()
		return stopped
	}
	found, notes := p.identified(options.SquareRoot)
	if stopped {
		return identified{}, nil, ErrStopped
	}
	return found, notes, nil
}

// identified solves the problem with the terms that a model has, and says in words why it has
// them.
func (p problem) identified(root SquareRoot) (identified, []string) {
	dense := []Term{Alpha, Beta, Kappa, Gamma, Delta, Epsilon, TTFTOffset}
	mixture := []Term{Alpha, Beta, Kappa, Sigma, Gamma, Delta, Epsilon, TTFTOffset}
	switch root {
	case SquareRootAlways:
		p.free, p.fixOrder = mixture, mixtureFixOrder
		return identify(p), nil
	case SquareRootNever:
		p.free, p.start[Sigma] = dense, 0
		found := identify(p)
		found.reasons[Sigma] = "the model is dense"
		return found, nil
	}
	p.free = dense
	without := identify(p)
	p.free, p.fixOrder = mixture, mixtureFixOrder
	withRoot := identify(p)
	if withRoot.solution.values[Sigma] == p.start[Sigma] || !withRoot.betterThan(without) {
		without.reasons[Sigma] = "the samples do not call for it"
		return without, nil
	}
	return withRoot, []string{"sigma lowers the error clearly: the model behaves like a mixture of experts"}
}

// clearlyBetter is the difference in the Bayesian information criterion that counts
// as very strong evidence: R. E. Kass, A. E. Raftery, "Bayes Factors" (1995).
const clearlyBetter = 10

// betterThan compares solutions of the same observations by G. Schwarz's criterion,
// "Estimating the Dimension of a Model" (1978), on Huber's cost at the spread of the
// better fit.
func (f *identified) betterThan(other identified) bool {
	spread := max(f.solution.spread, leastNoise/10)
	cost := func(x identified) float64 {
		s := x.problem.evaluate(x.solution.values, spread)
		return 2*s.cost/(spread*spread) + float64(len(x.problem.free))*math.Log(float64(len(x.problem.observations)))
	}
	return cost(*f) < cost(other)-clearlyBetter
}

// mostLoose is the upper end of a confidence interval from 0, as a multiple of the
// value, from which on the value is hardly more than a guess.
const mostLoose = 3

func (f *identified) coefficient(t Term) Coefficient {
	c := Coefficient{
		Term:       t,
		Value:      f.solution.values[t],
		Reason:     f.reasons[t],
		Confidence: Interval{0, math.Inf(1)},
	}
	if !slices.Contains(f.problem.free, t) {
		return c
	}
	c.StandardError = f.standardErrors[t]
	if f.saturated() {
		c.Reason = "there are no more observations than coefficients, so nothing is known about the error"
		return c
	}
	half := f.quantile() * c.StandardError
	c.Confidence = Interval{max(0, c.Value-half), c.Value + half}
	switch {
	case c.Confidence.Low > 0 || c.Confidence.High <= mostLoose*c.Value:
		c.Identified = true
	case c.Value == 0:
		c.Reason = "the fit takes it as 0, and the samples allow for more"
	default:
		c.Reason = fmt.Sprintf("the samples allow for anything from 0 to %.2g times the value", c.Confidence.High/c.Value)
	}
	return c
}

// saturated tells whether there are no more observations than fitted coefficients.
func (f *identified) saturated() bool {
	return len(f.problem.free) > 0 && f.degrees <= 0
}

// servingNotes says if a replica of the profile cannot serve even the shortest request.
func servingNotes(p queueing.Profile) []string {
	replica := queueing.Replica{Profile: p, MaxBatch: 1}
	if _, err := queueing.NewStation(replica, queueing.Shape{InputTokens: 1, OutputTokens: 1}); err != nil {
		return []string{"by this profile a request takes no time, so nothing can be sized by it: the samples lack ITL or are in a wrong unit"}
	}
	return nil
}

// notes says what a reader of the numbers should know.
func (f *identified) notes() []string {
	var notes []string
	switch {
	case f.solution.values[Alpha] > 0:
	case f.reasons[Alpha] != "":
		notes = append(notes, "alpha is unknown and taken as 0: without ITL nothing says how long an iteration takes; do not size by this profile")
	default:
		notes = append(notes, "alpha is 0: the samples do not reach down to small batches; predictions at low load are too short")
	}
	if f.reasons[Gamma] != "" && f.solution.values[TTFTOffset] > 0 && f.solution.values[Gamma] == 0 {
		notes = append(notes, "what is constant in TTFT counts as ttftOffset, which costs no capacity; if it is work per prompt, capacity is less")
	}
	outliers := 0
	for _, r := range f.solution.robustness {
		if r < outlierRobustness {
			outliers++
		}
	}
	if outliers > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d observations are outliers and count less", outliers, len(f.solution.robustness)))
	}
	return notes
}

// outlierRobustness is the factor of its weight below which an observation is called
// an outlier: about 4 standard deviations off.
const outlierRobustness = huberTuning / 4

// markOutliers marks residuals that the fit gave little weight. Residuals and the
// observations that count are in the same order.
func (f *identified) markOutliers(residuals []Residual) {
	i := 0
	for k := range residuals {
		if residuals[k].Counts {
			residuals[k].Outlier = f.solution.robustness[i] < outlierRobustness
			i++
		}
	}
}

// mostBurst is the 90th percentile of the relative errors of TTFT in closed loops from
// which on a burst at the start of tests is likely: published sweeps with one reach 40
// to 160 %.
const mostBurst = 0.25

// burstNotes advises to leave TTFT of closed loops out where it does not fit and ITL
// remains.
func burstNotes(residuals []Residual) []string {
	var closed []Residual
	remaining := false
	for _, r := range residuals {
		if r.Kind == ClosedLoop && r.Metric == queueing.TTFT {
			closed = append(closed, r)
		}
		remaining = remaining || r.Counts && r.Metric == queueing.ITL
	}
	e := Summarize(closed).TTFT
	if e.P90 < mostBurst || !remaining {
		return nil
	}
	return []string{fmt.Sprintf("TTFT of closed loops is off by %.0f %% in the median and %.0f %% at the 90th percentile, as after a burst "+
		"of all clients at the start of a test; if so, leave it out: --ignore closed-loop.ttft, or options.ignore in a request", 100*e.Median, 100*e.P90)}
}

// littleTolerance is the factor by which running requests may differ from Little's law.
const littleTolerance = 1.5

// sampleNotes points out samples whose quantities do not fit each other.
func sampleNotes(samples []Sample) []string {
	var notes []string
	for i, s := range samples {
		if s.Kind() != OpenLoop || !s.Running.Known || !s.ITL.Known {
			continue
		}
		little := s.ArrivalRate.Value * (s.OutputTokens.Value - 1) * s.ITL.Value
		if ratio := s.Running.Value / little; ratio > littleTolerance || ratio < 1/littleTolerance {
			notes = append(notes, fmt.Sprintf("samples[%d]: %.4g requests run, but arrivals and ITL make %.4g by Little's law", i, s.Running.Value, little))
		}
	}
	return notes
}
