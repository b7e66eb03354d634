package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Targets.
const (
	// objective is the share of requests of each class that are to be within the SLO, at
	// most at dayCost times the clairvoyant's cost, or at shortCost on short traces.
	objective          = 0.99
	dayCost, shortCost = 1.10, 1.20
	// besideReactive is how much less may be attained than by an autoscaler that reacts at once.
	besideReactive = 0.01
	// longest is how long all of it may take.
	longest = time.Hour
)

// target is something measured that should be on one side of a bound.
type target struct {
	name, measured, bound string
	met                   bool
}

func atLeast(name string, x, bound float64) target {
	return target{name, percent(x), "≥ " + percent(bound), x >= bound}
}

func atMost(name string, x, bound float64) target {
	return target{name, ratio(x), "≤ " + ratio(bound), x <= bound}
}

// targets judges everything.
func (p *page) targets() []target {
	var all []target
	for _, d := range p.days {
		ours := d.ours()
		all = append(all,
			atLeast(d.name+": within the SLO, the class with the least", ours.attainment(), objective),
			atMost(d.name+": cost, of the clairvoyant's", ours.cost()/d.clairvoyant().cost(), dayCost),
		)
		if others := d.others(); len(others) > 1 {
			all = append(all, d.nobodyCheaper(others))
		}
	}
	for _, t := range p.transients {
		all = append(all, t.targets()...)
	}
	if p.options.full() && len(p.days)+len(p.transients) > 1 {
		all = append(all, target{"time of all", p.took.Round(time.Minute).String(), "≤ " + longest.String(), p.took <= longest})
	}
	return all
}

// nobodyCheaper judges the others that reach what ours attains.
func (d *day) nobodyCheaper(others []kind) target {
	var cheaper []string
	for i := range others {
		o := others[i].cheapest(func(o *outcome) bool { return o.reaches(d.ours()) })
		if o != nil && o.cost() < d.ours().cost() {
			cheaper = append(cheaper, fmt.Sprintf("%s at %s", o.name, ratio(o.cost())))
		}
	}
	return target{
		name:     d.name + ": others that reach what Poolwright attains, cheaper",
		measured: cmp.Or(strings.Join(cheaper, ", "), "none"), bound: "none", met: len(cheaper) == 0,
	}
}

// targets judges short starts only: what a long one costs is shown.
func (t *transient) targets() []target {
	if t.startup > time.Minute {
		return nil
	}
	name := fmt.Sprintf("%s, start-up %s: ", t.name, t.startup)
	cost := atMost(name+"device-seconds, of the bound's", t.oursDeviceSeconds/t.bound, shortCost)
	if t.step == 0 {
		return []target{atLeast(name+"within the SLO", t.ours.Attainment.Mean, objective), cost}
	}
	return []target{
		atLeast(name+"within the SLO, beside reacting at once", t.ours.Attainment.Mean, t.reactive.Attainment.Mean-besideReactive),
		cost,
		atLeast(name+"within the SLO outside the time from the step to the end of start-up and drain", t.outside, objective),
	}
}

func (p *page) missed() bool {
	for _, t := range p.targets() {
		if !t.met {
			return true
		}
	}
	return false
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

func ratio(x float64) string { return fmt.Sprintf("%.3f", x) }
