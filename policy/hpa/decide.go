package hpa

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
	// Wanted is what metrics ask for, and Stabilized what is left of that once recent
	// recommendations were heard. Both are Replicas where no metric was asked.
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
	current := in.Replicas
	if len(h.Recommendations) == 0 {
		h.Recommendations = []Recommendation{{At: instant(in.Now), Replicas: current}}
	}
	d := Decision{AbleToScale: Condition{SucceededGetScale, true}}
	switch {
	case current == 0 && c.MinReplicas != 0:
		d.ScalingActive = Condition{ScalingDisabled, false}
		return d.all(current), h
	case current > c.MaxReplicas:
		return d.all(c.MaxReplicas), h
	case current < c.MinReplicas:
		return d.all(c.MinReplicas), h
	case in.Selector != 0:
		d.ScalingActive = Condition{in.Selector, false}
		return d.all(current), h
	}
	d.Proposals = c.proposals(&in)
	asked := combine(d.Proposals, current)
	if asked.hold {
		d.ScalingActive = Condition{asked.invalid.Metric.Source.failed(), false}
		return d.all(current), h
	}
	d.ScalingActive = Condition{ValidMetricFound, true}
	d.Largest, d.Wanted = asked.by, asked.Replicas
	return c.normalize(d, h, &in)
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
func (c *Config) normalize(d Decision, h History, in *Input) (Decision, History) {
	var out limited
	reason := ScaleDownStabilized
	if b := c.Behavior; b == nil {
		d.Stabilized, h.Recommendations = stabilizeDown(h.Recommendations, in.Now, d.Wanted, c.DownscaleStabilization)
		out = c.withoutBehavior(in.Replicas, d.Stabilized)
	} else {
		d.Stabilized, h.Recommendations = stabilize(h.Recommendations, in.Now, in.Replicas, d.Wanted,
			b.ScaleUp.StabilizationWindow, b.ScaleDown.StabilizationWindow)
		out = c.withBehavior(&h, in.Now, in.Replicas, d.Stabilized)
		reason = held(in.Replicas, d.Wanted)
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
