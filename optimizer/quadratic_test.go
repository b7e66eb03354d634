package optimizer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The solution is optimal if and only if it meets the conditions of Karush, Kuhn
// and Tucker.
func TestQuadraticMeetsOptimalityConditions(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 10))
		q := randomQuadratic(r)
		if !q.solve() {
			t.Fatalf("seed %d: no solution", seed)
		}
		total := 0.0
		for i, weight := range q.weights {
			total += weight
			value := q.values[i] + dot(q.gradients[i], q.d)
			if weight < 0 || weight > 1e-7 && value > q.model+1e-6*(1+math.Abs(q.model))+2*q.ridge {
				t.Fatalf("seed %d: cut %d: weight %v, value %v above the model %v", seed, i, weight, value, q.model)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("seed %d: weights sum to %v", seed, total)
		}
		for k := range q.centre {
			direction := q.bounds[k]
			for i, weight := range q.weights {
				direction += weight * q.gradients[i][k]
			}
			if math.Abs(q.step*direction-q.d[k]) > 1e-6*(1+math.Abs(q.d[k])) {
				t.Fatalf("seed %d: d[%d] = %v, want %v", seed, k, q.d[k], q.step*direction)
			}
			if q.bounds[k] < 0 || q.centre[k]+q.d[k] < -1e-9 || q.bounds[k] > 1e-9 && math.Abs(q.centre[k]+q.d[k]) > 1e-9 {
				t.Fatalf("seed %d: row %d: bound weight %v at %v", seed, k, q.bounds[k], q.centre[k]+q.d[k])
			}
		}
	}
}

func randomQuadratic(r *rand.Rand) *quadratic {
	q := &quadratic{step: math.Exp(3 * r.NormFloat64())}
	rows, cuts := 1+r.IntN(8), 1+r.IntN(20)
	for range rows {
		c := 0.0
		if r.IntN(2) == 0 {
			c = r.Float64()
		}
		q.centre = append(q.centre, c)
		q.bounds = append(q.bounds, 0)
	}
	for i := range cuts {
		g := make([]float64, rows)
		for k := range g {
			g[k] = 10 * r.NormFloat64()
		}
		if i > 0 && r.IntN(5) == 0 {
			copy(g, q.gradients[i-1])
		}
		q.values = append(q.values, 5*r.Float64())
		q.gradients = append(q.gradients, g)
		q.weights = append(q.weights, float64(r.IntN(2)))
	}
	return q
}
