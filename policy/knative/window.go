package knative

import (
	"math"
	"slices"
	"time"
)

// Window is the load of the last seconds. The zero value is empty.
//
// An addition takes amortized constant time: a sum goes along with the ring, and is
// made anew once a round, so that no rounding errors add up.
type Window struct {
	// Seconds is a ring: the load of a Unix time is at that time modulo its length.
	Seconds []float64
	// First and Last are the Unix times of the first and last load since the window
	// was last empty.
	First, Last int64
	// Total is the sum of Seconds.
	Total float64
}

// started tells whether there ever was load.
func (w *Window) started() bool { return len(w.Seconds) > 0 }

// place returns where a time is in the ring.
func (w *Window) place(at int64) int {
	n := int64(len(w.Seconds))
	return int((at%n + n) % n)
}

// record adds the load of a second. A second without load between two with one counts
// as 0, as in Knative. A window of another length starts anew.
func (w *Window) record(at int64, length int, load float64) {
	switch n := int64(length); {
	case len(w.Seconds) != length || at >= w.Last+n:
		*w = Window{Seconds: make([]float64, length), First: at, Last: at}
	case at <= w.Last-n:
		return
	}
	for w.Last < at {
		w.Last++
		w.clear(w.place(w.Last))
	}
	w.First = min(w.First, at)
	w.Seconds[w.place(at)] += load
	w.Total += load
}

// clear empties a place for a new second.
func (w *Window) clear(place int) {
	w.Total -= w.Seconds[place]
	w.Seconds[place] = 0
	if place == 0 {
		w.Total = 0
		for _, load := range w.Seconds {
			w.Total += load
		}
	}
}

// average returns the mean load per second, over as much of the window as there was load
// in; false if there was none.
func (w *Window) average(at int64) (float64, bool) {
	length := int64(len(w.Seconds))
	if !w.started() || at >= w.Last+length {
		return 0, false
	}
	total, late := w.Total, max(0, at-w.Last)
	for s := range late {
		total -= w.Seconds[w.place(w.Last+1+s)]
	}
	return rounded(total / float64(min(w.Last-w.First+1, length-late))), true
}

// rounded leaves six decimals, so that rounding errors of sums ask for no replica.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// History is what the autoscaler remembers of one workload. The zero value is that of
// one never seen. Its size is that of the two windows.
type History struct {
	Stable, Panic Window
	// Decided is that there was a decision before.
	Decided bool
	// Panicking is that a panic goes on, Excess when there last was cause for it, and
	// Most the most replicas that it asked for.
	Panicking bool
	Excess    time.Time
	Most      int
}

// mostLoad is more than any workload has; what is above is taken for a mistake.
const mostLoad = 1e9

// Record takes the load of a workload at a time: requests in its replicas, or requests
// per second. Several in a second add up. What is not in [0, 1e9] is no measurement
// and left out.
func (h *History) Record(c *Config, now time.Time, load float64) { h.record(c, now.Unix(), load) }

func (h *History) record(c *Config, at int64, load float64) {
	if load >= 0 && load <= mostLoad {
		h.Stable.record(at, c.stableSeconds(), load)
		h.Panic.record(at, c.panicSeconds(), load)
	}
}

// Resume returns the history after a time in which nobody looked. Windows that lie in the future,
// as a clock was set back, are of no use: it starts anew.
func (h History) Resume(now time.Time) History {
	if h.Stable.started() && h.Stable.Last > now.Unix() {
		return History{}
	}
	return h
}

// Clone returns a copy that shares nothing.
func (h History) Clone() History {
	h.Stable.Seconds, h.Panic.Seconds = slices.Clone(h.Stable.Seconds), slices.Clone(h.Panic.Seconds)
	return h
}
