package metrics

import (
	"slices"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// variants is what replicas of each variant were seen to do in the window, on the mean.
// Variants of which none reported are left out, and those whose requests pass from one pod to
// another: neither of them has a request from its begin to its end.
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
		if !sums[j].seen || v.Role != optimizer.Whole || v.Replica == nil || hasPrefill(s.parts[v.Name]) {
			continue
		}
		o := sums[j].observation(s.pods(requests, j))
		o.Window = window
		all = append(all, planner.VariantObservation{Variant: v.Name, Replica: o})
	}
	return all
}

// hasPrefill tells whether some parts of a replica prefill what others decode.
func hasPrefill(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Prefill })
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

// observation is that of a replica of which so many pods report.
func (w *work) observation(pods int) calibration.Observation {
	return calibration.Observation{
		Rate:           w.mean(requests, pods),
		Running:        w.mean(runningMean, pods),
		Waiting:        w.mean(waitingMean, pods),
		InputTokens:    w.ratio(promptSum, requests),
		OutputTokens:   w.ratio(outputSum, requests),
		PrefixHitRatio: w.ratio(prefixHits, prefixQueries),
		ITL:            w.ratio(itlSum, itlCount),
		TTFT:           w.ratio(ttftSum, ttftCount),
	}
}

// mean over the replicas that report the quantity, of which each has so many pods.
func (w *work) mean(q quantity, pods int) calibration.Quantity {
	return valid(w.sums[q] / float64(w.counts[q]) * float64(pods))
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
