package optimizer

import (
	"cmp"
	"math"
	"slices"
)

// split is a choice between x ≤ at and x ≥ at+1 for an item of a workload.
type split struct {
	workload, item int // item counts over all workloads
	at             int32
	// moved is the cost of what is moved below and above, and score tells which splits are looked at first.
	moved [2]float64
	score float64
}

// probes is the number of splits whose children are looked at before one is chosen: by a master, and otherwise.
const (
	masterProbes = 8
	probes       = 3
)

// The sides of a split.
const (
	below = iota
	above
)

// branch returns the two children of the split that seems to raise the bound most,
// none if a single configuration is left for every workload: it was offered, so that
// nothing better is here.
func (t *tree) branch(n *treeNode) [2]*treeNode {
	var splits []split
	if t.master != nil {
		splits = t.master.splits()
	} else {
		splits = t.fractionalSplits()
	}
	if len(splits) == 0 {
		splits = t.otherSplits()
	}
	probing := t.master != nil && t.probing()
	if probing {
		t.master.rate(splits)
	}
	slices.SortStableFunc(splits, func(a, b split) int { return cmp.Compare(b.score, a.score) })
	if t.master != nil {
		if len(splits) > 0 && splits[0].score > 0 && !probing {
			return t.children(n, splits[0])
		}
		return t.master.branch(n, splits[:min(len(splits), masterProbes)])
	}
	splits = splits[:min(len(splits), probes)]
	var best [2]*treeNode
	bestScore := math.Inf(-1)
	for _, s := range splits {
		children := t.children(n, s)
		score := t.gain(children[0]) * t.gain(children[1])
		if score > bestScore {
			best, bestScore = children, score
		}
	}
	t.l.budget.spend(2 * len(splits))
	return best
}

// probing says whether a split is chosen by strong branching, and not by its score alone. As long as the tree is
// small, a better choice saves less than the probes cost. But scores are costs, which tell little of a split where
// levels above cost are settled or kept.
func (t *tree) probing() bool {
	levelled := t.unit > 0 && !t.tenant || slices.ContainsFunc(t.l.rows, func(r couplingRow) bool { return r.kind >= unmetRow })
	return levelled || !t.young()
}

// young says whether the tree is small.
func (t *tree) young() bool { return t.made <= t.limits.young*t.rows() }

// fractionalSplits are the splits that cut off the fractional solution.
func (t *tree) fractionalSplits() []split {
	var splits []split
	for i := range t.l.workloads {
		if _, common := t.bundle.common(i); !common {
			splits = t.appendSplits(splits, i, t.bundle.fractions(i))
		}
	}
	return splits
}

// appendSplits appends the splits of workload i at its mean replicas. They move f below and 1−f above, f being the fractional
// part of the mean, at the price of a replica, its devices priced; the score is the geometric mean: most fractional
// branching, weighted by cost. Where only one variant may be used, which one comes before how many replicas; f is the
// share of configurations with it then.
func (t *tree) appendSplits(splits []split, i int, fractions []fraction) []split {
	w, units := &t.l.workloads[i], t.bundle.units()
	for item := range w.items {
		mean, used, least, most := 0.0, 0.0, int32(math.MaxInt32), int32(0)
		for _, f := range fractions {
			x := t.l.columns[i].x(f.pick)[item]
			mean += f.share * float64(x)
			if x > 0 {
				used += f.share
			}
			least, most = min(least, x), max(most, x)
		}
		if least == most {
			continue
		}
		at := min(max(int32(math.Floor(mean+1e-6)), least), most-1)
		part, replicas := mean-float64(at), 1.0
		if w.single && least == 0 {
			at, part, replicas = 0, used, mean/used
		}
		part = min(max(0, part), 1) // but for rounding
		price := replicas * w.priced(&w.places[item], units)
		splits = append(splits, split{
			workload: i, item: w.firstItem + item, at: at, moved: [2]float64{part * price, (1 - part) * price},
			score: math.Sqrt(part*(1-part)) * price,
		})
	}
	return splits
}

// otherSplits are splits next to the cheapest configurations, for the case that
// these fit but the bound is not exact.
func (t *tree) otherSplits() []split {
	var splits []split
	for i := range t.l.workloads {
		w := &t.l.workloads[i]
		lo, hi := t.l.bounds(w)
		x := t.l.columns[i].x(t.bundle.value.cut.picks[i])
		for item := range w.items {
			switch {
			case lo[item] == hi[item]:
			case x[item] > lo[item]:
				splits = append(splits, split{workload: i, item: w.firstItem + item, at: x[item] - 1})
			default:
				splits = append(splits, split{workload: i, item: w.firstItem + item, at: x[item]})
			}
		}
	}
	return splits
}

// children are the nodes for both sides of a split.
func (t *tree) children(n *treeNode, s split) [2]*treeNode {
	return [2]*treeNode{t.child(n, s, below), t.child(n, s, above)}
}

// child is the node for one side of a split, nil if nothing is in it. Its cuts are
// those of the parent with another configuration of the workload where theirs is
// out of bounds.
func (t *tree) child(n *treeNode, s split, side int) *treeNode {
	change := boundChange{workload: s.workload, item: s.item, lo: t.l.lo[s.item], hi: t.l.hi[s.item]}
	if side == above {
		change.lo = s.at + 1
	} else {
		change.hi = s.at
	}
	b := &t.bundle
	before := boundChange{lo: t.l.lo[s.item], hi: t.l.hi[s.item]}
	t.l.lo[s.item], t.l.hi[s.item] = change.lo, change.hi
	defer func() { t.l.lo[s.item], t.l.hi[s.item] = before.lo, before.hi }()
	bound, pick := t.l.price(s.workload, b.prices)
	if math.IsInf(bound, 1) {
		return nil
	}
	c := &treeNode{prices: b.prices, step: b.step, changes: slices.Concat(n.changes, []boundChange{change})}
	c.bound = max(n.bound, b.value.bound-b.value.values[s.workload]+bound)
	if pick < 0 {
		return c
	}
	if t.master != nil {
		c.side, c.moved, c.value = side, s.moved[side], t.master.value
		c.basis = t.master.basis
		t.master.addColumn(s.workload, pick)
		return c
	}
	for k := range b.cuts {
		if b.weights[k] > 0 {
			c.cuts = append(c.cuts, t.moved(&b.cuts[k], s.workload, pick))
		}
	}
	return c
}

// moved is a cut with workload i moved to a configuration within its bounds.
func (t *tree) moved(from *cut, i int, pick int32) cut {
	if t.l.fits(i, from.picks[i]) {
		return *from
	}
	return t.l.exchanged(from, i, pick)
}

// gain estimates by how much the bound of a child exceeds that of its parent.
func (t *tree) gain(c *treeNode) float64 {
	b := &t.bundle
	least := 1e-9 * (b.value.scale + 1e-300)
	most := b.value.scale
	if target := t.target(); !math.IsInf(target, 1) {
		most = max(target-b.value.bound, least)
	}
	if c == nil {
		return most
	}
	probe := bundle{l: b.l, scale: b.scale, prices: b.prices, cuts: c.cuts, weights: make([]float64, len(c.cuts)), step: b.step}
	probe.value.bound = c.bound
	estimate := c.bound
	if len(c.cuts) > 0 {
		if _, predicted, ok := probe.propose(); ok {
			estimate += predicted
		}
	}
	return min(max(estimate-b.value.bound, least), most)
}
