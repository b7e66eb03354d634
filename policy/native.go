package policy

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Native is the default policy. Replicas are added at once. They are taken away when
// fewer were wanted for a whole window, and never on incomplete data.
type Native struct {
	// ScaleDownWindow is how long fewer replicas must have been wanted before any are
	// taken away: the largest number wanted within it stays. It must have been
	// observed whole. From 0 to a day; nil = see [Native.Window].
	ScaleDownWindow *time.Duration
	// Tolerance is the share by which demand may fall below what the last plan was made
	// for before it counts, in [0, 0.5]. A rise counts at once.
	Tolerance float64
	// ZeroGrace is for how long it must have been known that nothing arrives before the
	// last replica is taken away. From 0 to a week.
	ZeroGrace time.Duration
	// MinInterval is the least time between a change of a variant and the next removal
	// from it. From 0 to a day.
	MinInterval time.Duration
}

// DefaultNative returns the defaults: a window as long as a replica takes to come back, a
// tolerance of 5 %, and 5 minutes of grace, the cooldown period of KEDA.
func DefaultNative() Native {
	return Native{Tolerance: 0.05, ZeroGrace: 5 * time.Minute}
}

const (
	// leastWindow is the shortest window where none is given.
	leastWindow = time.Minute
	// usualWindow is the window where nothing is known: the downscale stabilization of the
	// HorizontalPodAutoscaler.
	usualWindow = 5 * time.Minute
)

// Window is the scale-down window of a workload whose replicas take some time to come back: to
// be seen to be wanted, and to start; 0 where that is not known.
//
// Where no window is given it is that time, a minute at least: a replica is kept idle for as
// long as it would be paid without serving if it had to come back. That costs at most twice
// what perfect knowledge of demand would, which no other fixed time improves on: A. R. Karlin, M. S.
// Manasse, L. Rudolph, D. D. Sleator, "Competitive snoopy caching" (1988).
func (n Native) Window(comeback time.Duration) time.Duration {
	switch {
	case n.ScaleDownWindow != nil:
		return *n.ScaleDownWindow
	case comeback == 0:
		return usualWindow
	}
	return max(leastWindow, comeback)
}

// drain is how long an overload keeps replicas. What nobody counts may wait for long after it.
func (n Native) drain(w *Workload) time.Duration {
	if w.Counted || n.ScaleDownWindow != nil {
		return n.Window(w.Comeback)
	}
	return max(usualWindow, n.Window(w.Comeback))
}

// Validate returns all that is out of its range, nil if nothing is.
func (n Native) Validate() error {
	const day = 24 * time.Hour
	var errs []error
	check := func(name string, value, most time.Duration) {
		if value < 0 || value > most {
			errs = append(errs, fmt.Errorf("policy: %s: %s is not between 0s and %s", name, value, most))
		}
	}
	check("scaleDownWindow", n.Window(0), day)
	check("zeroGrace", n.ZeroGrace, 7*day)
	check("minInterval", n.MinInterval, day)
	if !(n.Tolerance >= 0 && n.Tolerance <= 0.5) {
		errs = append(errs, fmt.Errorf("policy: tolerance: %g is not between 0 and 0.5", n.Tolerance))
	}
	return errors.Join(errs...)
}

// rounding is the relative error of an average over many equal samples.
const rounding = 1e-9

// Demand returns the demand to plan for, when the last plan was made for one demand
// and another is expected now: the last, where the new one is within the tolerance
// below it.
func (n Native) Demand(last, expected float64) float64 {
	if expected <= (1+rounding)*last && expected >= (1-n.Tolerance)*last {
		return last
	}
	return expected
}

// History is what [Native] remembers of one workload. The zero value has seen nothing.
// It is never changed; its slices are shared.
type History struct {
	// Since is when the workload was first seen.
	Since time.Time
	// Arrival is when requests last arrived or may have, and Overload when they were last
	// more than ready replicas serve; zero if never.
	Arrival, Overload time.Time
	// Variants are in the order of the last call.
	Variants []VariantHistory
}

// VariantHistory is what [Native] remembers of one variant.
type VariantHistory struct {
	Name string
	// Wanted are the numbers of replicas that were wanted.
	Wanted Maximum
	// Replicas is their last number, and Changed when it last changed; zero if never.
	Replicas int
	Changed  time.Time
}

// Reasons that every policy has.
const (
	DemandUnknown    = "demand is not known"
	DemandIncomplete = "not all replicas report"
)

// Resume returns the history after a time in which nobody looked: windows are to be observed
// anew from now on. What lies in the future, as a clock was set back, counts as of now.
func (h History) Resume(now time.Time) History {
	now = now.UTC().Round(0)
	next := History{Since: now, Arrival: now, Overload: h.Overload, Variants: slices.Clone(h.Variants)}
	if next.Overload.After(now) {
		next.Overload = now
	}
	for j := range next.Variants {
		v := &next.Variants[j]
		v.Wanted = nil
		if v.Changed.After(now) {
			v.Changed = now
		}
	}
	return next
}

// Workload is what [Native] decides on.
type Workload struct {
	// Known is false where nothing is known of the demand: nothing is permitted then,
	// and the rest does not count. Complete is false where demand may be higher than
	// measured.
	Known, Complete bool
	// Arrivals: requests are arriving or waiting. Overload: they are more than ready
	// replicas serve. Counted: how many wait is known, and the demand accounts for them.
	Arrivals, Overload, Counted bool
	// Backlog: more requests wait than the wanted replicas would serve at once.
	Backlog bool
	// Comeback is the time that a replica that was taken away takes to be wanted and to serve
	// again; 0 where it is not known.
	Comeback time.Duration
	Variants []Variant
}

// Variant is one variant of a [Workload].
type Variant struct {
	// Name is unique within the workload.
	Name string
	// Current is the number of replicas now, and Wanted that of the cheapest plan.
	Current, Wanted int
}

// Permission is bounds on the number of replicas of a variant.
type Permission struct {
	// Min is the least number permitted.
	Min int
	// Max is the most, and counts only when Limited.
	Max     int
	Limited bool
	// Reason says why the bounds do not let everything happen that is wanted; else it
	// is empty.
	Reason string
}

// Allows tells whether n replicas are within the bounds.
func (p Permission) Allows(n int) bool { return n >= p.Min && !(p.Limited && n > p.Max) }

// String returns the bounds in words.
func (p Permission) String() string {
	switch {
	case p.Limited && p.Min == p.Max:
		return fmt.Sprintf("%d replicas", p.Min)
	case p.Limited:
		return fmt.Sprintf("%d to %d replicas", p.Min, p.Max)
	}
	return fmt.Sprintf("at least %d replicas", p.Min)
}

// Stay permits no change of so many replicas.
func Stay(replicas int, reason string) Permission {
	return Permission{Min: replicas, Max: replicas, Limited: true, Reason: reason}
}

// Permit returns the bounds within which variants may move at a time, in their order;
// the least number of replicas of all variants together, with the reason if it is not
// 0; and the history with what was wanted.
func (n Native) Permit(h History, now time.Time, w *Workload) ([]Permission, Permission, History) {
	next := n.observe(h, now, w)
	permissions := make([]Permission, len(w.Variants))
	next.Variants = make([]VariantHistory, len(w.Variants))
	wanted, current := 0, 0
	for j := range w.Variants {
		v := &w.Variants[j]
		wanted, current = wanted+v.Wanted, current+v.Current
		past := n.record(h.variant(j, v.Name), now, w, v)
		next.Variants[j] = past
		permissions[j] = n.permit(&next, &past, now, w, v)
	}
	var total Permission
	if grace := n.ZeroGrace - now.Sub(next.Arrival); w.Known && wanted == 0 && current > 0 && grace > 0 {
		total = Permission{Min: 1, Reason: fmt.Sprintf("the last replica stays %s after the last request", n.ZeroGrace)}
	}
	return permissions, total, next
}

// observe returns the history with what the workload as a whole did.
func (n Native) observe(h History, now time.Time, w *Workload) History {
	now = now.UTC().Round(0)
	if h.Since.IsZero() {
		h.Since, h.Arrival = now, now
	}
	if !w.Known || !w.Complete || w.Arrivals {
		h.Arrival = now
	}
	if w.Known && w.Overload {
		h.Overload = now
	}
	return h
}

// variant finds a variant by its name, first where it is most likely to be.
func (h *History) variant(likely int, name string) VariantHistory {
	if likely < len(h.Variants) && h.Variants[likely].Name == name {
		return h.Variants[likely]
	}
	for i := range h.Variants {
		if h.Variants[i].Name == name {
			return h.Variants[i]
		}
	}
	return VariantHistory{Name: name, Replicas: -1}
}

// record returns the history of a variant with what is wanted of it. Where that is not
// known for sure it is no less than there is.
func (n Native) record(past VariantHistory, now time.Time, w *Workload, v *Variant) VariantHistory {
	wanted := v.Wanted
	switch {
	case !w.Known:
		wanted = v.Current
	case !w.Complete:
		wanted = max(wanted, v.Current)
	}
	past.Wanted = past.Wanted.Clone()
	past.Wanted.Add(now, wanted)
	past.Wanted.Forget(now.Add(-n.Window(w.Comeback)))
	if past.Replicas >= 0 && past.Replicas != v.Current {
		past.Changed = now.UTC().Round(0)
	}
	past.Replicas = v.Current
	return past
}

func (n Native) permit(h *History, past *VariantHistory, now time.Time, w *Workload, v *Variant) Permission {
	if !w.Known {
		return Stay(v.Current, DemandUnknown)
	}
	if v.Wanted >= v.Current {
		return Permission{Min: v.Current}
	}
	stay := func(format string, args ...any) Permission {
		return Permission{Min: v.Current, Reason: fmt.Sprintf(format, args...)}
	}
	window := n.Window(w.Comeback)
	switch {
	case !w.Complete:
		return stay(DemandIncomplete)
	case now.Sub(h.Since) < window:
		return stay("observed for %s only, of the window of %s", now.Sub(h.Since).Round(time.Second), window)
	case w.Backlog:
		return stay("requests wait that fewer replicas would serve too slowly")
	case !h.Overload.IsZero() && now.Sub(h.Overload) < n.drain(w):
		return stay("overloaded %s ago, within the window of %s", now.Sub(h.Overload).Round(time.Second), n.drain(w))
	case !past.Changed.IsZero() && now.Sub(past.Changed) < n.MinInterval:
		return stay("changed %s ago, less than the interval of %s", now.Sub(past.Changed).Round(time.Second), n.MinInterval)
	}
	if most, _ := past.Wanted.Since(now.Add(-window)); most > v.Wanted {
		least := min(v.Current, most)
		return Permission{Min: least, Reason: fmt.Sprintf("%d wanted within the last %s", most, window)}
	}
	return Permission{Min: v.Wanted}
}
