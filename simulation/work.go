package simulation

import (
	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// work is what replicas of a variant did since a moment.
type work struct {
	// lengths, ttft and cached are of the requests that completed: sums of tokens, times to
	// first token, and tokens that were in the prefix cache.
	lengths      lengths
	ttft, cached float64
	// gaps is the number of times between tokens, gapTime their sum.
	gaps, gapTime float64
	// departed is what those did that are gone.
	departed replica.Totals
}

func (w *work) add(done *replica.Completion) {
	w.lengths.add(done.Input, done.Output)
	w.ttft += float64(done.TTFT())
	w.cached += float64(done.Cached)
	w.gaps += float64(done.Output - 1)
	w.gapTime += done.Finished - done.FirstToken
}

// depart counts what a replica did that goes now.
func (w *work) depart(s *server, now float64) {
	if s.replica != nil {
		count(&w.departed, s.totals(now).Since(s.seen))
	}
}

// count adds what calibration asks for.
func count(sum *replica.Totals, t replica.Totals) {
	sum.Time += t.Time
	sum.Accepted += t.Accepted
	sum.Running += t.Running
	sum.Waiting += t.Waiting
}

// workOf is what a replica of a variant did since the last turn, on the mean over replicas.
func (c *Cluster) workOf(v *variant) calibration.Observation {
	w := v.work
	v.work = work{}
	did := w.departed
	for _, s := range v.servers {
		if s.replica == nil {
			continue
		}
		totals := s.totals(c.now)
		count(&did, totals.Since(s.seen))
		s.seen = totals
	}
	if did.Time == 0 || v.declared || v.config.Role != optimizer.Whole {
		return calibration.Observation{}
	}
	o := calibration.Observation{
		Window:  queueing.Seconds(c.now - c.observer.worked),
		Rate:    calibration.Of(float64(did.Accepted) / did.Time),
		Running: calibration.Of(did.Running / did.Time), Waiting: calibration.Of(did.Waiting / did.Time),
	}
	if l := &w.lengths; l.count > 0 {
		o.InputTokens, o.OutputTokens = calibration.Of(l.input.mean(l.count)), calibration.Of(l.output.mean(l.count))
		o.InputSCV, o.OutputSCV = calibration.Of(l.input.variation(l.count)), calibration.Of(l.output.variation(l.count))
		o.TTFT = calibration.Of(w.ttft / l.count)
		if w.gaps > 0 {
			o.ITL = calibration.Of(w.gapTime / w.gaps)
		}
		if l.input.sum > 0 {
			o.PrefixHitRatio = calibration.Of(w.cached / l.input.sum)
		}
	}
	return o
}
