package kthena

import (
	"time"

	"github.com/poolwright/poolwright/policy"
)

// Decision is what the autoscaler does, and why.
type Decision struct {
	// Replicas is what to scale to; those that there are where nothing is to change.
	Replicas int
	// Recommended is what metrics or a plan ask for, within bounds.
	Recommended int
	// Skipped is that too little is known to decide; nothing was remembered then.
	Skipped bool
	// Panicking is that a panic goes on.
	Panicking bool
	// Steps lead from the replicas that there are to Replicas: the recommendation and
	// what has changed it.
	Steps []Step
}

// Step is one thing that made a number of replicas another.
type Step = policy.Step[Reason]

// Reason returns that of the last step, which is why Replicas are what they are.
func (d *Decision) Reason() Reason { return d.Steps[len(d.Steps)-1].Reason }

// then appends a step, unless it changed nothing.
func (d *Decision) then(reason Reason, after int) {
	d.Steps = policy.Then(d.Steps, reason, d.Replicas, after)
	d.Replicas = after
}

// Decide returns what to do, and what to remember. The configuration must be valid.
func Decide(c *Config, h History, in Input) (Decision, History) {
	asked := c.recommendAll(&in)
	if asked.skip {
		return Decision{Skipped: true}.after(in.Replicas, asked), h
	}
	return c.follow(h, in.Now, in.Replicas, asked)
}

// Recommend returns the replicas that metrics ask for, within bounds and before anything
// corrects them, and why; false where too little is known. [Permit] corrects them later.
func Recommend(c *Config, in Input) (replicas int, why Reason, known bool) {
	asked := c.recommendAll(&in)
	return asked.replicas, asked.reason, !asked.skip
}

// Permit is Decide for replicas that something else than metrics asks for: a plan.
func Permit(c *Config, h History, now time.Time, current, wanted int) (Decision, History) {
	asked, outside := c.outside(current)
	if !outside {
		asked = recommendation{replicas: c.clamp(wanted), reason: PlanAsked}
	}
	return c.follow(h, now, current, asked)
}

// after begins with a recommendation.
func (d Decision) after(current int, asked recommendation) Decision {
	d.Replicas, d.Recommended = asked.replicas, asked.replicas
	d.Steps = []Step{{Reason: asked.reason, Before: current, After: asked.replicas}}
	return d
}

// follow corrects a recommendation, and remembers both.
func (c *Config) follow(h History, now time.Time, current int, asked recommendation) (Decision, History) {
	h = h.clone()
	d := Decision{Panicking: h.panics(c.Panic, now, current, asked.replicas)}.after(current, asked)
	for _, step := range c.correct(&h, now, current, d.Recommended, d.Panicking) {
		d.then(step.reason, step.replicas)
	}
	d.then(WithinBounds, c.clamp(d.Replicas))
	h.record(c, now, d.Recommended, d.Replicas)
	return d, h
}
