package hpa

import "time"

// Condition is one thing that an autoscaler says about itself. The zero value is that
// it says nothing.
type Condition struct {
	Reason Reason
	// True is its status.
	True bool
}

// Decision is what an autoscaler does, and why.
type Decision struct {
	// Replicas is what to scale to; those that there are where nothing is to change.
	Replicas int32
	// Wanted is what metrics or a plan ask for, and Stabilized what is left of that once
	// recent recommendations were heard. Both are Replicas where none was asked.
	Wanted, Stabilized int32
	// AbleToScale says whether recent recommendations agree, ScalingActive whether
	// metrics do give a number, ScalingLimited which limit binds.
	AbleToScale, ScalingActive, ScalingLimited Condition
	// Proposals are those of the metrics, in their order; none where none was asked.
	Proposals []Proposal
	// Largest is the proposal that counts, of those without a problem.
	Largest Proposal
}

// Decide returns what to do, and what to remember. The configuration must be valid.
func Decide(c *Config, h History, in Input) (Decision, History) {
	d, h, decided := c.begin(h, in.Now, in.Replicas)
	switch {
	case decided:
		return d, h
	case in.Selector != 0:
		d.ScalingActive = Condition{in.Selector, false}
		return d.all(in.Replicas), h
	}
	d.Proposals = c.proposals(&in)
	asked := combine(d.Proposals, in.Replicas)
	if asked.hold {
		d.ScalingActive = Condition{asked.invalid.Metric.Source.failed(), false}
		return d.all(in.Replicas), h
	}
	d.ScalingActive = Condition{ValidMetricFound, true}
	d.Largest, d.Wanted = asked.by, asked.Replicas
	return c.normalize(d, h, in.Now, in.Replicas)
}

// Recommend returns the replicas that metrics ask for, within bounds and before anything
// holds them back, and by which metric; false where too little is known. [Permit] holds them
// back later.
func Recommend(c *Config, in Input) (replicas int32, by string, known bool) {
	d, _, decided := c.begin(History{}, in.Now, in.Replicas)
	if decided {
		return d.Replicas, "", d.Replicas != in.Replicas
	}
	asked := combine(c.proposals(&in), in.Replicas)
	return max(c.MinReplicas, min(asked.Replicas, c.MaxReplicas)), asked.by.Metric.Name, !asked.hold
}

// Permit is Decide for replicas that something else than metrics asks for: a plan.
func Permit(c *Config, h History, now time.Time, current, wanted int32) (Decision, History) {
	d, h, decided := c.begin(h, now, current)
	if decided {
		return d, h
	}
	d.Wanted = wanted
	return c.normalize(d, h, now, current)
}

// Reason returns why Replicas are not those wanted, [DesiredWithinRange] where they are.
func (d *Decision) Reason() Reason {
	switch {
	case d.ScalingLimited.True:
		return d.ScalingLimited.Reason
	case d.Stabilized != d.Wanted:
		return d.AbleToScale.Reason
	}
	return DesiredWithinRange
}

// begin decides what needs no metric.
func (c *Config) begin(h History, now time.Time, current int32) (Decision, History, bool) {
	if len(h.Recommendations) == 0 {
		h.Recommendations = []Recommendation{{At: instant(now), Replicas: current}}
	}
	d := Decision{AbleToScale: Condition{SucceededGetScale, true}}
	switch {
	case current == 0 && c.MinReplicas != 0:
		d.ScalingActive = Condition{ScalingDisabled, false}
		return d.all(current), h, true
	case current > c.MaxReplicas:
		return d.all(c.MaxReplicas), h, true
	case current < c.MinReplicas:
		return d.all(c.MinReplicas), h, true
	}
	return d, h, false
}

func (d Decision) all(replicas int32) Decision {
	d.Wanted, d.Stabilized, d.Replicas = replicas, replicas, replicas
	return d
}

// proposals asks every metric.
func (c *Config) proposals(in *Input) []Proposal {
	out := make([]Proposal, len(c.Metrics))
	for i, m := range c.Metrics {
		reading := Reading{Problem: noReading}
		if i < len(in.Readings) {
			reading = in.Readings[i]
		}
		out[i] = c.propose(m, reading, in)
	}
	return out
}

// normalize makes of what metrics ask for what is permitted.
func (c *Config) normalize(d Decision, h History, now time.Time, current int32) (Decision, History) {
	var out limited
	reason := ScaleDownStabilized
	if b := c.Behavior; b == nil {
		d.Stabilized, h.Recommendations = stabilizeDown(h.Recommendations, now, d.Wanted, c.DownscaleStabilization)
		out = c.withoutBehavior(current, d.Stabilized)
	} else {
		d.Stabilized, h.Recommendations = stabilize(h.Recommendations, now, current, d.Wanted,
			b.ScaleUp.StabilizationWindow, b.ScaleDown.StabilizationWindow)
		out = c.withBehavior(&h, now, current, d.Stabilized)
		reason = held(current, d.Wanted)
	}
	d.AbleToScale = Condition{ReadyForNewScale, true}
	if d.Stabilized != d.Wanted {
		d.AbleToScale = Condition{reason, true}
	}
	d.Replicas = out.replicas
	d.ScalingLimited = Condition{out.reason, out.replicas != d.Stabilized}
	return d, h
}

// held returns the reason for which recommendations of both windows hold back what is
// wanted.
func held(current, wanted int32) Reason {
	if wanted >= current {
		return ScaleUpStabilized
	}
	return ScaleDownStabilized
}
