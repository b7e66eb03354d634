package kthena

import "fmt"

// Decision is what the autoscaler does, and why.
type Decision struct {
	// Replicas is what to scale to; those that there are where nothing is to change.
	Replicas int
	// Recommended is what metrics ask for, within bounds.
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
type Step struct {
	Reason        Reason
	Before, After int
}

// String says in words what happened.
func (s Step) String() string {
	return fmt.Sprintf("%d → %d: %s", s.Before, s.After, s.Reason.Text())
}

// then appends a step, unless it changed nothing.
func (d *Decision) then(reason Reason, after int) {
	if after != d.Replicas {
		d.Steps = append(d.Steps, Step{Reason: reason, Before: d.Replicas, After: after})
	}
	d.Replicas = after
}

// Decide returns what to do, and what to remember. The configuration must be valid.
func Decide(c *Config, h History, in Input) (Decision, History) {
	current := in.Replicas
	asked := c.recommendAll(&in)
	d := Decision{
		Replicas: asked.replicas, Recommended: asked.replicas, Skipped: asked.skip,
		Steps: []Step{{Reason: asked.reason, Before: current, After: asked.replicas}},
	}
	if asked.skip {
		return d, h
	}
	h = h.clone()
	d.Panicking = h.panics(c.Panic, in.Now, current, d.Recommended)
	for _, step := range c.correct(&h, in.Now, current, d.Recommended, d.Panicking) {
		d.then(step.reason, step.replicas)
	}
	d.then(WithinBounds, c.clamp(d.Replicas))
	h.record(c, in.Now, d.Recommended, d.Replicas)
	return d, h
}
