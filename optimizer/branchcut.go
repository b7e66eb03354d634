package optimizer

import (
	"cmp"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer/lp"
)

// branchAndCut solves the program where it has few rows: cuts raise the bound of the relaxation and
// leave fewer columns, and what remains is split in two programs of its own.
func (p *coreProgram) branchAndCut() bool {
	defer p.unload()
	closed, ok := p.tighten()
	if closed || !ok {
		return closed
	}
	split, ok := p.strongSplit()
	if !ok {
		return false
	}
	for _, below := range []bool{split.below, !split.below} {
		part := p.part(func(g, k int) bool { return g != split.group || p.inside(split, below, k) })
		if part != nil && !part.branchAndCut() {
			return false
		}
	}
	return true
}

// tighten solves the relaxation and adds cuts while they raise the bound enough.
func (p *coreProgram) tighten() (closed, ok bool) {
	for before := math.Inf(-1); ; before = p.bound {
		if !p.load() {
			return false, false
		}
		if closed, ok := p.relax(); closed || !ok {
			return closed, ok
		}
		if p.bound-before < worthCutting*(p.t.target()-p.bound) {
			return false, true
		}
		cuts := p.gomoryCuts()
		first := len(p.groups) + len(p.used)
		for c := range p.cuts {
			if p.dual[first+c] > leastShare {
				cuts = append(cuts, p.cuts[c])
			}
		}
		p.cuts = cuts
		part := p.part(func(int, int) bool { return true })
		if part == nil {
			return true, true
		}
		p.groups, p.cuts = part.groups, part.cuts
	}
}

// worthCutting is the share of what is missing to the target that cuts must gain to go on with them.
const worthCutting = 0.15

// part is the program of the columns to keep among those that a plan better than the target may
// have. It is nil if a group has none.
func (p *coreProgram) part(keep func(g, k int) bool) *coreProgram {
	part := &coreProgram{core: p.core, programs: p.programs, cuts: make([]coreCut, len(p.cuts))}
	for c := range p.cuts {
		part.cuts[c].least = p.cuts[c].least
	}
	missing := p.t.target() - p.bound
	for g := range p.groups {
		group := coreGroup{workload: p.groups[g].workload}
		for k, column := range p.groups[g].columns {
			if i := p.first[g] + k; p.excess[i] < missing && keep(g, k) {
				group.columns = append(group.columns, column)
				for c := range p.cuts {
					part.cuts[c].coefficients = append(part.cuts[c].coefficients, p.cuts[c].coefficients[i])
				}
			}
		}
		if len(group.columns) == 0 {
			return nil
		}
		part.groups = append(part.groups, group)
	}
	return part
}

// strongSplit chooses a split as the master does, by what the relaxations of both sides gain.
// ok is false if there is none, or no effort left.
func (p *coreProgram) strongSplit() (best coreSplit, ok bool) {
	most, bestScore := p.t.target()-p.bound, -1.0
	for _, s := range p.splits() {
		var gains [2]float64
		for side, below := range []bool{true, false} {
			changed := p.exclude(s, below)
			solution, solved := p.run()
			p.restore(changed)
			if !solved {
				return best, false
			}
			gains[side] = most
			if solution.Status == lp.Optimal {
				gains[side] = min(most, solution.Objective-p.value)
			}
		}
		s.below = gains[0] < gains[1]
		if score := max(gains[0], leastGain*most) * max(gains[1], leastGain*most); score > bestScore {
			best, bestScore = s, score
		}
		if max(gains[0], gains[1]) >= most {
			return s, true
		}
	}
	return best, bestScore >= 0
}

// splits are those of the fractional solution that seem to matter most.
func (p *coreProgram) splits() []coreSplit {
	var all []split
	group := map[int]int{}
	for g := range p.groups {
		if fractions := p.fractions(g); len(fractions) > 1 {
			group[p.groups[g].workload] = g
			all = p.t.appendSplits(all, p.groups[g].workload, fractions)
		}
	}
	slices.SortStableFunc(all, func(a, b split) int { return cmp.Compare(b.score, a.score) })
	var splits []coreSplit
	for _, s := range all[:min(len(all), probes)] {
		splits = append(splits, coreSplit{group: group[s.workload], item: s.item - p.t.l.workloads[s.workload].firstItem, at: s.at})
	}
	return splits
}
