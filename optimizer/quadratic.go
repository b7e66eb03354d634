package optimizer

import "math"

// quadratic solves the small program of a proximal bundle step,
//
//	maximise over d:  min_i (ℓ_i + g_i·d) − ‖d‖²/(2t)  subject to  μ + d ≥ 0,
//
// by an active-set method on its dual: weights α ≥ 0 of the cuts, Σα = 1, and
// ν ≥ 0 of the bounds minimise
//
//	t/2·‖Σ α_i·g_i + ν‖² + Σ α_i·ℓ_i + ν·μ,
//
// and d = t·(Σ α_i·g_i + ν) (after Lawson and Hanson, Solving Least Squares
// Problems, 1974, and Kiwiel, A Method for Solving Certain Quadratic Programming
// Problems Arising in Nonsmooth Optimization, 1986).
type quadratic struct {
	values    []float64   // ℓ
	gradients [][]float64 // g
	centre    []float64   // μ ≥ 0
	step      float64     // t

	// weights are α and bounds ν. What they hold before is where the search
	// starts from.
	weights, bounds []float64
	d               []float64
	// model is min_i (ℓ_i + g_i·d).
	model float64

	set    []int  // cuts whose weight is free
	atZero []bool // rows whose bound weight is free: d = −μ there
	matrix [][]float64
	trial  []float64 // weights of set, then the level of its cuts
	rows   []float64 // trial of bounds
	ridge  float64
	// work counts multiplications.
	work int
}

// solve finds weights, bounds, d and model. It returns false if numerics fail.
func (q *quadratic) solve() bool {
	q.start()
	for range 20 * (len(q.values) + len(q.centre) + 5) {
		if !q.settle() {
			return false
		}
		if !q.enter() {
			return true
		}
	}
	return true
}

// start picks the free weights.
func (q *quadratic) start() {
	q.d = resize(q.d, len(q.centre))
	q.rows = resize(q.rows, len(q.centre))
	q.atZero = resize(q.atZero, len(q.centre))
	for r := range q.centre {
		q.atZero[r] = q.bounds[r] > 0
	}
	squares, total, first := 0.0, 0.0, 0
	q.set = q.set[:0]
	for i, g := range q.gradients {
		square := dot(g, g)
		squares = max(squares, square)
		if q.weights[i] > 0 {
			q.set = append(q.set, i)
			total += q.weights[i]
		}
		if q.values[i]+q.step/2*square < q.values[first]+q.step/2*dot(q.gradients[first], q.gradients[first]) {
			first = i
		}
	}
	// A ridge keeps cuts that depend on one another apart.
	q.ridge = 1e-11 * (q.step*squares + 1e-30)
	if len(q.set) == 0 {
		q.set, total = append(q.set, first), 1
		q.weights[first] = 1
	}
	for _, i := range q.set {
		q.weights[i] /= total
	}
}

func dot(a, b []float64) float64 {
	total := 0.0
	for i := range a {
		total += a[i] * b[i]
	}
	return total
}

// settle minimises over the free weights, fixing those that would turn negative.
func (q *quadratic) settle() bool {
	for {
		if !q.solveFree() {
			return false
		}
		ratio, cut, row := 1.0, -1, -1
		for k, i := range q.set {
			if q.trial[k] <= 0 {
				if r := q.weights[i] / (q.weights[i] - q.trial[k]); r < ratio || cut < 0 {
					ratio, cut = min(r, ratio), k
				}
			}
		}
		for r, zero := range q.atZero {
			if zero && q.rows[r] < 0 {
				if s := q.bounds[r] / (q.bounds[r] - q.rows[r]); s < ratio || cut < 0 && row < 0 {
					ratio, row = min(s, ratio), r
				}
			}
		}
		for k, i := range q.set {
			q.weights[i] += ratio * (q.trial[k] - q.weights[i])
		}
		for r, zero := range q.atZero {
			if zero {
				q.bounds[r] += ratio * (q.rows[r] - q.bounds[r])
			}
		}
		switch {
		case row >= 0:
			q.bounds[row], q.atZero[row] = 0, false
		case cut >= 0:
			q.weights[q.set[cut]] = 0
			q.set = append(q.set[:cut], q.set[cut+1:]...)
			if len(q.set) == 0 {
				return false
			}
		default:
			q.direction()
			return true
		}
	}
}

// solveFree solves the equations of optimality for the free weights: the cuts of
// the set lie at one level, and d = −μ in the rows at zero.
func (q *quadratic) solveFree() bool {
	n := len(q.set)
	q.work += n * n * (n/3 + len(q.centre)/2)
	q.trial = resize(q.trial, n+1)
	for len(q.matrix) < n+1 {
		q.matrix = append(q.matrix, nil)
	}
	for a := range n + 1 {
		q.matrix[a] = resize(q.matrix[a], n+2)
	}
	for a, i := range q.set {
		row := q.matrix[a]
		for b, j := range q.set[:a+1] {
			product := 0.0
			for r, zero := range q.atZero {
				if !zero {
					product += q.gradients[i][r] * q.gradients[j][r]
				}
			}
			row[b] = q.step * product
			q.matrix[b][a] = row[b]
		}
		right := -q.values[i]
		for r, zero := range q.atZero {
			if zero {
				right += q.gradients[i][r] * q.centre[r]
			}
		}
		row[a] += q.ridge
		row[n], row[n+1] = -1, right
	}
	last := q.matrix[n]
	for b := range n {
		last[b] = 1
	}
	last[n], last[n+1] = 0, 1
	if !eliminate(q.matrix[:n+1], q.trial) {
		return false
	}
	for r, zero := range q.atZero {
		if zero {
			q.rows[r] = -q.centre[r] / q.step
			for k, i := range q.set {
				q.rows[r] -= q.trial[k] * q.gradients[i][r]
			}
		}
	}
	return true
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
	for _, i := range q.set {
		for r, g := range q.gradients[i] {
			q.d[r] += q.step * q.weights[i] * g
		}
	}
	for r, zero := range q.atZero {
		if zero {
			q.d[r] = -q.centre[r]
		}
	}
	q.model = math.Inf(1)
	for i, value := range q.values {
		q.model = min(q.model, value+dot(q.gradients[i], q.d))
	}
}

// enter frees the weight whose increase improves the most. It returns false at the
// optimum.
func (q *quadratic) enter() bool {
	level, size := 0.0, 0.0
	for _, i := range q.set {
		value := q.values[i] + dot(q.gradients[i], q.d)
		level += q.weights[i] * value
		size = max(size, math.Abs(q.values[i]), math.Abs(value))
	}
	best, entering := -1e-10*(size+1e-30), -1
	for i, value := range q.values {
		if slack := value + dot(q.gradients[i], q.d) - level; slack < best && q.weights[i] == 0 {
			best, entering = slack, i
		}
	}
	if entering >= 0 {
		q.set = append(q.set, entering)
		return true
	}
	largest := 0.0
	for _, c := range q.centre {
		largest = max(largest, c)
	}
	best = -1e-12 * (largest + 1e-30)
	for r, c := range q.centre {
		if mu := c + q.d[r]; mu < best && !q.atZero[r] {
			best, entering = mu, r
		}
	}
	if entering >= 0 {
		q.atZero[entering] = true
		return true
	}
	return false
}
