package optimizer

// pseudocosts tell what a split may gain from what splits of the same item have gained, on each side and in relation to
// the cost of what they moved (M. Bénichou et al., Experiments in mixed-integer linear programming, Mathematical
// Programming 1, 1971).
type pseudocosts struct {
	items []gains
	all   gains
}

// gains are those seen of the splits of an item, below and above.
type gains struct {
	ratio [2]float64 // sums of gain/moved
	seen  [2]int
}

func newPseudocosts(items int) pseudocosts { return pseudocosts{items: make([]gains, items)} }

// see takes note of what one side of a split has gained.
func (p *pseudocosts) see(item, side int, moved, gain float64) {
	if moved <= 0 {
		return
	}
	for _, g := range []*gains{&p.items[item], &p.all} {
		g.ratio[side] += max(0, gain) / moved
		g.seen[side]++
	}
}

// expected is what one side of a split may gain: the mean of what was seen of the item, or else of all items, or else
// what it moves. The mean of all has a tiny weight in that of an item, which keeps items apart that never gained
// anything.
func (p *pseudocosts) expected(item, side int, moved float64) float64 {
	mean := 1.0
	if n := p.all.seen[side]; n > 0 {
		mean = p.all.ratio[side] / float64(n)
	}
	g := &p.items[item]
	return moved * (g.ratio[side] + tinyPrior*mean) / (float64(g.seen[side]) + tinyPrior)
}

// tinyPrior is the weight of the mean of all items, a split of the item being 1.
const tinyPrior = 1e-9

// reliable says whether both sides of splits of an item have been seen so many times.
func (p *pseudocosts) reliable(item, times int) bool {
	g := &p.items[item]
	return min(g.seen[0], g.seen[1]) >= times
}
