package metrics

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/policy/kthena"
)

// snapshot is what a pod reported at one time.
type snapshot struct {
	at time.Time
	// started is when the process started; zero = not known.
	started time.Time
	has     [quantities]bool
	values  [quantities]float64
	// named are the metrics that policies follow; nil where there are none.
	named map[string]named
}

// named is a metric whose type is only known once it is reported.
type named struct {
	// counter values grow.
	counter bool
	value   float64
	// buckets are those of a histogram; else nil.
	buckets buckets
}

// read takes out of an exposition what an engine reports of itself, and metrics by name;
// false where it does not report what that engine always does.
func (e *engine) read(x exposition, names []string) (snapshot, bool) {
	var s snapshot
	for _, list := range [][]metric{e.demand, e.work} {
		for i := range list {
			m := &list[i]
			s.values[m.quantity], s.has[m.quantity] = x.sum(m.names, m.only)
		}
	}
	if len(names) > 0 {
		s.named = make(map[string]named, len(names))
	}
	for _, name := range names {
		if of := x.buckets([]string{name}); of != nil {
			s.named[name] = named{buckets: of}
		} else if value, ok := x.sum([]string{name}, matcher{}); ok {
			s.named[name] = named{value: value, counter: x.isCounter(name)}
		}
	}
	_, present := x.sum(e.present, matcher{})
	return s, present || len(e.present) == 0
}

// lengths are the buckets of histograms of tokens.
func (e *engine) lengths(x exposition) map[quantity]buckets {
	return map[quantity]buckets{
		promptBuckets: x.buckets(e.histogram(promptSum)), outputBuckets: x.buckets(e.histogram(outputSum)),
	}
}

// history is what a pod reported of late, the oldest first.
type history struct {
	snapshots []snapshot
	// anchor are the buckets from which on the variation of lengths is measured.
	anchor map[quantity]buckets
	// failed is when it was last asked without an answer; zero = it answered since.
	failed time.Time
	// listed is when there was such a pod.
	listed time.Time
}

// last is the latest snapshot, nil if there is none.
func (h *history) last() *snapshot {
	if len(h.snapshots) == 0 {
		return nil
	}
	return &h.snapshots[len(h.snapshots)-1]
}

// add appends a snapshot and drops those that nobody looks at any more.
func (h *history) add(s snapshot, window time.Duration) {
	h.snapshots = append(h.snapshots, s)
	keep := max(0, h.base(s.at, max(window, kthena.HistogramWindow)))
	h.snapshots = slices.DeleteFunc(h.snapshots[keep:], func(old snapshot) bool { return s.at.Sub(old.at) > memory })
}

// base is the place of the latest snapshot that is at least so old, -1 if there is none.
func (h *history) base(now time.Time, age time.Duration) int {
	for i := len(h.snapshots) - 1; i >= 0; i-- {
		if now.Sub(h.snapshots[i].at) >= age {
			return i
		}
	}
	return -1
}

// recent are the snapshots in a window, and the one before it.
func (h *history) recent(window time.Duration) []snapshot {
	if len(h.snapshots) == 0 {
		return nil
	}
	return h.snapshots[max(0, h.base(h.last().at, window)):]
}

// leastElapsed is the shortest time over which something has a rate.
const leastElapsed = 100 * time.Millisecond

// rate is that at which a counter grew in the window, per second. A counter that decreases,
// or whose process is another, has begun again at 0; so has one that was not there before.
func (h *history) rate(window time.Duration, of func(*snapshot) (float64, bool)) (float64, bool) {
	recent := h.recent(window)
	if len(recent) == 0 {
		return 0, false
	}
	first, last := &recent[0], &recent[len(recent)-1]
	from, before, found := first.at, 0.0, false
	if first.started.After(last.at.Add(-window)) && first.started.Before(first.at) {
		from = first.started
	} else {
		before, found = of(first)
		recent = recent[1:]
	}
	increase, previous := 0.0, from
	for i := range recent {
		s := &recent[i]
		value, ok := of(s)
		if !ok {
			continue
		}
		if value < before || s.started.After(previous) {
			before = 0
		}
		increase += value - before
		before, previous, found = value, s.at, true
	}
	elapsed := last.at.Sub(from)
	if !found || elapsed < leastElapsed {
		return 0, false
	}
	return increase / elapsed.Seconds(), true
}

// report puts in what a pod reported, as Prometheus would have it.
func (h *history) report(r *replica, e *engine, names []string, now time.Time, window time.Duration) {
	last := h.last()
	if last == nil || now.Sub(last.at) > memory {
		return
	}
	r.add(known, 1)
	r.add(age, now.Sub(last.at).Seconds())
	for _, list := range [][]metric{e.demand, e.work} {
		for i := range list {
			q := list[i].quantity
			if v, ok := h.quantity(q, window); ok {
				r.add(q, v)
			}
			if !list[i].completes() {
				continue
			}
			if v, ok := h.rate(leastElapsed, valueOf(q)); ok {
				r.add(recentCompletions, v)
			}
		}
	}
	for _, name := range names {
		if v, ok := h.metric(name, window); ok {
			r.name(name, v)
		}
	}
}

// quantity is the value of a gauge, its mean over the window, or the rate of a counter.
func (h *history) quantity(q quantity, window time.Duration) (float64, bool) {
	switch q {
	case running, waiting:
		return valueOf(q)(h.last())
	case runningMean, waitingMean:
		return h.mean(window, valueOf(q))
	default:
		return h.rate(window, valueOf(q))
	}
}

// valueOf reads a quantity.
func valueOf(q quantity) func(*snapshot) (float64, bool) {
	return func(s *snapshot) (float64, bool) { return s.values[q], s.has[q] }
}

// mean is that of a gauge over the window.
func (h *history) mean(window time.Duration, of func(*snapshot) (float64, bool)) (float64, bool) {
	sum, n := 0.0, 0
	recent := h.recent(window)
	for i := range recent {
		if v, ok := of(&recent[i]); ok {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n), n > 0
}

// since are buckets of histograms of tokens less those of the last time.
func (h *history) since(now map[quantity]buckets) map[quantity]buckets {
	if now == nil {
		return nil
	}
	since := map[quantity]buckets{}
	for q, of := range now {
		since[q] = of.since(h.anchor[q])
	}
	h.anchor = now
	return since
}

// since are the buckets without those of an earlier time, unless they began again.
func (b buckets) since(past buckets) buckets {
	difference := buckets{}
	for bound, count := range b {
		if difference[bound] = count - past[bound]; difference[bound] < 0 {
			return b
		}
	}
	return difference
}

// metric is the value of a metric by name, as Kthena takes it: of a histogram the 95th
// percentile of the last minute, of a counter its rate.
func (h *history) metric(name string, window time.Duration) (float64, bool) {
	last := h.last()
	if last == nil {
		return 0, false
	}
	switch now, ok := last.named[name]; {
	case !ok:
		return 0, false
	case now.buckets != nil:
		return h.percentile(name, now.buckets)
	case now.counter:
		return h.rate(window, func(s *snapshot) (float64, bool) {
			n, ok := s.named[name]
			return n.value, ok
		})
	default:
		return now.value, true
	}
}

// percentile of what a histogram counted in the last minute.
func (h *history) percentile(name string, now buckets) (float64, bool) {
	bounds, counts := now.sorted()
	var past []int64
	if i := h.base(h.last().at, kthena.HistogramWindow); i >= 0 && !h.last().started.After(h.snapshots[i].at) {
		if before, then := h.snapshots[i].named[name].buckets.sorted(); slices.Equal(before, bounds) {
			past = then
		}
	}
	value, ok, err := kthena.Quantile(kthena.DefaultPercentile, bounds, past, counts)
	if err != nil { // it began again
		value, ok, err = kthena.Quantile(kthena.DefaultPercentile, bounds, nil, counts)
	}
	return value, ok && err == nil
}

// sorted are the finite bounds, ascending, and the cumulative counts; with one more, of all.
func (b buckets) sorted() (bounds []float64, counts []int64) {
	all := slices.Sorted(maps.Keys(b))
	for i, bound := range all {
		if i < len(all)-1 || !math.IsInf(bound, 1) {
			bounds = append(bounds, bound)
		}
		counts = append(counts, int64(b[bound]))
	}
	if len(counts) == len(bounds) && len(counts) > 0 {
		counts = append(counts, counts[len(counts)-1])
	}
	return bounds, counts
}
