package optimizer

import "slices"

// ordering compares solutions of problems that differ in their demands or pools only: level by
// level, then by objective.
type ordering struct {
	// priorities are those of the levels, 0 for missing replicas first.
	priorities []int
	// units are what gaps of levels are relative to: the demand of the priority.
	units []float64
	gap   float64
}

// newOrdering takes the problem with the highest demand, which units are of.
func newOrdering(p *Problem, gap float64) *ordering {
	r := &ordering{priorities: []int{0}, gap: gap}
	for i := range p.Workloads {
		if w := &p.Workloads[i]; !w.Penalized {
			r.priorities = append(r.priorities, w.Priority)
		}
	}
	slices.Sort(r.priorities)
	r.priorities = slices.Compact(r.priorities)
	for _, priority := range r.priorities {
		at := stage{kind: unmetStage, priority: priority}
		if priority == 0 {
			at.kind = shortfallStage
		}
		r.units = append(r.units, at.unit(p))
	}
	return r
}

// values are the levels and the objective of a solution, bounds what is proven of
// them, each given those before it.
func (r *ordering) values(s *Solution) []float64 {
	return append(r.levels(s, func(l *Level) float64 { return l.Unmet }), s.Objective)
}

func (r *ordering) bounds(s *Solution) []float64 {
	return append(r.levels(s, func(l *Level) float64 { return l.Bound }), s.Bound)
}

func (r *ordering) levels(s *Solution, of func(*Level) float64) []float64 {
	out := make([]float64, len(r.priorities), len(r.priorities)+1)
	for i := range s.Levels {
		k, _ := slices.BinarySearch(r.priorities, s.Levels[i].Priority)
		out[k] = of(&s.Levels[i])
	}
	return out
}

// levelsCompare is 0 where all levels are the same within the gap.
func (r *ordering) levelsCompare(a, b []float64) int {
	for k, unit := range r.units[:min(len(a), len(r.units))] {
		switch {
		case a[k] < b[k]-r.gap*unit:
			return -1
		case a[k] > b[k]+r.gap*unit:
			return 1
		}
	}
	return 0
}

// compare orders by levels and then by objective.
func (r *ordering) compare(a, b []float64) int {
	last := len(r.units)
	if order := r.levelsCompare(a, b); order != 0 {
		return order
	}
	return sign(a[last] - b[last])
}

// strictly orders two solutions by levels to the last unit and then by objective.
func (r *ordering) strictly(a, b *Solution) int {
	exact := *r
	exact.gap = tolerance
	return exact.compare(exact.values(a), exact.values(b))
}

// prefers says whether one of two solutions comes before another: that which is proven unless its levels are worse by more than the gap, or else
// that which is better to the last unit.
func (r *ordering) prefers(a, b *Solution) bool {
	within := r.levelsCompare(r.values(a), r.values(b))
	switch {
	case a.Proof == Optimal && b.Proof != Optimal && within <= 0:
		return true
	case b.Proof == Optimal && a.Proof != Optimal && within >= 0:
		return false
	}
	return r.strictly(a, b) < 0
}

// promising says whether a bound allows something better than values by more than
// the gap.
func (r *ordering) promising(bound, values []float64) bool {
	last := len(r.units)
	order := r.levelsCompare(bound, values)
	return order < 0 || order == 0 && gapOf(values[last], bound[last]) > r.gap
}

// prove is a solution with the least of bounds, one of which holds for any plan.
// Bounds whose levels are worse than those of the solution say nothing of its cost;
// where one allows a better level, what follows could cost nothing.
func (r *ordering) prove(s *Solution, bounds [][]float64) *Solution {
	values, proven := r.values(s), make([]float64, len(r.units)+1)
	for k := range proven {
		proven[k] = values[k]
		for _, bound := range bounds {
			switch r.levelsCompare(bound[:k], values[:k]) {
			case -1:
				proven[k] = 0
			case 0:
				proven[k] = min(proven[k], bound[k])
			}
		}
	}
	return r.with(s, proven)
}

// proof is a solution of a problem or of a relaxation of it, with the bounds at the roots of its stages, by what these minimised.
type proof struct {
	*Solution
	roots map[minimised]outcome
}

// provenBy is a solution with the best of what others prove: a bound on a level or the cost holds for what leaves no more of the levels before, and
// one of a root, less the price of what is more, for the others, too.
func (r *ordering) provenBy(s *Solution, proofs ...proof) *Solution {
	values, bounds := r.values(s), make([]float64, len(r.units)+1)
	unmet := func(priority int) float64 {
		k, _ := slices.BinarySearch(r.priorities, priority)
		return values[k]
	}
	for _, by := range proofs {
		of, proves, keeps := r.values(by.Solution), r.bounds(by.Solution), true
		for k := range bounds {
			if keeps {
				bounds[k] = max(bounds[k], proves[k])
			}
			if root, ok := by.roots[r.minimises(k)]; ok && values[0] <= of[0] {
				bounds[k] = max(bounds[k], proven(root.boundFor(unmet)))
			}
			bounds[k] = min(bounds[k], values[k])
			keeps = keeps && values[k] <= of[k]*(1+tolerance)
		}
	}
	return r.with(s, bounds)
}

// minimises is what a stage minimises for level k, or for the objective behind the levels.
func (r *ordering) minimises(k int) minimised {
	switch k {
	case len(r.priorities):
		return minimised{kind: moneyStage}
	case 0:
		return minimised{kind: shortfallStage}
	}
	return minimised{unmetStage, r.priorities[k]}
}

// with is a solution with other bounds.
func (r *ordering) with(s *Solution, proven []float64) *Solution {
	out := *s
	out.Levels = slices.Clone(s.Levels)
	for i := range out.Levels {
		l := &out.Levels[i]
		k, _ := slices.BinarySearch(r.priorities, l.Priority)
		l.Bound, l.Gap = proven[k], (l.Unmet-proven[k])/r.units[k]
	}
	out.Bound = proven[len(r.units)]
	out.Gap = gapOf(out.Objective, out.Bound)
	out.Proof = out.proof(r.gap)
	return &out
}
