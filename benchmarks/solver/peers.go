package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/benchmarks/solver/internal/peer"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// duel is a problem solved by both sides.
type duel struct {
	setting
	workloads int
	ours      measured
	theirs    peer.Answer
	// asLong is ours in as much time as theirs took, whatever the gap.
	asLong measured
}

func fight(ctx context.Context, s setting, workloads int, seed uint64, against peer.Solver, o options) (*duel, error) {
	problem := s.draw(workloads, seed)
	d := &duel{setting: s, workloads: workloads}
	var err error
	if d.ours, err = solve(problem, optimizer.Options{RelativeGap: relativeGap}, o.limit); err != nil {
		return nil, err
	}
	if d.theirs, err = against.Solve(ctx, problem, relativeGap, o.peerLimit); err != nil {
		return nil, err
	}
	d.asLong = d.ours
	if d.ours.cpu > d.theirs.CPU || d.worse(d.ours) > 0 {
		d.asLong, err = solve(problem, optimizer.Options{}, d.theirs.CPU)
	}
	return d, err
}

// ratio is their processor time over ours.
func (d *duel) ratio() float64 { return float64(d.theirs.CPU) / float64(d.ours.cpu) }

// found says whether the other solver has a plan.
func (d *duel) found() bool { return d.theirs.Status <= peer.Feasible }

// settledAlike says whether both leave the same demand without penalty unserved,
// without which costs can't be compared.
func (d *duel) settledAlike(ours measured) bool {
	for _, level := range d.theirs.Levels {
		unmet := 0.0
		for _, l := range ours.Levels {
			if l.Priority == level.Priority {
				unmet = l.Unmet
			}
		}
		if math.Abs(unmet-level.Unmet) > 1e-6*math.Max(1, unmet) {
			return false
		}
	}
	return len(d.theirs.Levels) > 0 || len(ours.Levels) == 0
}

// worse is our objective over theirs − 1, 0 where ours is no worse or can't be
// compared.
func (d *duel) worse(ours measured) float64 {
	if !d.found() || !d.settledAlike(ours) {
		return 0
	}
	if excess := ours.Objective/d.theirs.Objective - 1; excess > 1e-9 {
		return excess
	}
	return 0
}

// atGap and inTime are how much worse ours is at the same gap, and in the time that theirs took.
func (d *duel) atGap() float64  { return d.worse(d.ours) }
func (d *duel) inTime() float64 { return d.worse(d.asLong) }

// before says whether our proof is there before their first plan.
func (d *duel) before() bool {
	return d.ours.Proof == optimizer.Optimal && (!d.found() || d.ours.cpu < d.theirs.First)
}

const peersAbout = `The same problems in the same run, as one integer program in free MPS each, at a gap of 0.1 %%. Times of the others are
processor time of the command, which reads the file as well; CBC gets %v, the others %v by their own clocks. Where
priorities decide, the others solve one program per priority and a last one for cost. "First plan" is when CBC says
that it found its first one in the last of its runs. "Worse" is by how much our objective is above theirs where both
serve alike: "at the gap" when both stop at 0.1 %%, "in its time" when ours goes on without a gap for as long as theirs took.`

// otherLimit is the time for GLPK and lp_solve, which seldom prove anything.
const otherLimit = 5 * time.Second

// peersSection compares with the other solvers that are installed.
func peersSection(ctx context.Context, o options) (*section, error) {
	s := &section{title: "Beside CBC, GLPK and lp_solve", about: fmt.Sprintf(peersAbout, o.peerLimit, otherLimit)}
	cbc := peer.CBC()
	if _, installed := cbc.Version(ctx); !installed {
		s.about += "\n\nCBC was not installed in this run."
		return s, nil
	}
	all, err := matches(ctx, cbc, o)
	if err != nil {
		return nil, err
	}
	others, tally, err := othersTable(ctx, o)
	if err != nil {
		return nil, err
	}
	s.about += "\n\n```sh\n"
	for _, solver := range peer.All() {
		limit := otherLimit
		if solver.Name == cbc.Name {
			limit = o.peerLimit
		}
		s.about += solver.Command(relativeGap, limit) + "\n"
	}
	s.about += "```"
	s.tables = []table.Table{matchTable(all), others}
	s.standings = matchStandings(all)
	unproven := 0
	for i := range tally {
		s.standings = append(s.standings, tally[i].standing())
		unproven += tally[i].problems - tally[i].ours
	}
	s.targets = append(matchTargets(all), target{name: "problems beside GLPK and lp_solve that we don't prove", measured: float64(unproven)})
	return s, nil
}

// round is a size and how many problems of each kind are solved.
type round struct {
	workloads int
	problems  uint64
}

func rounds(largest int) []round {
	return slices.DeleteFunc([]round{{10, 5}, {100, 5}, {1000, 1}}, func(r round) bool { return r.workloads > largest })
}

// match is the duels of one kind and size.
type match []*duel

func matches(ctx context.Context, against peer.Solver, o options) ([]match, error) {
	var all []match
	for _, r := range rounds(o.largest) {
		for _, s := range settings() {
			var m match
			for seed := range r.problems {
				d, err := fight(ctx, s, r.workloads, seed, against, o)
				if err != nil {
					return nil, err
				}
				m = append(m, d)
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// each collects a figure of every duel.
func (m match) each(figure func(*duel) float64) []float64 {
	values := make([]float64, len(m))
	for i, d := range m {
		values[i] = figure(d)
	}
	return values
}

// worst is the largest figure of all duels.
func (m match) worst(figure func(*duel) float64) float64 { return slices.Max(m.each(figure)) }

// count counts duels.
func (m match) count(is func(*duel) bool) (n int) {
	for _, d := range m {
		if is(d) {
			n++
		}
	}
	return n
}

func matchTable(all []match) table.Table {
	t := table.Table{Title: "Beside CBC", Columns: table.Columns("kind", "workloads", "ours, median ms", "CBC, median ms",
		"ratio, median", "ratio, least", "ours proven", "CBC proven", "CBC has a plan", "first plan, least s",
		"worse at the gap, most %", "worse in its time, most %")}
	for _, m := range all {
		of := func(is func(*duel) bool) string { return fmt.Sprintf("%d of %d", m.count(is), len(m)) }
		t.Add(m[0].name, fmt.Sprint(m[0].workloads),
			format(quantile(m.each(func(d *duel) float64 { return milliseconds(d.ours.cpu) }), 0.5)),
			format(quantile(m.each(func(d *duel) float64 { return milliseconds(d.theirs.CPU) }), 0.5)),
			format(quantile(m.each((*duel).ratio), 0.5)), format(slices.Min(m.each((*duel).ratio))),
			of(func(d *duel) bool { return d.ours.Proof == optimizer.Optimal }),
			of(func(d *duel) bool { return d.theirs.Status == peer.Optimal }), of((*duel).found),
			firstPlan(m), fmt.Sprintf("%.4f", 100*m.worst((*duel).atGap)), fmt.Sprintf("%.4f", 100*m.worst((*duel).inTime)))
	}
	return t
}

// firstPlan is the least time to a first plan, where there is one.
func firstPlan(m match) string {
	least := math.Inf(1)
	for _, d := range m {
		if d.found() {
			least = min(least, d.theirs.First.Seconds())
		}
	}
	if math.IsInf(least, 1) {
		return "none"
	}
	return format(least)
}

// easy kinds are those that CBC proves at 100 workloads.
func easy(m match) bool {
	return m[0].workloads == 100 && m.count(func(d *duel) bool { return d.theirs.Status == peer.Optimal }) == len(m)
}

func matchTargets(all []match) []target {
	fast, slow, before, atGap, inTime := math.Inf(1), math.Inf(1), 1.0, 0.0, 0.0
	for _, m := range all {
		ratios := m.each((*duel).ratio)
		atGap, inTime = max(atGap, m.worst((*duel).atGap)), max(inTime, m.worst((*duel).inTime))
		switch {
		case easy(m):
			fast = min(fast, quantile(ratios, 0.5))
		case m[0].workloads == 10:
			slow = min(slow, slices.Min(ratios))
		case m[0].workloads == 1000 && m.count((*duel).before) < len(m):
			before = 0
		}
	}
	if math.IsInf(fast, 1) {
		fast = math.NaN() // it proves none
	}
	return []target{
		{name: "10 workloads, CBC's time over ours, least", measured: slow, bound: 1, atLeast: true},
		{name: "100 workloads, kinds that CBC proves, CBC's time over ours, least median", measured: fast, bound: 100, atLeast: true},
		{name: "1,000 workloads, our proof before CBC's first plan, all kinds", measured: 100 * before, bound: 100, atLeast: true, unit: " %"},
		{name: "objective above CBC's, both at 0.1 %, worst of all", measured: 100 * atGap, bound: 0, unit: " %"},
		{name: "objective above CBC's, in its time, worst of all", measured: 100 * inTime, bound: 0, unit: " %"},
	}
}

// othersTable shows what GLPK and lp_solve make of some of the problems, and counts
// what is proven.
func othersTable(ctx context.Context, o options) (table.Table, []rivals, error) {
	t := table.Table{Title: "Beside GLPK and lp_solve", Columns: table.Columns("solver", "kind", "workloads", "its answer", "its s", "its plan above our bound, %", "ours", "ours, ms")}
	o.peerLimit = otherLimit
	var all []rivals
	for _, against := range []peer.Solver{peer.GLPK(), peer.LPSolve()} {
		if _, installed := against.Version(ctx); !installed {
			continue
		}
		tally := rivals{name: against.Name}
		for _, s := range []setting{settings()[instance.Tight], settings()[instance.Short]} {
			for _, workloads := range []int{10, 30, 100} {
				d, err := fight(ctx, s, workloads, 0, against, o)
				if err != nil {
					return t, nil, err
				}
				tally.add(d)
				above := "-"
				if d.found() {
					above = format(100 * (d.theirs.Objective/d.ours.Bound - 1))
				}
				t.Add(against.Name, s.name, fmt.Sprint(workloads), d.theirs.Status.String(), format(d.theirs.CPU.Seconds()), above,
					ourStatus(d.ours.Solution), format(milliseconds(d.ours.cpu)))
			}
		}
		all = append(all, tally)
	}
	return t, all, nil
}

func ourStatus(s *optimizer.Solution) string {
	if s.Proof == optimizer.Optimal {
		return peer.Optimal.String()
	}
	return peer.Feasible.String()
}
