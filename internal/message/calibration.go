package message

import (
	"math"
	"strconv"

	"github.com/poolwright/poolwright/calibration"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// Estimate translates a fitted profile.
func Estimate(e *calibration.Estimate, heldOut bool) *poolwrightv1.Calibration {
	m := &poolwrightv1.Calibration{
		Profile:      profileMessage(e.Profile),
		Coefficients: coefficients(e.Coefficients),
		Errors:       calibrationErrors(e.Errors),
		Notes:        e.Notes,
	}
	for _, r := range e.Residuals {
		m.Residuals = append(m.Residuals, residual(r))
	}
	if heldOut {
		m.HeldOut = &poolwrightv1.HeldOutErrors{Errors: calibrationErrors(e.HeldOut.Errors)}
		for _, g := range e.HeldOut.Groups {
			m.HeldOut.Groups = append(m.HeldOut.Groups, &poolwrightv1.GroupErrors{
				Group: g.Group, Errors: calibrationErrors(g.Errors),
			})
		}
	}
	return m
}

// Guess translates a profile that nobody measured.
func Guess(g *calibration.Guess) *poolwrightv1.Calibration {
	m := &poolwrightv1.Calibration{
		Profile:      profileMessage(g.Profile),
		Estimated:    true,
		Coefficients: coefficients(g.Coefficients),
		Notes:        g.Notes,
	}
	if g.KVCacheTokens > 0 {
		tokens := float64(g.KVCacheTokens)
		m.KvCacheTokens = &tokens
	}
	return m
}

// profileMessage converts seconds to milliseconds.
func profileMessage(p queueing.Profile) *poolwrightv1.Profile {
	return &poolwrightv1.Profile{
		AlphaMs:      inMilliseconds(p.Alpha),
		BetaMs:       inMilliseconds(p.Beta),
		GammaMs:      inMilliseconds(p.Gamma),
		DeltaMs:      inMilliseconds(p.Delta),
		KappaMs:      inMilliseconds(p.Kappa),
		SigmaMs:      inMilliseconds(p.Sigma),
		EpsilonMs:    inMilliseconds(p.Epsilon),
		TtftOffsetMs: inMilliseconds(p.TTFTOffset),
	}
}

// inMilliseconds converts seconds, and leaves the digits out that say nothing: people
// read these numbers and paste them.
func inMilliseconds(seconds float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(seconds*1e3, 'g', 9, 64), 64)
	if err != nil {
		return seconds * 1e3
	}
	return v
}

// profileOrder lists the terms as a profile does.
var profileOrder = [...]calibration.Term{
	calibration.Alpha, calibration.Beta, calibration.Gamma, calibration.Delta,
	calibration.Kappa, calibration.Sigma, calibration.Epsilon, calibration.TTFTOffset,
}

func coefficients(of []calibration.Coefficient) []*poolwrightv1.Coefficient {
	var out []*poolwrightv1.Coefficient
	for _, term := range profileOrder {
		for _, c := range of {
			if c.Term == term {
				out = append(out, coefficient(c))
			}
		}
	}
	return out
}

func coefficient(c calibration.Coefficient) *poolwrightv1.Coefficient {
	m := &poolwrightv1.Coefficient{
		Name: c.Term.String() + "Ms", ValueMs: inMilliseconds(c.Value),
		LowMs: inMilliseconds(c.Confidence.Low), Identified: c.Identified, Reason: c.Reason,
	}
	if c.Identified {
		m.StandardErrorMs = finite(inMilliseconds(c.StandardError))
	}
	m.HighMs = finite(inMilliseconds(c.Confidence.High))
	return m
}

// finite is a value that may be absent: infinite ones are, for JSON has none.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

func calibrationErrors(s calibration.Summary) *poolwrightv1.CalibrationErrors {
	return &poolwrightv1.CalibrationErrors{
		Overall: errorSummary(s.Overall), Itl: errorSummary(s.ITL), Ttft: errorSummary(s.TTFT),
	}
}

func errorSummary(e calibration.Errors) *poolwrightv1.ErrorSummary {
	return &poolwrightv1.ErrorSummary{
		Count: count(e.Count), Median: e.Median, P90: e.P90, Max: e.Max, Mean: e.Mean,
	}
}

func residual(r calibration.Residual) *poolwrightv1.Residual {
	m := &poolwrightv1.Residual{
		Sample: count(r.Sample), Group: r.Group,
		ObservedMs: inMilliseconds(r.Observed), PredictedMs: inMilliseconds(r.Predicted),
		Error: r.Error, Counts: r.Counts, Outlier: r.Outlier,
	}
	for k, kind := range sampleKinds {
		if kind == r.Kind {
			m.Kind = poolwrightv1.Sample_Kind(k)
		}
	}
	if r.Metric == queueing.TTFT {
		m.Metric = poolwrightv1.Sample_TTFT
	}
	return m
}
