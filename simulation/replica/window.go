package replica

import (
	"iter"

	"github.com/poolwright/poolwright/queueing"
)

// Window is the mean experience of the requests that arrived within a span of time.
// Means over no request are 0.
type Window struct {
	// Start is the beginning of the span, in seconds.
	Start float64
	// Arrived counts requests, Rejected those of them that were rejected.
	Arrived, Rejected    int
	Wait, TTFT, ITL, E2E queueing.Seconds
	// spaced counts the requests with at least two tokens.
	spaced int
}

func (w *Window) add(c *Completion) {
	w.Arrived++
	if c.Outcome != Completed {
		w.Rejected++
		return
	}
	w.Wait += c.Wait()
	w.TTFT += c.TTFT()
	w.E2E += c.E2E()
	if c.Output > 1 {
		w.ITL += c.ITL()
		w.spaced++
	}
}

// average turns sums into means.
func (w *Window) average() {
	completed := queueing.Seconds(max(w.Arrived-w.Rejected, 1))
	w.Wait /= completed
	w.TTFT /= completed
	w.E2E /= completed
	w.ITL /= queueing.Seconds(max(w.spaced, 1))
}

// Windows groups requests by arrival into windows of a width in seconds, the first of
// which starts at time 0, up to the last one that has a request.
func Windows(completions iter.Seq[Completion], width float64) []Window {
	var all []Window
	for c := range completions {
		if c.Outcome == Malformed {
			continue
		}
		n := int(c.Arrival / width)
		for len(all) <= n {
			all = append(all, Window{Start: float64(len(all)) * width})
		}
		all[n].add(&c)
	}
	for i := range all {
		all[i].average()
	}
	return all
}
