package calibration

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Filter tracks the coefficients of a profile from what a replica in production is
// seen to do, one window of time after another. It is an iterated extended Kalman
// filter on the logarithms of the coefficients: A. H. Jazwinski, "Stochastic
// Processes and Filtering Theory" (1970), chapter 8.
//
// A Filter is a value: [Filter.Observe] returns the next one and leaves its receiver
// as it was. It reads no clock and no random numbers. The zero value is of no use;
// see [NewFilter] and [ResumeFilter].
//
// What it promises, whatever it is shown: coefficients are finite, stay within
// FilterConfig.MostChange of the prior, and change by no more than
// FilterConfig.MostStep per latency of a window; a coefficient that is 0 in the prior stays 0.
type Filter struct {
	replica queueing.Replica
	config  FilterConfig
	// prior has the starting values of all coefficients that are tracked, else 0.
	prior coefficients
	state FilterState
}

// NewFilter returns a filter that starts from the replica's profile as its prior.
// The error says which fields are out of range, or that the service model is not
// ContinuousBatching.
func NewFilter(replica queueing.Replica, config FilterConfig) (Filter, error) {
	var errs []error
	if replica.Model != queueing.ContinuousBatching {
		errs = append(errs, fmt.Errorf("calibration: serviceModel: %d is not continuous batching", replica.Model))
	} else if _, err := queueing.NewStation(replica, queueing.Shape{InputTokens: 1, OutputTokens: 2}); err != nil {
		errs = append(errs, fmt.Errorf("calibration: replica: %w", err))
	}
	if err := config.validate(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return Filter{}, errors.Join(errs...)
	}
	f := Filter{replica: replica, config: config.completed(), prior: coefficientsOf(replica.Profile)}
	for t, start := range coefficientsOf(config.Unknown) {
		if f.prior[t] == 0 {
			f.prior[t] = start
		}
	}
	f.state.Prior = f.prior.profile()
	f.state.Covariance = f.priorCovariance(1)
	return f, nil
}

// ResumeFilter returns the filter that had a state. The error says what is wrong with
// replica, config or state, for example that the state belongs to another prior.
func ResumeFilter(replica queueing.Replica, config FilterConfig, state FilterState) (Filter, error) {
	f, err := NewFilter(replica, config)
	if err != nil {
		return Filter{}, err
	}
	if err := f.validate(&state); err != nil {
		return Filter{}, err
	}
	f.state = state
	return f, nil
}

// State returns all that the filter knows beyond its replica and configuration.
func (f Filter) State() FilterState { return f.state }

// Profile returns the current estimate.
func (f Filter) Profile() queueing.Profile { return f.coefficients().profile() }

func (f *Filter) coefficients() coefficients {
	c := f.prior
	for t := range c {
		c[t] *= math.Exp(f.state.Logarithms[t])
	}
	return c
}

// tracked tells whether a coefficient is estimated at all.
func (f *Filter) tracked(t Term) bool { return f.prior[t] > 0 }

// priorDeviation returns the standard deviation of the logarithm of a coefficient
// before anything was observed.
func (f *Filter) priorDeviation(t Term) float64 {
	switch {
	case !f.tracked(t):
		return 0
	case coefficientsOf(f.replica.Profile)[t] == 0:
		return unknownDeviation
	}
	return f.config.PriorDeviation
}

// Observe returns the filter after one more window, and what became of it. Windows
// are given in order of time, each once.
//
// Of what was observed only ITL and TTFT are compared with predictions; the rest says
// under which conditions they came about. Without rate or lengths there is nothing to
// compare with. A missing Running or Rate is replaced by what Little's law says.
func (f Filter) Observe(o Observation) (Filter, Report) {
	var r Report
	if !between(o.Window, leastWindow, mostWindow) {
		r.ITL.Verdict, r.TTFT.Verdict = Invalid.unless(o.ITL), Invalid.unless(o.TTFT)
		f.describe(&r)
		return f, r
	}
	f.state.Windows++
	f.state.Seconds += float64(o.Window)
	f.forget(float64(o.Window))

	w, verdict := f.digest(&o)
	if verdict != Used {
		r.ITL.Verdict, r.TTFT.Verdict = verdict.unless(o.ITL), verdict.unless(o.TTFT)
	} else {
		r.ITL = f.compare(&f.state.ITL, o.ITL, &w, queueing.ITL)
		r.TTFT = f.compare(&f.state.TTFT, o.TTFT, &w, queueing.TTFT)
	}
	remember(&f.state.ITL, o.ITL)
	remember(&f.state.TTFT, o.TTFT)
	f.describe(&r)
	return f, r
}

// compare holds one observed latency against its prediction, and learns from it
// unless something speaks against it.
func (f *Filter) compare(s *LatencyState, observed Quantity, w *conditions, metric queueing.Metric) LatencyReport {
	switch {
	case !observed.Known:
		return LatencyReport{Verdict: Missing}
	case !isLatency(observed):
		return LatencyReport{Verdict: Invalid}
	case observed.Value == s.Last:
		return LatencyReport{Verdict: Stale}
	}
	c := f.coefficients()
	m := measurement{target: math.Log(observed.Value), variance: w.variance(metric, &c), conditions: w, metric: metric}
	i := f.innovate(&m)
	r := LatencyReport{Predicted: queueing.Seconds(math.Exp(m.target - i.value)), Deviation: i.value, Spread: i.deviation}
	s.watch(i.value/i.deviation, f.state.Seconds)
	if r.Verdict = f.gate(s, &i); r.Verdict == Outlier {
		return r
	}
	if r.Verdict == Changed {
		f.doubt(&i)
	} else {
		m.variance *= mistrust(&i)
	}
	f.learn(&m, &i)
	return r
}

func remember(s *LatencyState, observed Quantity) {
	if isLatency(observed) {
		s.Last = observed.Value
	}
}

// between is false for NaN.
func between[T ~float64](x, low, high T) bool { return x >= low && x <= high }
