package lp

import "math"

// breakpoint is the dual step at which a variable's reduced cost becomes zero.
type breakpoint struct {
	step, size float64
	variable   int32
}

func (b breakpoint) before(c breakpoint) bool {
	return b.step < c.step || b.step == c.step && b.variable < c.variable
}

// dualChoice is the work space of the dual ratio test.
type dualChoice struct {
	// heap orders the breakpoints that lie ahead.
	heap []breakpoint
	// met are those taken from the heap, in order.
	met []breakpoint
	// passed are the variables to be flipped.
	passed []int32
}

// dualRatio returns the variable that enters when the one of the pivot row leaves,
// −1 if none can, and leaves the variables to flip in s.choice.passed.
//
// The dual objective rises along the step with the slope |excess|. At the
// breakpoint of a variable with two bounds the slope falls by its range times its
// element, because the variable can move to its other bound. The step ends where
// the slope would become negative; what the bound permits as violation counts as
// reached.
func (s *simplex) dualRatio(position int, bland bool) int {
	c, leaving := &s.choice, int(s.head[position])
	excess := s.violation(leaving)
	c.passed = c.passed[:0]
	s.collectBreakpoints(excess > 0)
	if bland {
		return c.first()
	}
	c.heapify()
	c.met = c.met[:0]
	slope := math.Abs(excess) - s.permitted(leaving, excess)
	for len(c.heap) > 0 {
		b := c.pop()
		c.met = append(c.met, b)
		slope -= b.size * (s.upper[b.variable] - s.lower[b.variable])
		if slope <= 0 {
			return s.chooseNear(len(c.met) - 1)
		}
	}
	return -1
}

// collectBreakpoints fills the heap, still unordered.
func (s *simplex) collectBreakpoints(above bool) {
	c := &s.choice
	c.heap = c.heap[:0]
	for _, v := range s.pivotRow.touched {
		a := s.pivotRow.value[v]
		if !above {
			a = -a
		}
		size := math.Abs(a)
		if size <= smallestPivot || s.place[v] == basic || s.lower[v] == s.upper[v] ||
			s.place[v] == atLower && a < 0 || s.place[v] == atUpper && a > 0 {
			continue
		}
		c.heap = append(c.heap, breakpoint{s.distance(v) / size, size, v})
	}
}

// distance is how far a reduced cost is from zero, where its sign is right.
func (s *simplex) distance(v int32) float64 {
	switch s.place[v] {
	case atLower:
		return max(s.reduced[v], 0)
	case atUpper:
		return max(-s.reduced[v], 0)
	}
	return 0
}

// chooseNear returns the variable with the largest element among the breakpoint
// where the slope changes sign and those that the tolerance lets pass with it. If
// all are small, an earlier breakpoint serves: the step is shorter, but safe.
func (s *simplex) chooseNear(last int) int {
	c := &s.choice
	best := c.met[last]
	reach := best.step + s.slack[best.variable]/best.size
	for _, b := range c.heap {
		reach = min(reach, b.step+s.slack[b.variable]/b.size)
	}
	for len(c.heap) > 0 && c.heap[0].step <= reach {
		if b := c.pop(); b.size > best.size || b.size == best.size && b.variable < best.variable {
			best = b
		}
	}
	for best.size < safePivot && last > 0 {
		last--
		best = c.met[last]
	}
	for _, b := range c.met[:last] {
		c.passed = append(c.passed, b.variable)
	}
	return int(best.variable)
}

// first returns the variable of the nearest breakpoint, or −1.
func (c *dualChoice) first() int {
	if len(c.heap) == 0 {
		return -1
	}
	best := c.heap[0]
	for _, b := range c.heap {
		if b.before(best) {
			best = b
		}
	}
	return int(best.variable)
}

func (c *dualChoice) heapify() {
	for i := len(c.heap)/2 - 1; i >= 0; i-- {
		c.sink(i)
	}
}

// pop removes the nearest breakpoint.
func (c *dualChoice) pop() breakpoint {
	top, end := c.heap[0], len(c.heap)-1
	c.heap[0] = c.heap[end]
	c.heap = c.heap[:end]
	c.sink(0)
	return top
}

func (c *dualChoice) sink(i int) {
	h := c.heap
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
