package calibration

import (
	"math"
	"strconv"

	"github.com/poolwright/poolwright/queueing"
)

// Verdict says what became of an observed latency.
type Verdict int

const (
	// Missing: it was not observed.
	Missing Verdict = iota
	// Used: the estimate follows it.
	Used
	// Changed: it was used after a run of windows that were implausible in the same
	// way. The replica has changed, and the covariance is that of the prior again.
	Changed
	// Outlier: it is implausible and was kept out.
	Outlier
	// Invalid: it, or a quantity that it depends on, is NaN, negative, zero where there
	// is no zero, or beyond all bounds.
	Invalid
	// Stale: it repeats the last one bit for bit.
	Stale
	// Inconsistent: requests inside, rate and latencies contradict Little's law, so
	// that one of them is wrong; or a mean length is four times as long or short as
	// usual, for fewer than FilterConfig.ChangeAfter windows.
	Inconsistent
	// NoConditions: rate and number running, or lengths, are missing.
	NoConditions
	// Idle: there were hardly any requests.
	Idle
)

// String returns the verdict in lower case.
func (v Verdict) String() string {
	names := [...]string{
		"missing", "used", "changed", "outlier", "invalid", "stale", "inconsistent", "no conditions", "idle",
	}
	if v < 0 || int(v) >= len(names) {
		return "Verdict(" + strconv.Itoa(int(v)) + ")"
	}
	return names[v]
}

// unless returns the verdict on a quantity, which is Missing if it is.
func (v Verdict) unless(q Quantity) Verdict {
	if !q.Known {
		return Missing
	}
	return v
}

// Report says what became of one window, and how far the estimate is to be trusted.
type Report struct {
	// Profile is the estimate after the window.
	Profile queueing.Profile
	// Coefficients has one entry per term, in the order of the terms.
	Coefficients [terms]TrackedCoefficient
	ITL, TTFT    LatencyReport
}

// LatencyReport is about one latency.
type LatencyReport struct {
	Verdict Verdict
	// Predicted is the value before the window was learnt from, Deviation is
	// log(observed/predicted), and Spread the standard deviation that was expected of
	// it. They are 0 unless the verdict is Used, Changed or Outlier.
	Predicted         queueing.Seconds
	Deviation, Spread float64
	Drift             Drift
}

// Drift says whether a latency has been off its predictions in one direction for so
// long that it is no chance: the filter has not caught up with what changes, or the
// replica does what no profile can explain.
type Drift struct {
	Alarm bool
	// Longer tells whether the latency is longer than predicted; otherwise it is
	// shorter. Since is how long ago it began to be, in seconds before the end of the
	// window. Both count only with an Alarm.
	Longer bool
	Since  queueing.Seconds
}

// TrackedCoefficient is one coefficient of an estimate, in seconds per unit of its term.
type TrackedCoefficient struct {
	Term  Term
	Value float64
	// Deviation is the standard deviation of log(Value): about the relative error.
	Deviation float64
	// Identified tells whether observations have narrowed the coefficient down to a
	// third of the deviation of its prior. Otherwise it has only moved with what it can't be
	// told apart from, in proportion to its share, and Reason says why.
	Identified bool
	Reason     string
	// AtBound tells whether the value is held by FilterConfig.MostChange.
	AtBound bool
}

// describe fills in what a report says about the filter as it is.
func (f *Filter) describe(r *Report) {
	r.Profile = f.Profile()
	c := f.coefficients()
	for t := range Term(terms) {
		r.Coefficients[t] = f.describeCoefficient(t, c[t])
	}
	r.ITL.Drift = f.state.ITL.drift(f.state.Seconds)
	r.TTFT.Drift = f.state.TTFT.drift(f.state.Seconds)
}

func (s *LatencyState) drift(now float64) Drift {
	switch {
	case s.Longer.Alarm:
		return Drift{Alarm: true, Longer: true, Since: queueing.Seconds(now - s.Longer.Since)}
	case s.Shorter.Alarm:
		return Drift{Alarm: true, Since: queueing.Seconds(now - s.Shorter.Since)}
	}
	return Drift{}
}

const (
	// identifiedShare is the share of the prior's deviation up to which a coefficient
	// is identified.
	identifiedShare = 1. / 3
	// confoundedCorrelation is the correlation of two coefficients from which on they
	// are hard to tell apart.
	confoundedCorrelation = 0.5
)

func (f *Filter) describeCoefficient(t Term, value float64) TrackedCoefficient {
	c := TrackedCoefficient{Term: t, Value: value}
	if !f.tracked(t) {
		c.Reason = "it is 0 in the prior"
		return c
	}
	c.Deviation = f.deviation(t)
	c.Identified = c.Deviation <= identifiedShare*f.priorDeviation(t)
	c.AtBound = math.Abs(f.state.Logarithms[t]) >= math.Log(f.config.MostChange)
	switch other, found := f.confounded(t); {
	case c.Identified:
	case found:
		c.Reason = "it cannot be told apart from " + other.String()
	default:
		c.Reason = "the latencies hardly depend on it under this load"
	}
	return c
}

func (f *Filter) deviation(t Term) float64 { return math.Sqrt(f.state.Covariance[t][t]) }

// confounded returns the coefficient that a coefficient is hardest to tell apart
// from, and false if there is none: it falls where the other rises.
func (f *Filter) confounded(t Term) (other Term, found bool) {
	least := -confoundedCorrelation
	for o := range Term(terms) {
		if o == t || !f.tracked(o) {
			continue
		}
		if r := f.state.Covariance[t][o] / (f.deviation(t) * f.deviation(o)); r < least {
			least, other, found = r, o, true
		}
	}
	return other, found
}
