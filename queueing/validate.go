package queueing

import (
	"errors"
	"fmt"
	"math"
)

// Bounds of valid input. They exclude mistaken units and overflow, not machines.
const (
	// MaxBatchLimit is the highest valid MaxBatch.
	MaxBatchLimit = 65536
	// MaxSeconds is the highest valid coefficient of a profile, and time of a transfer.
	MaxSeconds = 1e6
	// maxTokens bounds lengths and room, maxSCV variation.
	maxTokens = 1e9
	maxSCV    = 1e6
)

// violations collects errors of fields.
type violations []error

func (v *violations) add(format string, args ...any) {
	*v = append(*v, fmt.Errorf("queueing: "+format, args...))
}

// within requires a field in [low, high]; NaN never is.
func (v *violations) within(field string, value, low, high float64) {
	if !(value >= low && value <= high) {
		v.add("%s: %v is not in [%v, %v]", field, value, low, high)
	}
}

func (r *Replica) validate(v *violations) {
	if r.Model < ContinuousBatching || r.Model > LLMDV3 {
		v.add("serviceModel: %d is none", r.Model)
	}
	if r.PrefillMode != Chunked && r.PrefillMode != Blocking {
		v.add("prefillMode: %d is none", r.PrefillMode)
	}
	v.within("maxBatch", float64(r.MaxBatch), 1, MaxBatchLimit)
	if r.MaxQueue.Limited {
		v.within("maxQueue", float64(r.MaxQueue.Places), 0, math.MaxInt32)
	}
	v.within("kvCacheTokens", float64(r.KVCacheTokens), 0, maxTokens*MaxBatchLimit)
	if r.MaxBatchedTokens != 0 {
		v.within("maxBatchedTokens", float64(r.MaxBatchedTokens), 1, maxTokens)
	}
	if r.AcceptedTokens != 0 {
		v.within("acceptedTokens", r.AcceptedTokens, 1, maxTokens)
	}
	r.Profile.validate(v)
}

func (p *Profile) validate(v *violations) {
	v.within("profile.alpha", p.Alpha, 0, MaxSeconds)
	v.within("profile.beta", p.Beta, 0, MaxSeconds)
	v.within("profile.gamma", p.Gamma, 0, MaxSeconds)
	v.within("profile.delta", p.Delta, 0, MaxSeconds)
	v.within("profile.kappa", p.Kappa, 0, MaxSeconds)
	v.within("profile.sigma", p.Sigma, 0, MaxSeconds)
	v.within("profile.epsilon", p.Epsilon, 0, MaxSeconds)
	v.within("profile.ttftOffset", p.TTFTOffset, 0, MaxSeconds)
}

func (s *Shape) validate(v *violations) {
	v.within("inputTokens", float64(s.InputTokens), 0, maxTokens)
	v.within("outputTokens", float64(s.OutputTokens), 1, maxTokens)
	v.within("inputTokensScv", s.InputSCV, 0, maxSCV)
	v.within("outputTokensScv", s.OutputSCV, 0, maxSCV)
	v.within("arrivalScv", s.ArrivalSCV, 0, maxSCV)
	v.within("lengthCorrelation", s.LengthCorrelation, -1, 1)
	v.within("prefixHitRatio", s.PrefixHitRatio, 0, 1)
}

// validate returns every mistake in the limits, each with its index.
func (o *SLO) validate() error {
	var v violations
	if len(o.Limits) > mostLimits {
		v.add("slo.limits: %d of them, want at most %d", len(o.Limits), mostLimits)
	}
	for i, l := range o.Limits {
		if l.Metric < TTFT || l.Metric > TokensPerSecond {
			v.add("slo.limits[%d]: metric %d is none", i, l.Metric)
		}
		if !(l.Quantile >= 0 && l.Quantile < 1) {
			v.add("slo.limits[%d]: quantile %v is not in [0, 1)", i, l.Quantile)
		}
		if !(l.Value > 0 && !math.IsInf(l.Value, 1)) {
			v.add("slo.limits[%d]: limit %v is not positive and finite", i, l.Value)
		}
	}
	return errors.Join(v...)
}
