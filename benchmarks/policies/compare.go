package main

import (
	"context"
	"math"
	"time"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/whatif"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/autoscaler"
)

// day is a scenario under all autoscalers.
type day struct {
	name   string
	result *poolwrightv1.SimulationResult
	// kinds are the autoscalers, Poolwright first, the clairvoyant last.
	kinds []kind
	// bands are Poolwright with other headroom.
	bands []band
	took  time.Duration
}

// kind is an autoscaler in its settings.
type kind struct {
	name string
	// grid is the settings to run, and settings what became of them with all seeds; tried is
	// what became of the whole grid with the first.
	grid            []autoscaler.Settings
	settings, tried []outcome
}

// outcome is what became of a scenario under one autoscaler in one setting.
type outcome struct {
	name   string
	result *poolwrightv1.AutoscalerResult
}

// compare runs a simulation under Poolwright, the clairvoyant and, if asked for, all others.
// Where these have several settings the first seed says which of them all seeds are run
// with: those that may be the best.
func compare(ctx context.Context, m *poolwrightv1.Simulation, open message.Opener, grid bool) (*day, error) {
	began := time.Now()
	d := &day{}
	for _, k := range contenders(grid) {
		d.kinds = append(d.kinds, kind{name: kindName(k), grid: k.Grid()})
	}
	seeds := m.GetSeeds()
	if grid {
		m.Seeds = seeds[:1]
		if err := d.run(ctx, m, open); err != nil {
			return nil, err
		}
		for i := range d.kinds {
			k := &d.kinds[i]
			k.tried = k.settings
			k.grid = k.candidates(d.ours())
		}
	}
	m.Seeds = seeds
	if err := d.run(ctx, m, open); err != nil {
		return nil, err
	}
	d.took = time.Since(began)
	return d, nil
}

// run simulates all settings of all kinds.
func (d *day) run(ctx context.Context, m *poolwrightv1.Simulation, open message.Opener) error {
	m.Autoscalers = nil
	of := map[string]int{}
	for i := range d.kinds {
		d.kinds[i].settings = nil
		for _, s := range d.kinds[i].grid {
			if _, ok := of[s.Name()]; ok {
				continue // the grids of two kinds share it
			}
			of[s.Name()] = i
			a := message.OfAutoscaler(s)
			a.Name = s.Name()
			m.Autoscalers = append(m.Autoscalers, a)
		}
	}
	var err error
	if d.result, err = whatif.Run(ctx, m, whatif.Config{Open: open}); err != nil {
		return err
	}
	for _, a := range d.result.GetAutoscalers() {
		k := &d.kinds[of[a.GetName()]]
		k.settings = append(k.settings, outcome{a.GetName(), a})
	}
	return nil
}

// contenders are the autoscalers to compare, in their defaults.
func contenders(grid bool) []autoscaler.Settings {
	if grid {
		return autoscaler.Kinds()
	}
	return []autoscaler.Settings{autoscaler.Poolwright{}, autoscaler.Static{}, autoscaler.Clairvoyant{}}
}

// kindName is the name of a kind without a setting.
func kindName(s autoscaler.Settings) string {
	switch s := s.(type) {
	case autoscaler.HPA:
		return "hpa " + s.Metric.String()
	case autoscaler.KPA:
		return "kpa"
	case autoscaler.Kthena:
		return "kthena"
	case autoscaler.KthenaHeterogeneous:
		return "kthena heterogeneous"
	case autoscaler.Saturation:
		return "llm-d saturation"
	case autoscaler.Inferno:
		return "inferno greedy"
	default:
		return s.Name()
	}
}

// attainment is that of the class that has the least.
func (o *outcome) attainment() float64 {
	least := math.Inf(1)
	for _, c := range o.result.GetClasses() {
		least = min(least, c.GetAttainment().GetMean())
	}
	return least
}

// reaches tells whether every class is at least as well off as under another.
func (o *outcome) reaches(other *outcome) bool {
	for i, c := range o.result.GetClasses() {
		if c.GetAttainment().GetMean() < other.result.GetClasses()[i].GetAttainment().GetMean() {
			return false
		}
	}
	return true
}

// meets tells whether a share of the requests of every class is within the SLO.
func (o *outcome) meets(share float64) bool { return o.attainment() >= share }

// cost is that of hindsight's bound.
func (o *outcome) cost() float64 { return 1 + o.result.GetRegret().GetMean() }

// cheapest is the cheapest setting that fulfils a condition; nil where none does.
func (k *kind) cheapest(fulfils func(*outcome) bool) *outcome {
	var best *outcome
	for i := range k.settings {
		if o := &k.settings[i]; fulfils(o) && (best == nil || o.cost() < best.cost()) {
			best = o
		}
	}
	return best
}

// candidates are the settings that may be the best with all seeds: by the first seed, the one
// that a kind would be judged by, the cheapest that meets the objective and the one that
// attains most.
func (k *kind) candidates(other *outcome) []autoscaler.Settings {
	names := map[string]bool{k.best(other).name: true, k.highest().name: true}
	if o := k.cheapest(func(o *outcome) bool { return o.meets(objective) }); o != nil {
		names[o.name] = true
	}
	var all []autoscaler.Settings
	for _, s := range k.grid {
		if names[s.Name()] {
			all = append(all, s)
		}
	}
	return all
}

// highest is the setting that attains most, the cheapest of equals.
func (k *kind) highest() *outcome {
	best := &k.settings[0]
	for i := range k.settings {
		o := &k.settings[i]
		if a, b := o.attainment(), best.attainment(); a > b || a == b && o.cost() < best.cost() {
			best = o
		}
	}
	return best
}

// best is the setting that a kind is judged by: the cheapest that reaches what another
// attains; else the cheapest that meets the objective; else the one that attains most.
func (k *kind) best(other *outcome) *outcome {
	if o := k.cheapest(func(o *outcome) bool { return o.reaches(other) }); o != nil {
		return o
	}
	if o := k.cheapest(func(o *outcome) bool { return o.meets(objective) }); o != nil {
		return o
	}
	return k.highest()
}

// ours is Poolwright, and clairvoyant who knows the future.
func (d *day) ours() *outcome        { return &d.kinds[0].settings[0] }
func (d *day) clairvoyant() *outcome { return &d.kinds[len(d.kinds)-1].settings[0] }

// others are those that must not be better.
func (d *day) others() []kind { return d.kinds[1 : len(d.kinds)-1] }
