package calibration

import "math"

// plausibleInnovation is how many standard deviations an innovation may be: a normal
// one is beyond that once in 2,000 windows.
const plausibleInnovation = 3.5

// trustedInnovation is how many standard deviations an innovation may be to count in
// full.
const trustedInnovation = 2

// mistrust returns the factor by which the variance of a measurement is raised for an
// innovation between trusted and implausible, so that no outlier just inside the gate
// counts in full: P. J. Huber, "Robust Estimation of a Location Parameter" (1964).
func mistrust(i *innovation) float64 {
	z := i.value / (trustedInnovation * i.deviation)
	return max(1, z*z)
}

// runTolerance is how far an innovation may be from the mean of a run, relative to
// that mean, to belong to it.
const runTolerance = 0.3

// gate decides what to make of an innovation. One that is implausible is kept out. A
// run of them that agree with each other is a change of the replica, unless no profile
// within bounds could explain it: seconds that are milliseconds, for example.
func (f *Filter) gate(s *LatencyState, i *innovation) Verdict {
	if math.Abs(i.value) <= plausibleInnovation*i.deviation {
		s.Implausible, s.Innovation = 0, 0
		return Used
	}
	tolerance := runTolerance*math.Abs(s.Innovation) + 2*i.deviation
	if s.Implausible > 0 && math.Abs(i.value-s.Innovation) > tolerance {
		s.Implausible, s.Innovation = 0, 0
	}
	s.Implausible = min(s.Implausible+1, f.config.ChangeAfter)
	s.Innovation += (i.value - s.Innovation) / float64(s.Implausible)
	if s.Implausible < f.config.ChangeAfter || math.Abs(s.Innovation) > math.Log(f.config.MostChange) {
		return Outlier
	}
	s.Implausible, s.Innovation = 0, 0
	return Changed
}
