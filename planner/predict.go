package planner

import (
	"github.com/poolwright/poolwright/internal/parallel"
	"github.com/poolwright/poolwright/queueing"
)

// predictionBlock is how many workloads go to a processor at a time.
const predictionBlock = 16

// predict is the stage that computes the performance of the planned replicas at
// the traffic that each gets.
func predict(c *cycle) error {
	parallel.Blocks(len(c.decision.Plans), predictionBlock, func(_, from, to int) {
		for i := from; i < to; i++ {
			plan := &c.decision.Plans[i]
			if plan.Held {
				continue
			}
			traffic := plan.Served
			if c.decision.Solution == nil {
				traffic = c.fleet.Workloads[i].ArrivalRate // a fleet as it stands gets all of it
			}
			plan.Prediction = plan.predict(traffic)
		}
	})
	return nil
}

// predict returns nil without traffic, and where a variant in use has no profile.
func (p *WorkloadPlan) predict(served queueing.Rate) *Prediction {
	if served <= 0 {
		return nil
	}
	var (
		prediction     Prediction
		ttft, itl, e2e queueing.Mixture
		replicas       int
	)
	for j := range p.Variants {
		v := &p.Variants[j]
		n := v.Total()
		if n == 0 || v.Share == 0 {
			continue
		}
		if v.Size.station == nil {
			return nil
		}
		perf := v.Size.station.Evaluate(served * queueing.Rate(v.Share) / queueing.Rate(n))
		prediction.Saturated = prediction.Saturated || perf.Outcome == queueing.Saturated
		prediction.Utilization += perf.Utilization * float64(n)
		prediction.Saturation += perf.SaturationRate * queueing.Rate(n)
		prediction.BlockedShare += perf.BlockedShare * v.Share
		replicas += n
		ttft.Add(perf.TTFT, v.Share)
		itl.Add(perf.ITL, v.Share)
		e2e.Add(perf.E2E, v.Share)
	}
	if replicas == 0 {
		return nil
	}
	prediction.Utilization /= float64(replicas)
	if !prediction.Saturated {
		prediction.TTFT, prediction.ITL, prediction.E2E = quantiles(&ttft), quantiles(&itl), quantiles(&e2e)
	}
	return &prediction
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
