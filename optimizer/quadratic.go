package optimizer

import "math"

// quadratic solves the small program of a proximal bundle step,
//
//	maximise over d:  min_i (ℓ_i + g_i·d) − ‖d‖²/(2t)  subject to  μ + d ≥ 0,
//
// by an active-set method on its dual, the point of least norm in the convex hull
// of the gradients with rays for the bounds (after Lawson and Hanson, Solving
// Least Squares Problems, 1974, and Kiwiel, A Method for Solving Certain Quadratic
// Programming Problems Arising in Nonsmooth Optimization, 1986).
type quadratic struct {
	values    []float64   // ℓ
	gradients [][]float64 // g
	centre    []float64   // μ ≥ 0
	step      float64     // t

	// weights are the multipliers of the cuts, summing to 1, then those of the
	// bounds.
	weights []float64
	d       []float64
	// model is min_i (ℓ_i + g_i·d).
	model float64

	set     []int
	matrix  [][]float64
	trial   []float64
	squares float64
}

// solve finds weights, d and model. It returns false if numerics fail.
func (q *quadratic) solve() bool {
	cuts, rows := len(q.values), len(q.centre)
	q.weights = resize(q.weights, cuts+rows)
	clear(q.weights)
	q.d = resize(q.d, rows)
	q.set = q.set[:0]
	q.squares = 0
	for _, g := range q.gradients {
		q.squares = max(q.squares, dot(g, g))
	}
	first := 0
	for i, value := range q.values {
		if q.step/2*dot(q.gradients[i], q.gradients[i])+value < q.step/2*dot(q.gradients[first], q.gradients[first])+q.values[first] {
			first = i
		}
	}
	q.weights[first] = 1
	q.set = append(q.set, first)
	for range 20 * (cuts + rows + 5) {
		if !q.settle() {
			return false
		}
		if entering := q.entering(); entering >= 0 {
			q.set = append(q.set, entering)
			continue
		}
		return true
	}
	return true
}

func dot(a, b []float64) float64 {
	total := 0.0
	for i := range a {
		total += a[i] * b[i]
	}
	return total
}

// settle minimises over the set, dropping what turns negative.
func (q *quadratic) settle() bool {
	for {
		if !q.solveSet() {
			return false
		}
		ratio, leaving := 1.0, -1
		for k, i := range q.set {
			if q.trial[k] <= 0 {
				if r := q.weights[i] / (q.weights[i] - q.trial[k]); r < ratio || leaving < 0 {
					ratio, leaving = min(r, 1), k
				}
			}
		}
		for k, i := range q.set {
			q.weights[i] += ratio * (q.trial[k] - q.weights[i])
		}
		if leaving < 0 {
			q.direction()
			return true
		}
		q.weights[q.set[leaving]] = 0
		q.set = append(q.set[:leaving], q.set[leaving+1:]...)
		if len(q.set) == 0 {
			return false
		}
	}
}

// generator is the inner product of the generators of two weights.
func (q *quadratic) generators(i, j int) float64 {
	cuts := len(q.values)
	switch {
	case i < cuts && j < cuts:
		return dot(q.gradients[i], q.gradients[j])
	case i < cuts:
		return q.gradients[i][j-cuts]
	case j < cuts:
		return q.gradients[j][i-cuts]
	case i == j:
		return 1
	}
	return 0
}

func (q *quadratic) linear(i int) float64 {
	if i < len(q.values) {
		return q.values[i]
	}
	return q.centre[i-len(q.values)]
}

// solveSet solves the equations of optimality over the set by elimination, with a
// ridge against generators that depend on one another.
func (q *quadratic) solveSet() bool {
	n := len(q.set)
	q.trial = resize(q.trial, n+1)
	for len(q.matrix) < n+1 {
		q.matrix = append(q.matrix, nil)
	}
	for a, i := range q.set {
		row := resize(q.matrix[a], n+2)
		for b, j := range q.set {
			row[b] = q.step * q.generators(i, j)
		}
		row[a] += 1e-11 * (q.step*q.squares + 1e-30)
		row[n], row[n+1] = 0, -q.linear(i)
		if i < len(q.values) {
			row[n] = 1
		}
		q.matrix[a] = row
	}
	last := resize(q.matrix[n], n+2)
	for b, j := range q.set {
		last[b] = 0
		if j < len(q.values) {
			last[b] = 1
		}
	}
	last[n], last[n+1] = 0, 1
	q.matrix[n] = last
	return eliminate(q.matrix[:n+1], q.trial)
}

// eliminate solves a square system, its right side in the last column, by Gauss
// with partial pivoting.
func eliminate(m [][]float64, x []float64) bool {
	n := len(m)
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[pivot][c]) {
				pivot = r
			}
		}
		if math.Abs(m[pivot][c]) < 1e-300 {
			return false
		}
		m[c], m[pivot] = m[pivot], m[c]
		for r := c + 1; r < n; r++ {
			f := m[r][c] / m[c][c]
			if f == 0 {
				continue
			}
			for k := c; k <= n; k++ {
				m[r][k] -= f * m[c][k]
			}
		}
	}
	for c := n - 1; c >= 0; c-- {
		total := m[c][n]
		for k := c + 1; k < n; k++ {
			total -= m[c][k] * x[k]
		}
		x[c] = total / m[c][c]
		if math.IsNaN(x[c]) {
			return false
		}
	}
	return true
}

// direction computes d and model from the weights.
func (q *quadratic) direction() {
	clear(q.d)
	cuts := len(q.values)
	for i, weight := range q.weights {
		if weight == 0 {
			continue
		}
		if i >= cuts {
			q.d[i-cuts] += q.step * weight
			continue
		}
		for r, g := range q.gradients[i] {
			q.d[r] += q.step * weight * g
		}
	}
	q.model = math.Inf(1)
	for i, value := range q.values {
		q.model = min(q.model, value+dot(q.gradients[i], q.d))
	}
}

// entering is the weight whose increase improves the most, −1 at the optimum.
func (q *quadratic) entering() int {
	level, size := 0.0, 0.0
	cuts := len(q.values)
	for _, i := range q.set {
		if i < cuts {
			value := q.values[i] + dot(q.gradients[i], q.d)
			level += q.weights[i] * value
			size = max(size, math.Abs(q.values[i]), math.Abs(value))
		}
	}
	best, entering := -1e-10*(size+1e-30), -1
	for i, value := range q.values {
		if slack := value + dot(q.gradients[i], q.d) - level; slack < best && q.weights[i] == 0 {
			best, entering = slack, i
		}
	}
	if entering >= 0 {
		return entering
	}
	worst := 0.0
	for _, c := range q.centre {
		worst = max(worst, c)
	}
	best = -1e-12 * (worst + 1e-30)
	for r, c := range q.centre {
		if mu := c + q.d[r]; mu < best && q.weights[cuts+r] == 0 {
			best, entering = mu, cuts+r
		}
	}
	return entering
}
