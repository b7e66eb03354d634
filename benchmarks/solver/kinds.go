package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// setting is a kind of problem without its size. With members the workloads are spread over namespaces of so many, each with
// a quota in every pool.
type setting struct {
	name string
	instance.Params
	members int
}

// settings lists the kinds on five accelerators.
func settings() []setting {
	var all []setting
	for _, kind := range instance.Kinds() {
		all = append(all, ofKind(kind))
		if kind == instance.Short {
			all = append(all, byPriority())
		}
	}
	quotas := ofKind(instance.Tight)
	quotas.name, quotas.members = quotas.name+", with quotas", 10
	zones := ofKind(instance.Tight)
	zones.name, zones.Zones = zones.name+", in zones", 3
	return append(all, quotas, zones)
}

func ofKind(kind instance.Kind) setting {
	return setting{name: kind.String(), Params: instance.Params{Kind: kind, Pools: 5}}
}

func byPriority() setting {
	s := ofKind(instance.Short)
	s.name, s.Lexicographic = s.name+", by priority", true
	return s
}

func largeShort() setting {
	return setting{name: "short, 20 % single-type", Params: instance.Params{Kind: instance.Short, Pools: 8, SingleShare: 0.2}}
}

// draw draws a problem of a size.
func (s setting) draw(workloads int, seed uint64) *optimizer.Problem {
	p := s.Params
	p.Workloads, p.Seed = workloads, seed
	if s.members > 0 {
		p.Namespaces = workloads / s.members
	}
	return instance.Generate(p)
}

// cell is what a setting of one size took.
type cell struct {
	setting
	workloads int
	times     []float64 // milliseconds
	proofs    []float64 // the same, +Inf where it did not come to a proof
	gap       float64   // the largest
}

func (c *cell) median() float64 { return quantile(c.times, 0.5) }
func (c *cell) p95() float64    { return quantile(c.times, 0.95) }

// proven is the number of problems that were.
func (c *cell) proven() (n int) {
	for _, ms := range c.proofs {
		if !math.IsInf(ms, 1) {
			n++
		}
	}
	return n
}

func measureCell(s setting, workloads int, solver optimizer.Options, o options) (*cell, error) {
	c := &cell{setting: s, workloads: workloads}
	for seed := range o.instances {
		if err := c.measure(s.draw(workloads, seed), solver, o); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// measure adds what one problem took.
func (c *cell) measure(problem *optimizer.Problem, solver optimizer.Options, o options) error {
	o.pace.sample()
	m, err := solve(problem, solver, o.limit)
	if err != nil {
		return err
	}
	took, proof := milliseconds(m.cpu), math.Inf(1)
	if m.Proof == optimizer.Optimal {
		proof = took
	}
	c.times, c.proofs = append(c.times, took), append(c.proofs, proof)
	c.gap = max(c.gap, m.Gap)
	return nil
}

func cellTable(title string) table.Table {
	return table.Table{Title: title, Columns: table.Columns("kind", "workloads", "pools", "proven", "median ms", "p95 ms", "largest ms", "largest gap %")}
}

func (c *cell) addTo(t *table.Table) {
	t.Add(c.name, fmt.Sprint(c.workloads), fmt.Sprint(c.Pools*max(1, c.Zones)), fmt.Sprintf("%d of %d", c.proven(), len(c.times)),
		format(c.median()), format(c.p95()), format(slices.Max(c.times)), format(100*c.gap))
}

func format(x float64) string { return fmt.Sprintf("%.3g", x) }

// sizes are the numbers of workloads that are measured.
func sizes(largest int) []int {
	return slices.DeleteFunc([]int{20, 100, 1000, 10_000}, func(n int) bool { return n > largest })
}

// kindsSection measures every kind at every size.
func kindsSection(_ context.Context, o options) (*section, error) {
	var cells []*cell
	for _, workloads := range sizes(o.largest) {
		all := settings()
		if workloads == 10_000 {
			all = append(all, largeShort())
		}
		for _, s := range all {
			c, err := measureCell(s, workloads, optimizer.Options{RelativeGap: relativeGap}, o)
			if err != nil {
				return nil, err
			}
			cells = append(cells, c)
		}
	}
	t := cellTable("Processor time to a gap of 0.1 %")
	for _, c := range cells {
		c.addTo(&t)
	}
	targets, growth := growthOf(cells)
	return &section{
		title:   "Kinds and sizes",
		about:   growthAbout,
		tables:  []table.Table{t, growth},
		figures: []figure{growthFigure(cells)},
		summary: true,
		targets: append(kindTargets(cells), targets...),
	}, nil
}

// find returns the cells of a size, of the kinds named.
func find(cells []*cell, workloads int, names ...string) []*cell {
	var found []*cell
	for _, c := range cells {
		if c.workloads == workloads && slices.Contains(names, c.name) {
			found = append(found, c)
		}
	}
	return found
}

// kindTargets are those of the sizes that were measured.
func kindTargets(cells []*cell) []target {
	tight := []string{instance.Tight.String()}
	var plain, all []string
	for _, kind := range instance.Kinds() {
		plain = append(plain, kind.String())
	}
	for _, s := range settings() {
		all = append(all, s.name)
	}
	targets := []target{{name: "problems of all kinds and sizes proven to 0.1 %", measured: 100 * provenShare(cells), bound: 100, atLeast: true, unit: " %"}}
	for _, t := range []struct {
		name      string
		kinds     []string
		workloads int
		figure    func(*cell) float64
		bound     float64
	}{
		{"20 workloads, slowest kind without priorities, quotas and zones, median", plain, 20, (*cell).median, 2},
		{"20 workloads, slowest kind, median", all, 20, (*cell).median, 2},
		{"1,000 × 5 tight, median", tight, 1000, (*cell).median, 25},
		{"1,000 × 5 tight, p95", tight, 1000, (*cell).p95, 100},
		{"1,000 × 5, slowest kind, median", all, 1000, (*cell).median, 500},
		{"10,000 × 5 tight, median", tight, 10_000, (*cell).median, 250},
		{"10,000 × 8 short with 20 % single-type, p95", []string{largeShort().name}, 10_000, (*cell).p95, 2000},
	} {
		worst := 0.0
		found := find(cells, t.workloads, t.kinds...)
		for _, c := range found {
			worst = max(worst, t.figure(c))
		}
		if len(found) > 0 {
			targets = append(targets, target{name: t.name, measured: worst, bound: t.bound, unit: " ms"})
		}
	}
	return targets
}

func provenShare(cells []*cell) float64 {
	proven, all := 0, 0
	for _, c := range cells {
		proven, all = proven+c.proven(), all+len(c.times)
	}
	return float64(proven) / float64(all)
}
