package knative

import (
	"math"
	"time"

	"github.com/poolwright/poolwright/policy"
)

// Decision is what the autoscaler does, and why.
type Decision struct {
	// Replicas is what to scale to.
	Replicas int
	// Known is that there is load to decide by; else replicas stay.
	Known bool
	// StableLoad and PanicLoad are the means of the windows.
	StableLoad, PanicLoad float64
	// Panicking is that a panic goes on.
	Panicking bool
	// Steps lead from the ready replicas to Replicas.
	Steps []Step
}

// Step is one thing that made a number of replicas another.
type Step = policy.Step[Reason]

// Reason says why a number of replicas is what it is.
type Reason int

const (
	_ Reason = iota
	// NoLoad is that no load is known; replicas stay.
	NoLoad
	// StableAsked is that the stable window asks for it.
	StableAsked
	// PanicAsked is that the panic window asks for more.
	PanicAsked
	// PanicKept is that a panic never shrinks.
	PanicKept
	// ScaleUpLimited is that replicas may not grow further at once.
	ScaleUpLimited
	// ScaleDownLimited is that replicas may not shrink further at once.
	ScaleDownLimited
	// WithinBounds is that the minimum or the maximum binds.
	WithinBounds
)

var reasons = policy.Words{
	NoLoad:           {"NoLoad", "no load is known: replicas stay as they are"},
	StableAsked:      {"StableAsked", "it is what the mean of the stable window asks for"},
	PanicAsked:       {"PanicAsked", "the mean of the panic window asks for more"},
	PanicKept:        {"PanicKept", "a panic never shrinks"},
	ScaleUpLimited:   {"ScaleUpLimited", "replicas may not grow further at once"},
	ScaleDownLimited: {"ScaleDownLimited", "replicas may not shrink further at once"},
	WithinBounds:     {"WithinBounds", "the minimum or the maximum binds"},
}

// String returns the reason's name.
func (r Reason) String() string { return reasons.Name(int(r)) }

// Text says in words what the reason means.
func (r Reason) Text() string { return reasons.Text(int(r)) }

// Reason returns that of the last step, which is why Replicas are what they are.
func (d *Decision) Reason() Reason { return d.Steps[len(d.Steps)-1].Reason }

// then appends a step, unless it changed nothing.
func (d *Decision) then(reason Reason, after int) {
	d.Steps = policy.Then(d.Steps, reason, d.Replicas, after)
	d.Replicas = after
}

// Decide returns what to do with so many ready replicas, and what to remember. It
// leaves the windows as they are. The configuration must be valid.
func Decide(c *Config, h History, now time.Time, ready int) (Decision, History) {
	h.start(now, ready)
	d := Decision{Replicas: ready}
	if d.StableLoad, d.Known = h.Stable.average(now.Unix()); !d.Known {
		d.Steps = []Step{{Reason: NoLoad, Before: ready, After: ready}}
		return d, h
	}
	d.PanicLoad, _ = h.Panic.average(now.Unix())
	base := float64(max(1, ready))
	stable, alarm := math.Ceil(d.StableLoad/c.Target), math.Ceil(d.PanicLoad/c.Target)

	d.Panicking = h.panics(c, now, alarm/base)
	d.Replicas = count(stable)
	d.Steps = []Step{{Reason: StableAsked, Before: ready, After: d.Replicas}}
	if d.Panicking {
		d.then(PanicAsked, count(max(stable, alarm)))
	}
	d.then(ScaleUpLimited, min(d.Replicas, count(math.Ceil(c.MaxScaleUpRate*base))))
	d.then(ScaleDownLimited, max(d.Replicas, count(math.Floor(base/c.MaxScaleDownRate))))
	if d.Panicking {
		h.Most = max(h.Most, d.Replicas)
		d.then(PanicKept, h.Most)
	}
	d.then(WithinBounds, c.clamp(d.Replicas))
	return d, h
}

// Permit is Decide for replicas that a plan asks for: it takes them for the load of every
// second since the last plan, in units of the target.
func Permit(c *Config, h History, now time.Time, ready, wanted int) (Decision, History) {
	h = h.Clone()
	from := now.Unix()
	if h.Stable.started() {
		from = max(h.Stable.Last+1, from-int64(c.stableSeconds())+1)
	}
	for at := from; at <= now.Unix(); at++ {
		h.record(c, at, float64(wanted)*c.Target)
	}
	return Decide(c, h, now, ready)
}

func (c *Config) clamp(replicas int) int {
	if c.MaxReplicas > 0 {
		replicas = min(replicas, c.MaxReplicas)
	}
	return max(replicas, c.MinReplicas)
}

// count returns a whole number as near as 32 bits come to it.
func count(x float64) int { return int(min(x, math.MaxInt32)) }

// start begins with a panic where there are several replicas: until windows have filled
// they know too little to shrink.
func (h *History) start(now time.Time, ready int) {
	if h.Decided {
		return
	}
	h.Decided = true
	if ready > 1 {
		h.Panicking, h.Excess, h.Most = true, instant(now), ready
	}
}

// instant is a time that is equal to itself written down and read back.
func instant(t time.Time) time.Time { return t.Round(0).UTC() }

// panics tells whether a panic goes on, given how many times the ready replicas the panic
// window asks for.
func (h *History) panics(c *Config, now time.Time, excess float64) bool {
	switch {
	case excess >= c.PanicThresholdPercent/100:
		h.Panicking, h.Excess = true, instant(now)
	case h.Panicking && h.Excess.Add(c.StableWindow).Before(now):
		h.Panicking, h.Most, h.Excess = false, 0, time.Time{}
	}
	return h.Panicking
}
