package planner

import (
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// adoptedChange is the relative change of a coefficient from which on an estimate
// takes the place of the profile in use: less changes no plan worth changing.
const adoptedChange = 0.05

// calibrate is the stage that follows profiles with what replicas were seen to do. A
// profile that was not observed stays as it was last, also while its variant is missing.
func calibrate(c *cycle) error {
	if !c.loop() {
		return nil
	}
	for i := range c.fleet.Workloads {
		c.resumeMissing(i)
		w := &c.fleet.Workloads[i]
		observed := c.observations[w.QualifiedName()]
		var variants []Variant
		for j := range w.Variants {
			v := &w.Variants[j]
			if v.Role != optimizer.Whole || v.Replica == nil || v.Replica.Model != queueing.ContinuousBatching {
				continue
			}
			profile := c.calibrateVariant(i, j, observed.variant(v.Name))
			if profile == nil {
				continue
			}
			if variants == nil {
				variants = append(variants, w.Variants...)
			}
			replica := *v.Replica
			replica.Profile = *profile
			variants[j].Replica = &replica
		}
		if variants != nil {
			w.Variants = variants
		}
	}
	return nil
}

// variant is what was seen of a variant, or nil.
func (o *Observation) variant(name string) *calibration.Observation {
	if o == nil {
		return nil
	}
	for i := range o.Variants {
		if o.Variants[i].Variant == name && o.Variants[i].Replica.Window > 0 {
			return &o.Variants[i].Replica
		}
	}
	return nil
}

// calibrateVariant returns the profile to plan with, nil for the declared one.
func (c *cycle) calibrateVariant(i, j int, o *calibration.Observation) *queueing.Profile {
	w := &c.fleet.Workloads[i]
	v := &w.Variants[j]
	next := VariantMemory{Name: v.Name}
	if last := c.next[i].variant(j, v.Name); last != nil {
		next = *last
	}
	if next.Declared != v.Replica.Profile {
		next.Declared, next.Filter, next.Profile = v.Replica.Profile, nil, nil
	}
	if o == nil {
		return next.Profile
	}
	filter, ok := resume(*v.Replica, next.Filter)
	if !ok {
		return nil
	}
	filter, report := filter.Observe(*o)
	state := filter.State()
	next.Filter = &state
	c.reportProfile(i, j, &next, &report)
	c.next[i].replace(next)
	return next.Profile
}

// resume returns the filter where it was, or a new one where nothing is remembered of
// this replica.
func resume(replica queueing.Replica, state *calibration.FilterState) (calibration.Filter, bool) {
	if state != nil {
		if f, err := calibration.ResumeFilter(replica, calibration.FilterConfig{}, *state); err == nil {
			return f, true
		}
	}
	f, err := calibration.NewFilter(replica, calibration.FilterConfig{})
	return f, err == nil
}

// reportProfile takes over an estimate that has moved, and says what became of what
// was observed.
func (c *cycle) reportProfile(i, j int, next *VariantMemory, r *calibration.Report) {
	w := &c.fleet.Workloads[i]
	c.decision.Calibrations = append(c.decision.Calibrations, Calibration{
		Workload: w.QualifiedName(), Variant: w.Variants[j].Name, ITL: r.ITL, TTFT: r.TTFT,
	})
	subject := w.QualifiedName() + "/" + w.Variants[j].Name
	used := next.Declared
	if next.Profile != nil {
		used = *next.Profile
	}
	learnt := learns(r.ITL.Verdict) || learns(r.TTFT.Verdict)
	switch change := calibration.Distance(used, r.Profile); {
	case learnt && change >= adoptedChange:
		profile := r.Profile
		next.Profile = &profile
		c.step(subject, "", fmt.Sprintf("profile moved by %.0f %%", 100*change), "replicas were seen to be otherwise than predicted")
	case !learnt:
		c.step(subject, "", "profile kept", fmt.Sprintf("observed ITL is %s, TTFT %s", r.ITL.Verdict, r.TTFT.Verdict))
	}
	for _, l := range []struct {
		name   string
		report *calibration.LatencyReport
	}{{"ITL", &r.ITL}, {"TTFT", &r.TTFT}} {
		if drift := l.report.Drift; drift.Alarm {
			way := "shorter"
			if drift.Longer {
				way = "longer"
			}
			c.condition(i, ProfileDoubtful, fmt.Sprintf("%s of %s has been %s than its profile explains for %s",
				l.name, w.Variants[j].Name, way, seconds(drift.Since)))
		}
	}
}

func learns(v calibration.Verdict) bool { return v == calibration.Used || v == calibration.Changed }

// replace puts in what is remembered of a variant.
func (m *WorkloadMemory) replace(v VariantMemory) {
	variants := slices.Clone(m.Variants)
	if k := slices.IndexFunc(variants, func(old VariantMemory) bool { return old.Name == v.Name }); k >= 0 {
		variants[k] = v
	} else {
		variants = append(variants, v)
	}
	m.Variants = variants
}
