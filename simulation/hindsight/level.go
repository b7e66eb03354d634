package hindsight

import (
	"cmp"
	"slices"
	"time"
)

// span is a time from one moment to another, counted from the beginning.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return max(0, s.to-s.from) }

// spans are those of the windows.
func (in *Input) spans() []span {
	spans := make([]span, len(in.Windows))
	var end time.Duration
	for t, w := range in.Windows {
		spans[t] = span{end, end + w.Length}
		end += w.Length
	}
	return spans
}

// paid is the part of a span that is paid for.
func (in *Input) paid(s span) time.Duration { return span{max(s.from, in.From), s.to}.length() }

// variant is how many replicas of a variant are needed in each window.
type variant struct {
	in       *Input
	windows  []span
	replicas []int
	startup  time.Duration
}

func (in *Input) variant(s *Schedule, i, j int) *variant {
	v := &variant{in: in, windows: in.spans(), startup: in.startup(i, j)}
	for _, serving := range s.Serving {
		v.replicas = append(v.replicas, serving[i][j])
	}
	return v
}

// needed are the spans in which the k-th replica is needed, for all k from 1 on; spans
// that touch are one.
func (v *variant) needed() [][]span {
	levels := make([][]span, slices.Max(append([]int{0}, v.replicas...)))
	for t, n := range v.replicas {
		for k := range n {
			if last := len(levels[k]) - 1; last >= 0 && levels[k][last].to == v.windows[t].from {
				levels[k][last].to = v.windows[t].to
			} else {
				levels[k] = append(levels[k], v.windows[t])
			}
		}
	}
	return levels
}

// stays are the spans in which the k-th replica is paid: those in which it is needed, the
// gaps between them that cost no more than a start-up, and the start-ups. The first gap
// begins with all: what is there stays through it or goes, and what is not can start no
// sooner, which costs the same.
func (v *variant) stays() [][]span {
	levels := v.needed()
	for k, needed := range levels {
		var stays []span
		end := time.Duration(0)
		for _, n := range needed {
			start := max(end, n.from-v.startup)
			switch gap := v.in.paid(span{end, n.from}); {
			case gap > v.in.paid(span{start, n.from}):
				stays = append(stays, span{start, n.to})
			case len(stays) > 0:
				stays[len(stays)-1].to = n.to
			default:
				stays = append(stays, span{0, n.to})
			}
			end = n.to
		}
		levels[k] = stays
	}
	return levels
}

// total is the time of all spans that is paid for.
func (v *variant) total(levels [][]span) time.Duration {
	var sum time.Duration
	for _, spans := range levels {
		for _, s := range spans {
			sum += v.in.paid(s)
		}
	}
	return sum
}

// steps are the changes of the number of replicas that make up spans, the first at the
// beginning.
func steps(levels [][]span) []Step {
	changes := []Step{{}}
	for _, spans := range levels {
		for _, s := range spans {
			changes = append(changes, Step{s.from, 1}, Step{s.to, -1})
		}
	}
	slices.SortFunc(changes, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	all := changes[:1:1]
	for _, change := range changes[1:] {
		last := all[len(all)-1]
		if change.At > last.At {
			all = append(all, last)
			all[len(all)-1].At = change.At
		}
		all[len(all)-1].Replicas += change.Replicas
	}
	return slices.CompactFunc(all, func(a, b Step) bool { return a.Replicas == b.Replicas })
}
