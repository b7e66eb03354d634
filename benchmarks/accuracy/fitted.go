package main

import (
	"fmt"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/calibration"
)

// sampleSet are measurements of one machine, to which one profile is fitted.
type sampleSet struct {
	name    string
	samples []calibration.Sample
	options calibration.Options
}

// fittedSet is a set with what its fit says of it.
type fittedSet struct {
	sampleSet
	groups   int
	estimate calibration.Estimate
}

// fewestSamples is the least number of measurements that say something about the
// form of an iteration: more than it has coefficients.
const fewestSamples = 9

// fitSets fits a profile to each set that is large enough, and predicts each group by
// a fit to the others.
func fitSets(sets []sampleSet) ([]fittedSet, error) {
	var fitted []fittedSet
	for _, s := range sets {
		if len(s.samples) < fewestSamples {
			continue
		}
		groups := map[string]bool{}
		for i := range s.samples {
			groups[s.samples[i].Group] = true
		}
		s.options.HeldOut = true
		fitted = append(fitted, fittedSet{sampleSet: s, groups: len(groups)})
	}
	errs := make([]error, len(fitted))
	parallel(len(fitted), func(i int) {
		f := &fitted[i]
		f.estimate, errs[i] = calibration.Fit(f.samples, f.options)
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fitted[i].name, err)
		}
	}
	return fitted, nil
}

// inSample and heldOut return the relative errors of the residuals that count.
func (f *fittedSet) inSample() deviations { return residualErrors(f.estimate.Residuals) }
func (f *fittedSet) heldOut() deviations  { return residualErrors(f.estimate.HeldOut.Residuals) }

func residualErrors(rs []calibration.Residual) deviations {
	var d deviations
	for _, r := range rs {
		if r.Counts {
			d = append(d, r.Error)
		}
	}
	return d
}

// fitTable lists sets with their errors.
func fitTable(title string, sets []fittedSet) table.Table {
	t := table.Table{
		Title: title + ", %",
		Columns: table.Columns("configuration", "samples", "groups", "in sample", "p90", "largest",
			"held out", "p90", "largest"),
	}
	for i := range sets {
		f := &sets[i]
		in, out := f.inSample(), f.heldOut()
		t.Add(f.name, count(len(f.samples)), count(f.groups),
			percent(in.quantile(0.5)), percent(in.quantile(0.9)), percent(in.quantile(1)),
			percent(out.quantile(0.5)), percent(out.quantile(0.9)), percent(out.quantile(1)))
	}
	return t
}

// profileTable lists the coefficients found, for the terminal.
func profileTable(sets []fittedSet) table.Table {
	t := table.Table{
		Title:   "Fitted profiles (µs, ε in ps)",
		Columns: table.Columns("configuration", "!α", "!β", "!κ", "!σ", "!γ", "!δ", "!ε", "!offset"),
	}
	for i := range sets {
		p := sets[i].estimate.Profile
		t.Add(sets[i].name, format(1e6*p.Alpha), format(1e6*p.Beta), format(1e6*p.Kappa), format(1e6*p.Sigma),
			format(1e6*p.Gamma), format(1e6*p.Delta), format(1e12*p.Epsilon), format(1e6*p.TTFTOffset))
	}
	return t
}

// collected groups samples by the name of their set, in the order of appearance.
type collected struct {
	sets  []sampleSet
	index map[string]int
}

func (c *collected) add(name string, s calibration.Sample, o calibration.Options) {
	if c.index == nil {
		c.index = map[string]int{}
	}
	i, ok := c.index[name]
	if !ok {
		i = len(c.sets)
		c.index[name] = i
		c.sets = append(c.sets, sampleSet{name: name, options: o})
	}
	c.sets[i].samples = append(c.sets[i].samples, s)
}
