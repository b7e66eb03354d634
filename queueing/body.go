package queueing

import "math"

const (
	// blockSize is the number of states whose weights are summed at a time.
	blockSize = 8
	// fewBlocks is the number of blocks that are multiplied faster than an exponential
	// is computed.
	fewBlocks = 24
)

// body are the states below the batch limit B of a chain. The weight of state n is
// x^n·Π_{i≤n} μ(B)/μ(i) with x = λ/μ(B). Relative to the first state of a block of
// states, it is a power of x times a number that does not depend on x. So the
// weights of a block and their moments are short sums of products, which a
// processor can take all at once, where a walk from state to state has to wait for
// each product.
type body struct {
	blocks []block
	// batch is B, logFull the logarithm of the weight of state B at x = 1.
	batch   int
	logFull float64
}

// block is the weights of states that follow each other, at x = 1.
type block struct {
	// weight is relative to the first state; 0 from state B on.
	weight [blockSize]float64
	// neighbour are the weights of the first states of the blocks before and after,
	// relative to the first state. State B follows the last block; the first block,
	// which has none before, has 1.
	neighbour [2]float64
	// logFirst is the logarithm of the weight of the first state.
	logFirst float64
}

// direction is an index of block.neighbour.
type direction int

const (
	down direction = iota
	up
)

// newBody takes μ(n) for n = 1 … B, from index 1 on.
func newBody(rate []float64) body {
	batch := len(rate) - 1
	b := body{blocks: make([]block, (batch+blockSize-1)/blockSize), batch: batch}
	saturation := rate[batch]
	before := 1.0
	for k := range b.blocks {
		block := &b.blocks[k]
		block.logFirst = b.logFull
		weight := 1.0
		for j, rate := range rate[k*blockSize+1 : min((k+1)*blockSize, batch)+1] {
			block.weight[j] = weight
			weight *= saturation / rate
		}
		block.neighbour = [2]float64{down: before, up: weight}
		before = 1 / weight
		b.logFull += math.Log(weight)
	}
	return b
}

// bodySum sums the weights of the states below B relative to that of origin, a state
// close to the mode.
type bodySum struct {
	origin float64
	// first and second are moments of n counted from the origin.
	total, first, second float64
	// empty is the weight of state 0.
	empty float64
	// full is the weight of state B; if it is 0 only its logarithm is known.
	full, logFull float64
}

// set makes s the sum of a body. It goes from the block of the mode to both sides and stops where
// nothing is left to add. Up to state low weights only rise, from high on they only fall.
// logRatio is log x.
func (s *bodySum) set(b *body, x, logRatio float64, low, mode, high int) {
	home, p := mode/blockSize, newPowers(x)
	origin, last := &b.blocks[home], len(b.blocks)-1
	block := p[blockSize]

	above := b.walk(&p, moments{}, up, home, high/blockSize, 1, block)
	all := b.walk(&p, above, down, home-1, low/blockSize, origin.neighbour[down]/block, 1/block)
	s.origin = float64(home * blockSize)
	s.total, s.first, s.second = all.total, all.first, all.second
	s.empty = all.next * block
	s.full = above.next / block * p[b.batch-last*blockSize]
	if all.next < vanishing {
		s.empty = math.Exp(-s.origin*logRatio - origin.logFirst)
	}
	if above.next < vanishing {
		s.full, s.logFull = 0, (float64(b.batch)-s.origin)*logRatio+b.logFull-origin.logFirst
	}
}

// moments are sums of the weights of states.
type moments struct {
	// first and second are moments of n counted from the origin.
	total, first, second float64
	// next is the weight of the first state after the last block; 0 if that is too far
	// away to tell.
	next float64
}

// walk adds blocks from first on, whose first state has the given weight, to sums over
// all that it comes from. Each weight is the one before times scale and its
// neighbour. It may stop from the block sure on.
func (b *body) walk(p *powers, m moments, d direction, first, sure int, weight, scale float64) moments {
	step := 2*int(d) - 1
	stride := float64(step * blockSize)
	distance := min(stride, 0)
	for k := first; k >= 0 && k < len(b.blocks); k += step {
		c := &b.blocks[k].weight
		// By pairs of states 2i and 2i+1: the sums of both and the odd one alone.
		odd0, odd1 := c[1]*p[1], c[3]*p[3]
		odd2, odd3 := c[5]*p[5], c[7]*p[7]
		pair0, pair1 := c[0]+odd0, c[2]*p[2]+odd1
		pair2, pair3 := c[4]*p[4]+odd2, c[6]*p[6]+odd3

		// Sums of w, j·w and j²·w with j from 0 in the block.
		odd := (odd0 + odd1) + (odd2 + odd3)
		total := ((pair0 + pair1) + (pair2 + pair3)) * weight
		first := (2*(pair1+2*pair2+3*pair3) + odd) * weight
		second := (4*((pair1+4*pair2+9*pair3)+(odd1+2*odd2+3*odd3)) + odd) * weight
		// The same counted from the origin.
		shift := distance * total
		m.total += total
		m.first += first + shift
		m.second += second + distance*(2*first+shift)

		weight *= b.blocks[k].neighbour[d] * scale
		if total < negligible*m.total && (k-sure)*step >= 0 {
			m.next = weight * b.beyond(d, k+step, scale)
			return m
		}
		distance += stride
	}
	m.next = weight
	return m
}

// beyond returns the weight after the last block in a direction relative to that of the
// first state of block k; 0 if that is far.
func (b *body) beyond(d direction, k int, scale float64) float64 {
	var blocks []block
	if d == up {
		blocks = b.blocks[k:]
	} else {
		blocks = b.blocks[:k+1]
	}
	if len(blocks) > fewBlocks {
		return 0
	}
	weight := 1.0
	for i := range blocks {
		weight *= blocks[i].neighbour[d] * scale
	}
	return weight
}

// powers are x^j for j = 0 … blockSize.
type powers [blockSize + 1]float64

func newPowers(x float64) powers {
	x2 := x * x
	x4 := x2 * x2
	return powers{1, x, x2, x2 * x, x4, x4 * x, x4 * x2, x4 * (x2 * x), x4 * x4}
}
