package planner

import (
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// tandem is one replica of each phase of a pair. A stream that is split at random over more of them is nearer to a Poisson stream, so
// that arrivals count as one where they are more regular.
func (k *sizeKey) tandem() (*queueing.Tandem, error) {
	d := queueing.Disaggregated{Prefill: k.replica, Decode: k.partner, PrefillReplicas: 1, DecodeReplicas: 1, Transfer: k.transfer}
	if k.phase == optimizer.Decode {
		d.Prefill, d.Decode = k.partner, k.replica
	}
	shape := k.shape
	if 0 <= shape.ArrivalSCV && shape.ArrivalSCV < 1 { // others below are for NewTandem to refuse
		shape.ArrivalSCV = 1
	}
	return queueing.NewTandem(d, shape)
}

// computePhase sizes one half of a pair, with as many replicas of the other as its
// rate needs.
func (z *sizing) computePhase() (Size, error) {
	t, err := z.key.tandem()
	if err != nil {
		return Size{}, err
	}
	limited := z.key.replica.MaxQueue.Limited || z.key.partner.MaxQueue.Limited
	c, err := t.Capacity(accepting(z.slo, limited))
	if err != nil {
		return Size{}, err
	}
	if c.Unservable != "" {
		return Size{Binding: "kvCacheTokens", Reason: c.Unservable}, nil
	}
	size := Size{Binding: "saturation"}
	if !c.Feasible {
		size.refuse(c.Binding, c.Best)
		return size, nil
	}
	pair := t.EvaluatePair(c.PrefillRate, 0)
	rate, half, bound, binding := c.PrefillRate, &pair.Prefill, c.PrefillBound, c.PrefillBinding
	if z.key.phase == optimizer.Decode {
		pair = t.EvaluatePair(0, c.DecodeRate)
		rate, half, bound, binding = c.DecodeRate, &pair.Decode, c.DecodeBound, c.DecodeBinding
	}
	if bound {
		size.bind(binding)
	}
	size.Capacity = min(rate, maxArrivalRate)
	size.Served = size.Capacity * queueing.Rate(1-half.BlockedShare)
	size.Saturation = min(half.SaturationRate, maxArrivalRate)
	return size, nil
}

// pair is a variant of each phase, with the share of the workload's traffic that
// passes through both.
type pair struct {
	prefill, decode int
	share           float64
}

// pairs are those in use: the prefilled traffic of every variant is spread over the
// variants that decode as these share it.
func (p *WorkloadPlan) pairs(w *Workload) []pair {
	var pairs []pair
	total := 0.0
	for j := range p.Variants {
		if w.Variants[j].Role == optimizer.Decode {
			total += p.Variants[j].Share
		}
	}
	for j := range p.Variants {
		for k := range p.Variants {
			if w.Variants[j].Role == optimizer.Prefill && w.Variants[k].Role == optimizer.Decode && total > 0 {
				if share := p.Variants[j].Share * p.Variants[k].Share / total; share > 0 {
					pairs = append(pairs, pair{prefill: j, decode: k, share: share})
				}
			}
		}
	}
	return pairs
}

// evaluatePair is the performance of a pair at the traffic of each of its variants.
// It is false without a profile.
func (p *WorkloadPlan) evaluatePair(w *Workload, at pair, served queueing.Rate) (queueing.TandemPerformance, bool) {
	prefill, decode := &w.Variants[at.prefill], &w.Variants[at.decode]
	if prefill.Replica == nil || decode.Replica == nil {
		return queueing.TandemPerformance{}, false
	}
	replicas := func(j int) int { return max(1, p.Variants[j].Total()) }
	t, err := queueing.NewTandem(queueing.Disaggregated{
		Prefill: *prefill.Replica, Decode: *decode.Replica, Transfer: prefill.Transfer,
		PrefillReplicas: replicas(at.prefill), DecodeReplicas: replicas(at.decode),
	}, w.routed(p.Variants[at.prefill].ShapeShares))
	if err != nil {
		return queueing.TandemPerformance{}, false
	}
	rate := func(j int) queueing.Rate {
		return served * queueing.Rate(p.Variants[j].Share) / queueing.Rate(replicas(j))
	}
	return t.EvaluatePair(rate(at.prefill), rate(at.decode)), true
}
