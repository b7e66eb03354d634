package queueing

import (
	"errors"
	"fmt"
	"math"
)

// Transfer is the time that the KV entries of a prompt take from the replica that
// computed it to the one that decodes.
type Transfer struct {
	// Base is per request, PerToken per prompt token; from 0 to 1e6 s.
	Base, PerToken Seconds
}

// Disaggregated is a deployment in which some replicas compute prompts and others
// decode. Arrivals are spread at random over the replicas of either kind.
type Disaggregated struct {
	// Prefill is one replica that computes prompts. Of its profile, Beta, Sigma and Kappa
	// do not matter: it does not decode.
	Prefill Replica
	// Decode is one replica that decodes. Of its profile, Gamma, Delta, Epsilon and
	// TTFTOffset do not matter.
	Decode Replica
	// PrefillReplicas and DecodeReplicas are numbers of replicas, ≥ 1.
	PrefillReplicas, DecodeReplicas int
	Transfer                        Transfer
}

// Tandem is a disaggregated deployment under load of one shape: a station that
// computes prompts, the transfer, and a station that decodes. It is immutable; its
// methods may be called concurrently and allocate nothing.
//
// The first token comes with the KV entries, after the transfer: TTFT is the time at
// the prefill station and the transfer. The output tokens left, out-1, are decoded;
// the wait for a place among the decoding requests is between the first token and
// the second, and so a part of the request's ITL.
//
// The prefill station meets the arrivals spread over its replicas, of SCV
// 1+(ca²-1)/replicas. The stream of prompts that leaves it has an SCV between that
// of arrivals and that of prefill times, depending on load: W. Whitt, "The queueing
// network analyzer", Bell System Technical Journal 62 (1983), equations 24 (spread) and
// 38 (departures). The decode station is prepared for the larger of both.
type Tandem struct {
	prefill, decode                 *Station
	prefillReplicas, decodeReplicas float64
	// decoding is the share of requests with tokens left to decode.
	decoding float64
	// transfer is the mean time of one.
	transfer float64
	// perToken is E[1/(out-1)] of the requests that decode.
	perToken float64
}

// NewTandem prepares a deployment for a shape, in time proportional to both MaxBatch.
// Both replicas must be of the model [ContinuousBatching]. The error joins one error for
// each field that is out of its range.
func NewTandem(d Disaggregated, s Shape) (*Tandem, error) {
	if err := d.validate(&s); err != nil {
		return nil, err
	}
	prompts, tokens := d.shapes(s)
	d.Prefill.Profile.Beta, d.Prefill.Profile.Sigma, d.Prefill.Profile.Kappa = 0, 0, 0
	prefill, err := NewStation(d.Prefill, prompts)
	if err != nil {
		return nil, fmt.Errorf("prefill: %w", err)
	}
	p := &d.Decode.Profile
	p.Gamma, p.Delta, p.Epsilon, p.TTFTOffset = 0, 0, 0, 0
	decode, err := NewStation(d.Decode, tokens)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	left := float64(s.OutputTokens) - 1
	return &Tandem{
		prefill:         prefill,
		decode:          decode,
		prefillReplicas: float64(d.PrefillReplicas),
		decodeReplicas:  float64(d.DecodeReplicas),
		decoding:        min(left, 1),
		transfer:        float64(d.Transfer.Base + d.Transfer.PerToken*Seconds(s.InputTokens)),
		perToken:        meanReciprocal(float64(tokens.OutputTokens), tokens.OutputSCV),
	}, nil
}

func (d *Disaggregated) validate(s *Shape) error {
	var v violations
	s.validate(&v)
	for _, r := range []struct {
		name     string
		replica  *Replica
		replicas int
	}{{"prefill", &d.Prefill, d.PrefillReplicas}, {"decode", &d.Decode, d.DecodeReplicas}} {
		if r.replica.Model != ContinuousBatching {
			v.add("%s.serviceModel: %d does not tell prefill from decoding", r.name, r.replica.Model)
		}
		v.within(r.name+"Replicas", float64(r.replicas), 1, math.MaxInt32)
	}
	v.within("transfer.base", float64(d.Transfer.Base), 0, MaxSeconds)
	v.within("transfer.perToken", float64(d.Transfer.PerToken), 0, MaxSeconds)
	return errors.Join(v...)
}

// shapes returns the loads of the two stations. A request that decodes brings a
// context of its prompt and its first token, and nothing to compute.
func (d *Disaggregated) shapes(s Shape) (prompts, tokens Shape) {
	prompts = s
	prompts.OutputTokens, prompts.OutputSCV = 1, 0
	prompts.ArrivalSCV = split(s.ArrivalSCV, d.PrefillReplicas)

	tokens = s
	tokens.InputTokens++
	tokens.PrefixHitRatio = 1
	if left := s.OutputTokens - 1; left >= 1 {
		ratio := float64(s.OutputTokens / left)
		tokens.OutputTokens, tokens.OutputSCV = left, min(s.OutputSCV*ratio*ratio, maxSCV)
	} else {
		tokens.OutputTokens, tokens.OutputSCV = 1, 0
	}
	tokens.ArrivalSCV = split(max(prompts.ArrivalSCV, min(s.InputSCV, 1)), d.DecodeReplicas)
	return prompts, tokens
}

// split returns the SCV of one of n streams into which a stream is split at random.
func split(scv float64, n int) float64 {
	return 1 + (scv-1)/float64(n)
}

// meanReciprocal returns E[1/n] of lengths n ≥ 1 of the given mean and SCV, taken as 1
// and a gamma variable G of scale θ and shape k:
//
//	E[1/(1+G)] = ∫ e^{-s}·(1+θs)^{-k} ds
//
// over s > 0; the trapezoidal rule in log s converges exponentially. What is beyond mostReciprocal
// is at most e^-mostReciprocal of it. Where s is small the integrand is about 1-mean·s, whose sum
// over the nodes left has a closed form.
func meanReciprocal(mean, scv float64) float64 {
	rest := mean - 1
	variance := scv * mean * mean
	if rest <= 0 || rest*rest >= pointShape*variance {
		return 1 / mean
	}
	shape, scale := rest*rest/variance, variance/rest
	sum, s := 0.0, mostReciprocal
	for ; s*(mean+scale) > leastReciprocal; s *= reciprocalRatio {
		sum += s * math.Exp(-s-shape*math.Log1p(scale*s))
	}
	sum += s/(1-reciprocalRatio) - mean*s*s/(1-reciprocalRatio*reciprocalRatio)
	return min(max(reciprocalStep*sum, 1/mean), 1)
}

const (
	// mostReciprocal is the largest node of [meanReciprocal].
	mostReciprocal = 32.0
	// leastReciprocal is how far the integrand is from 1, about, where it is taken as a line. What
	// that leaves out of the sum is about its cube, relative to the sum.
	leastReciprocal = 1e-4
	// reciprocalStep is the distance of nodes in log s, reciprocalRatio the ratio of two.
	reciprocalStep  = 1.0 / 4
	reciprocalRatio = 0.77880078307140486825 // e^-reciprocalStep
)

// TandemPerformance is the steady state of a disaggregated deployment.
type TandemPerformance struct {
	// Outcome is Saturated or Unservable if either station is.
	Outcome Outcome
	// Throughput is the rate of requests that are accepted by both stations.
	Throughput Rate
	// BlockedShare is the share of arrivals that find no place, at either station.
	BlockedShare float64
	// Prefill and Decode are those of one replica of each kind.
	Prefill, Decode Performance
	// TTFT, ITL and E2E are those of a request: see [Tandem]. In E2E the times at the two
	// stations are taken as independent and their sum as a gamma variable.
	TTFT, ITL, E2E Latency
}

// Evaluate returns the steady state at an arrival rate to the whole deployment. A rate
// that is not positive, NaN included, is taken as no load.
func (t *Tandem) Evaluate(rate Rate) TandemPerformance {
	return t.evaluate(float64(rate)/t.prefillReplicas, rate)
}

// EvaluatePair returns the steady state of requests that meet a prefill replica and a
// decode replica at the given arrival rates of each. The numbers of replicas need not
// match: others of either kind may share the traffic. Rates are taken as by Evaluate.
func (t *Tandem) EvaluatePair(prefill, decode Rate) TandemPerformance {
	return t.evaluate(float64(prefill), decode*Rate(t.decodeReplicas))
}

// evaluate takes the rate per prefill replica and that which all decode replicas share.
func (t *Tandem) evaluate(perPrefill float64, toDecode Rate) TandemPerformance {
	prefill := t.prefill.Evaluate(Rate(perPrefill))
	passed := toDecode * Rate(1-prefill.BlockedShare)
	if prefill.Outcome == Saturated {
		passed = min(passed, prefill.Throughput*Rate(t.prefillReplicas))
	}
	return t.following(prefill, passed)
}

// following takes the steady state of a prefill replica and the rate of requests that pass on to all decode replicas.
func (t *Tandem) following(prefill Performance, passed Rate) TandemPerformance {
	p := TandemPerformance{Prefill: prefill, Decode: t.decode.Evaluate(passed * Rate(t.decoding/t.decodeReplicas))}
	p.Outcome = max(p.Prefill.Outcome, p.Decode.Outcome)
	blocked := t.decoding * p.Decode.BlockedShare
	p.BlockedShare = 1 - (1-p.Prefill.BlockedShare)*(1-blocked)
	p.Throughput = p.Prefill.Throughput * Rate(t.prefillReplicas*(1-blocked))
	if p.Decode.Outcome == Saturated {
		p.Throughput = min(p.Throughput, p.Decode.Throughput*Rate(t.decodeReplicas/t.decoding))
	}
	if p.Outcome == Unservable {
		p.Throughput = 0
	}
	p.TTFT = p.Prefill.TTFT.shifted(t.transfer)
	p.ITL = t.itl(&p)
	p.E2E = p.TTFT.plus(p.Decode.E2E, t.decoding)
	return p
}

// itl adds to the ITL of the decode station, spread over the tokens of a request,
// the time until its first iteration there starts. Where nothing is served, or the
// wait there is endless, so is the ITL.
func (t *Tandem) itl(p *TandemPerformance) Latency {
	if p.Outcome == Unservable || p.Decode.Outcome == Saturated {
		return endless()
	}
	itl := p.Decode.ITL
	before := max(float64(p.Decode.TTFT.Mean()-itl.Mean()), 0)
	return itl.shifted(before * t.perToken)
}
