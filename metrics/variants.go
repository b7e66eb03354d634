package metrics

import (
	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// variants is what replicas of each variant were seen to do in the window, on the mean.
// Variants of which none reported are left out.
func (s *scope) variants(window queueing.Seconds) []planner.VariantObservation {
	if s.reported == nil || s.reported.ambiguous {
		return nil
	}
	sums := make([]work, len(s.workload.Variants))
	for _, r := range s.reported.replicas {
		if r.variant >= 0 && r.isFresh(s.staleAfter) {
			sums[r.variant].add(r)
		}
	}
	var all []planner.VariantObservation
	for j := range sums {
		v := &s.workload.Variants[j]
		if !sums[j].seen || v.Role != optimizer.Whole || v.Replica == nil {
			continue
		}
		o := sums[j].observation()
		o.Window = window
		all = append(all, planner.VariantObservation{Variant: v.Name, Replica: o})
	}
	return all
}

// work adds up what replicas of a variant did.
type work struct {
	seen   bool
	counts [quantities]int
	sums   [quantities]float64
}

func (w *work) add(r *replica) {
	for q := runningMean; q < quantities; q++ {
		if r.has[q] {
			w.seen = true
			w.counts[q]++
			w.sums[q] += r.values[q]
		}
	}
}

func (w *work) observation() calibration.Observation {
	return calibration.Observation{
		Rate:           w.mean(requests),
		Running:        w.mean(runningMean),
		Waiting:        w.mean(waitingMean),
		InputTokens:    w.ratio(promptSum, requests),
		OutputTokens:   w.ratio(outputSum, requests),
		PrefixHitRatio: w.ratio(prefixHits, prefixQueries),
		ITL:            w.ratio(itlSum, itlCount),
		TTFT:           w.ratio(ttftSum, ttftCount),
	}
}

// mean over the replicas that report the quantity.
func (w *work) mean(q quantity) calibration.Quantity {
	return valid(w.sums[q] / float64(w.counts[q]))
}

// ratio is the mean over events: the sum of what they measured by their number.
func (w *work) ratio(sum, count quantity) calibration.Quantity {
	if w.counts[sum] == 0 || w.counts[sum] != w.counts[count] {
		return calibration.Quantity{}
	}
	return valid(w.sums[sum] / w.sums[count])
}

// valid is the value, unknown where it is none: without replicas or events, or because
// a replica reported none.
func valid(value float64) calibration.Quantity {
	if !isValid(value) {
		return calibration.Quantity{}
	}
	return calibration.Of(value)
}
