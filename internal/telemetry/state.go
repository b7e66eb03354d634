package telemetry

import (
	"time"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// state is what is shown of the last cycle.
type state struct {
	cycle *Cycle
	// latencies are by workload and deviations by variant, those last observed: replicas
	// are not observed in every cycle.
	latencies  map[string]latency
	deviations map[variant]deviation
}

// latency is what was observed of a workload's requests, on the mean.
type latency struct {
	at        time.Time
	ttft, itl calibration.Quantity
}

type variant struct{ workload, name string }

// deviation is log(observed/predicted) of a variant's latencies.
type deviation struct {
	at        time.Time
	ttft, itl calibration.Quantity
}

// forgetAfter is how long something is shown that is not observed any more.
const forgetAfter = 15 * time.Minute

// advance takes the place of the last cycle.
func (s *state) advance(c *Cycle) {
	latencies, deviations := map[string]latency{}, map[variant]deviation{}
	observations := map[string]*planner.Observation{}
	for i := range c.Entry.Snapshot.Observations {
		observations[c.Entry.Snapshot.Observations[i].Workload] = &c.Entry.Snapshot.Observations[i]
	}
	fleet := &c.Entry.Snapshot.Fleet
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		name := w.QualifiedName()
		if last, ok := s.latencies[name]; ok && c.At.Sub(last.at) <= forgetAfter {
			latencies[name] = last
		}
		if l := observedLatency(w, observations[name]); l.ttft.Known || l.itl.Known {
			l.at = c.At
			latencies[name] = l
		}
		for j := range w.Variants {
			of := variant{name, w.Variants[j].Name}
			if last, ok := s.deviations[of]; ok && c.At.Sub(last.at) <= forgetAfter {
				deviations[of] = last
			}
		}
	}
	for i := range c.Entry.Decision.Calibrations {
		k := &c.Entry.Decision.Calibrations[i]
		if d := (deviation{c.At, deviationOf(&k.TTFT), deviationOf(&k.ITL)}); d.ttft.Known || d.itl.Known {
			deviations[variant{k.Workload, k.Variant}] = d
		}
	}
	s.cycle, s.latencies, s.deviations = c, latencies, deviations
}

// deviationOf a latency, if it was compared.
func deviationOf(r *calibration.LatencyReport) calibration.Quantity {
	switch r.Verdict {
	case calibration.Used, calibration.Changed, calibration.Outlier:
		return calibration.Of(r.Deviation)
	}
	return calibration.Quantity{}
}

// observedLatency is the mean over the requests of all variants.
func observedLatency(w *planner.Workload, o *planner.Observation) latency {
	if o == nil {
		return latency{}
	}
	replicas := map[string]float64{}
	for j := range w.Variants {
		replicas[w.Variants[j].Name] = float64(w.Variants[j].CurrentReplicas - w.Variants[j].StartingReplicas)
	}
	var ttft, itl weighted
	for j := range o.Variants {
		r := &o.Variants[j].Replica
		requests := r.Rate.Or(0) * replicas[o.Variants[j].Variant]
		ttft.add(r.TTFT, requests)
		itl.add(r.ITL, requests)
	}
	return latency{ttft: ttft.mean(), itl: itl.mean()}
}

// weighted sums up.
type weighted struct{ sum, weight float64 }

func (w *weighted) add(q calibration.Quantity, weight float64) {
	if q.Known {
		w.sum += q.Value * weight
		w.weight += weight
	}
}

func (w *weighted) mean() calibration.Quantity {
	if w.weight <= 0 {
		return calibration.Quantity{}
	}
	return calibration.Of(w.sum / w.weight)
}

// predicted is a latency of a plan at a quantile, 0 = the mean; false if it was not
// predicted.
func predicted(p *planner.Prediction, of queueing.Metric, quantile float64) (float64, bool) {
	if p == nil || p.Saturated {
		return 0, false
	}
	var all planner.Quantiles
	switch of {
	case queueing.TTFT:
		all = p.TTFT
	case queueing.ITL:
		all = p.ITL
	case queueing.E2E:
		all = p.E2E
	default:
		return 0, false
	}
	value, ok := map[float64]queueing.Seconds{0: all.Mean, 0.5: all.P50, 0.9: all.P90, 0.95: all.P95, 0.99: all.P99}[quantile]
	return float64(value), ok
}
