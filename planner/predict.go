package planner

import (
	"math"

	"github.com/poolwright/poolwright/internal/parallel"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// predictionBlock is how many workloads go to a processor at a time.
const predictionBlock = 4

// predict is the stage that computes the performance of the planned replicas at
// the traffic that each gets.
func predict(c *cycle) error {
	parallel.Blocks(len(c.decision.Plans), predictionBlock, func(_, from, to int) {
		for i := from; i < to && !c.unwanted(); i++ {
			plan := &c.decision.Plans[i]
			if plan.Held {
				continue
			}
			traffic := c.traffic(i, plan)
			last, ok := c.lastPrediction(i, plan, traffic)
			if !ok {
				last = c.predict(i, plan, traffic)
			}
			plan.Prediction = last
		}
	})
	return nil
}

// traffic is what the replicas of a plan get: a fleet as it stands gets all of it, and
// that of the loop what is expected, which is less than what it is planned for: to three
// digits, so that what hardly moves is not predicted anew.
func (c *cycle) traffic(i int, plan *WorkloadPlan) queueing.Rate {
	switch {
	case c.decision.Solution == nil:
		return c.fleet.Workloads[i].ArrivalRate
	case plan.Expected != nil:
		return min(plan.Served, threeDigits(plan.Expected.Point+plan.Expected.Backlog))
	}
	return plan.Served
}

// threeDigits rounds to three significant digits.
func threeDigits(rate queueing.Rate) queueing.Rate {
	if rate <= 0 {
		return rate
	}
	unit := math.Pow(10, math.Floor(math.Log10(float64(rate)))-2)
	return queueing.Rate(math.Round(float64(rate)/unit) * unit)
}

// predict returns nil without traffic, and where a variant in use has no profile.
func (c *cycle) predict(i int, p *WorkloadPlan, served queueing.Rate) *Prediction {
	if served <= 0 {
		return nil
	}
	w := &c.fleet.Workloads[i]
	var m predictionMix
	for j := range p.Variants {
		v := &p.Variants[j]
		n := v.Total()
		if n == 0 || v.Share == 0 || w.Variants[j].Role != optimizer.Whole {
			continue
		}
		station := c.station(i, j, v)
		if station == nil {
			return nil
		}
		perf := station.Evaluate(served * queueing.Rate(v.Share) / queueing.Rate(n))
		m.addReplicas(n, &perf)
		m.saturation += perf.SaturationRate * queueing.Rate(n)
		m.addRequests(v.Share, perf.Outcome, perf.BlockedShare, perf.TTFT, perf.ITL, perf.E2E)
	}
	if !p.predictPairs(w, served, &m) {
		return nil
	}
	return m.prediction()
}

// predictPairs adds the traffic that is served in phases.
func (p *WorkloadPlan) predictPairs(w *Workload, served queueing.Rate, m *predictionMix) bool {
	var saturation [3]queueing.Rate
	seen := make([]bool, len(p.Variants))
	add := func(j int, perf *queueing.Performance) {
		if n := p.Variants[j].Total(); !seen[j] {
			seen[j] = true
			m.addReplicas(n, perf)
			saturation[w.Variants[j].Role] += perf.SaturationRate * queueing.Rate(n)
		}
	}
	for _, at := range p.pairs(w) {
		perf, ok := p.evaluatePair(w, at, served)
		if !ok {
			return false
		}
		add(at.prefill, &perf.Prefill)
		add(at.decode, &perf.Decode)
		m.addRequests(at.share, perf.Outcome, perf.BlockedShare, perf.TTFT, perf.ITL, perf.E2E)
	}
	m.saturation += min(saturation[optimizer.Prefill], saturation[optimizer.Decode])
	return true
}

// predictionMix sums up the performance of parts of a workload's traffic.
type predictionMix struct {
	ttft, itl, e2e queueing.Mixture
	utilization    float64
	saturation     queueing.Rate
	blocked        float64
	saturated      bool
	replicas       int
}

func (m *predictionMix) addReplicas(n int, perf *queueing.Performance) {
	m.utilization += perf.Utilization * float64(n)
	m.replicas += n
}

func (m *predictionMix) addRequests(share float64, outcome queueing.Outcome, blocked float64, ttft, itl, e2e queueing.Latency) {
	m.saturated = m.saturated || outcome == queueing.Saturated
	m.blocked += blocked * share
	m.ttft.Add(ttft, share)
	m.itl.Add(itl, share)
	m.e2e.Add(e2e, share)
}

// prediction returns nil if nothing was added.
func (m *predictionMix) prediction() *Prediction {
	if m.replicas == 0 {
		return nil
	}
	p := &Prediction{
		Utilization: m.utilization / float64(m.replicas), Saturation: m.saturation,
		BlockedShare: m.blocked, Saturated: m.saturated,
	}
	if !m.saturated {
		p.TTFT, p.ITL, p.E2E = quantiles(&m.ttft), quantiles(&m.itl), quantiles(&m.e2e)
	}
	return p
}

func quantiles(m *queueing.Mixture) Quantiles {
	return Quantiles{
		Mean: m.Mean(),
		P50:  m.Quantile(0.50),
		P90:  m.Quantile(0.90),
		P95:  m.Quantile(0.95),
		P99:  m.Quantile(0.99),
	}
}
