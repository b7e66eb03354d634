package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomProblem returns rows whose columns differ by powers of ten, and some of which
// may depend on each other.
func randomProblem(random *rand.Rand) (rows [][]float64, b []float64) {
	unknowns := 1 + random.IntN(6)
	count := 1 + random.IntN(15)
	dependent := random.IntN(3) == 0
	for range count {
		row := make([]float64, unknowns)
		for j := range row {
			row[j] = random.NormFloat64() * math.Pow(10, float64(2*j-4))
		}
		if dependent && unknowns > 1 {
			row[unknowns-1] = 3 * row[0]
		}
		rows = append(rows, row)
		b = append(b, random.NormFloat64())
	}
	return rows, b
}

// The minimum of a convex function over x ≥ 0 is where no gradient points inward:
// the conditions of Karush, Kuhn and Tucker.
func TestNonNegativeMeetsKKT(t *testing.T) {
	random := seeded(20)
	for range 2000 {
		rows, b := randomProblem(random)
		x := newLeastSquares(rows, b).nonNegative()
		for j := range x {
			require.GreaterOrEqual(t, x[j], 0.0)
			gradient, size := 0.0, 0.0
			for i, row := range rows {
				rest := b[i]
				for k := range x {
					rest -= row[k] * x[k]
				}
				gradient += row[j] * rest
				size = math.Hypot(size, row[j])
			}
			gradient /= size
			if x[j] > 0 {
				require.InDelta(t, 0, gradient, 1e-8)
			} else {
				require.LessOrEqual(t, gradient, 1e-8)
			}
		}
	}
}

func TestNonNegativeOfKnownProblems(t *testing.T) {
	for name, test := range map[string]struct {
		rows [][]float64
		b    []float64
		want []float64
	}{
		"inside":        {[][]float64{{1, 0}, {0, 2}}, []float64{3, 4}, []float64{3, 2}},
		"at a bound":    {[][]float64{{1, 0}, {0, 2}}, []float64{3, -4}, []float64{3, 0}},
		"all at bounds": {[][]float64{{1, 0}, {0, 2}}, []float64{-3, -4}, []float64{0, 0}},
		// Without bounds it is (−1, 2).
		"bound moves the other": {[][]float64{{1, 1}, {0, 1}}, []float64{1, 2}, []float64{0, 1.5}},
		"unused column":         {[][]float64{{1, 0}, {1, 0}}, []float64{3, 5}, []float64{4, 0}},
		"fewer rows":            {[][]float64{{2, 0, 0}}, []float64{3}, []float64{1.5, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.InDeltaSlice(t, test.want, newLeastSquares(test.rows, test.b).nonNegative(), 1e-12)
		})
	}
}

// At the minimum of a fit, no coefficient can change and lower the cost.
func TestSolutionIsStationary(t *testing.T) {
	for seed := range uint64(20) {
		p := problem{free: []Term{Alpha, Beta, Kappa, Gamma, Delta, Epsilon, TTFTOffset}, stop: func() bool { return false }}
		for _, o := range observe(measure(grid(), dense, Options{}, 0.05, seeded(seed)), Options{Ignore: loadOnly}) {
			if o.counts {
				p.observations = append(p.observations, o)
			}
		}
		s := p.solve()
		for _, term := range p.free {
			for _, change := range []float64{-1e-3, 1e-3} {
				c := s.values
				c[term] = max(0, c[term]+change*coefficientsOf(dense)[term])
				assert.GreaterOrEqual(t, p.evaluate(c, s.spread).cost, s.cost*(1-1e-9), "%v %v", term, change)
			}
		}
	}
}

func TestQuantile(t *testing.T) {
	values := []weightedValue{{3, 1}, {1, 1}, {2, 2}}
	for q, want := range map[float64]float64{0: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.75: 2, 0.76: 3, 1: 3} {
		assert.Equal(t, want, quantile(values, q), q)
	}
}
