package optimizer

import "math"

// covering is a linear program of few variables under bounds and any number of rows,
//
//	minimise cost·y  subject to  rows·y ≥ need,  lower ≤ y ≤ upper,
//
// that is solved again and again as bounds and needs change and rows are added. It is
// the dual simplex method in the space of the variables: a vertex is as many active
// constraints as there are variables, with the inverse of their coefficients (C. E.
// Lemke, The dual method of solving the linear programming problem, 1954). A general
// engine keeps a basis as large as the number of rows.
//
// Costs must be ≥ 0 for variables without an upper bound. Active constraints and
// multipliers stay dual feasible whatever bounds and needs do, so every solve starts
// from the vertex of the last one, and its value never falls.
type covering struct {
	cost, lower, upper []float64
	// slack is the excess over a row or bound that counts as none.
	slack float64
	rows  [][]float64
	need  []float64
	// active are constraints: i < n is the lower bound of variable i, n ≤ i < 2n the
	// upper one of i−n, and others are rows. columns are those of the inverse,
	// multipliers what the active constraints contribute per unit.
	active      []int32
	columns     [][]float64
	multipliers []float64
	y, ratios   []float64
	// stale counts exchanges since the inverse was set up.
	stale int
	// work counts multiplications, until the caller takes account of them.
	work int
}

// reset prepares for n variables without rows. The caller fills in costs and bounds
// and calls start.
func (c *covering) reset(n int, slack float64) {
	c.slack = slack
	c.cost, c.lower, c.upper = resize(c.cost, n), resize(c.lower, n), resize(c.upper, n)
	c.active, c.multipliers = resize(c.active, n), resize(c.multipliers, n)
	c.y, c.ratios = resize(c.y, n), resize(c.ratios, n)
	c.columns = resize(c.columns, n)
	for j := range c.columns {
		c.columns[j] = resize(c.columns[j], n)
	}
	c.rows, c.need = c.rows[:0], c.need[:0]
}

// start takes the bound of every variable that is cheaper as active.
func (c *covering) start() {
	for j := range c.active {
		clear(c.columns[j])
		if c.cost[j] >= 0 {
			c.active[j], c.columns[j][j], c.multipliers[j] = int32(j), 1, c.cost[j]
		} else {
			c.active[j], c.columns[j][j], c.multipliers[j] = int32(j+len(c.active)), -1, -c.cost[j]
		}
	}
	c.stale = 0
}

// addRow appends a row; the slice is kept.
func (c *covering) addRow(row []float64, need float64) {
	c.rows = append(c.rows, row)
	c.need = append(c.need, need)
}

// level is the right-hand side of constraint k.
func (c *covering) level(k int32) float64 {
	n := int32(len(c.active))
	switch {
	case k < n:
		return c.lower[k]
	case k < 2*n:
		return -c.upper[k-n]
	}
	return c.need[k-2*n]
}

// solve moves to the optimum, or until the value exceeds cutoff. It returns the value,
// a lower bound in any case, +Inf where no y meets the constraints. It says whether y
// is optimal.
func (c *covering) solve(cutoff float64) (value float64, optimal bool) {
	c.locate()
	afresh := c.stale == 0
	patience := 20 + 5*len(c.active)
	for pivot := range 20 * patience {
		value = c.value()
		if value > cutoff {
			return value, false
		}
		k, missing := c.mostViolated(pivot > patience)
		if k < 0 {
			return value, true
		}
		if c.enter(k, missing) {
			continue
		}
		if afresh {
			return math.Inf(1), false
		}
		// Once more without the rounding errors of earlier exchanges.
		afresh = true
		c.start()
		c.locate()
	}
	return value, false
}

// locate works out y from the active constraints.
func (c *covering) locate() {
	if c.stale > 60 {
		c.start()
	}
	clear(c.y)
	for j, k := range c.active {
		if level := c.level(k); level != 0 {
			for i, a := range c.columns[j] {
				c.y[i] += a * level
			}
		}
	}
}

// value is that of the multipliers: a bound even where y is not quite exact.
func (c *covering) value() float64 {
	value := 0.0
	for j, k := range c.active {
		if c.multipliers[j] != 0 {
			value += c.multipliers[j] * c.level(k)
		}
	}
	return value
}

// mostViolated is the constraint that y breaks the most, beyond what may be rounding, or
// the first it breaks, which ends in any case (R. G. Bland, New finite pivoting rules for the simplex method,
// 1977); −1 if there is none.
func (c *covering) mostViolated(first bool) (worst int32, missing float64) {
	n := int32(len(c.active))
	c.work += len(c.rows) * len(c.active)
	worst = -1
	most := c.slack
	see := func(k int32, lacks, size float64) bool {
		if beyond := lacks - cancelled*size; beyond > most {
			worst, missing, most = k, lacks, beyond
			return first
		}
		return false
	}
	for i, y := range c.y {
		if see(int32(i), c.lower[i]-y, math.Abs(y)) || see(n+int32(i), y-c.upper[i], math.Abs(y)) {
			return worst, missing
		}
	}
	for k, row := range c.rows {
		lacks, size := c.need[k], math.Abs(c.need[k])
		for i, a := range row {
			v := a * c.y[i]
			lacks -= v
			size += math.Abs(v)
		}
		if see(2*n+int32(k), lacks, size) {
			return worst, missing
		}
	}
	return worst, missing
}

// enter makes constraint k active, which lacks missing, in place of the one whose
// multiplier first falls to 0. It returns false if there is none: the constraints
// contradict one another.
func (c *covering) enter(k int32, missing float64) bool {
	leaving, theta := -1, math.Inf(1)
	for j, column := range c.columns {
		ratio := c.along(k, column)
		c.ratios[j] = ratio
		if ratio <= 0 {
			continue
		}
		if step := c.multipliers[j] / ratio; step < theta || leaving >= 0 && step == theta && c.active[j] < c.active[leaving] {
			leaving, theta = j, step
		}
	}
	if leaving < 0 {
		return false
	}
	column := c.columns[leaving]
	scale := 1 / c.ratios[leaving]
	for i := range column {
		column[i] *= scale
		c.y[i] += missing * column[i]
	}
	for j, other := range c.columns {
		if ratio := c.ratios[j]; j != leaving && ratio != 0 {
			c.multipliers[j] = max(0, c.multipliers[j]-theta*ratio)
			for i := range other {
				other[i] = difference(other[i], ratio*column[i])
			}
		}
	}
	c.active[leaving], c.multipliers[leaving] = k, theta
	c.stale++
	c.work += 2 * len(c.active) * len(c.active)
	return true
}

// along is how fast constraint k is met along a direction.
func (c *covering) along(k int32, direction []float64) float64 {
	n := int32(len(c.active))
	switch {
	case k < n:
		return direction[k]
	case k < 2*n:
		return -direction[k-n]
	}
	fast, slow := 0.0, 0.0
	for i, a := range c.rows[k-2*n] {
		if v := a * direction[i]; v > 0 {
			fast += v
		} else {
			slow -= v
		}
	}
	return difference(fast, slow)
}

// difference is a − b, but 0 where that may be the rounding of a and b alone, whatever their scale.
func difference(a, b float64) float64 {
	d := a - b
	if math.Abs(d) <= cancelled*max(math.Abs(a), math.Abs(b)) {
		return 0
	}
	return d
}

// cancelled is the part of a number that is left where nothing should be.
const cancelled = 1e-14
