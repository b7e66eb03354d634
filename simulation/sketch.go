package simulation

import "math"

// Sketch sums up many durations in little memory: their number, sum and quantiles. A
// quantile is within 1 % of a value of its rank. Sketches of parts merge into that of the
// whole, whatever the parts. The zero value is empty.
//
// Values are counted in buckets that grow by a factor of γ = (1+α)/(1-α) with α = 0.01: C.
// Masson, J. E. Rim, H. K. Lee, "DDSketch: a fast and fully-mergeable quantile sketch with
// relative-error guarantees", PVLDB 12 (2019). A factor of ten takes 115 buckets.
type Sketch struct {
	// counts[i] is the number of values in (γ^(low+i-1), γ^(low+i)].
	counts []int32
	low    int
	// tiny values, below sketchLeast, count as 0.
	tiny, count int
	sum         float64
}

const (
	sketchError = 0.01
	// sketchLeast is the least value that counts as more than 0, sketchMost what larger ones
	// count as, in seconds.
	sketchLeast = 1e-9
	sketchMost  = 1e12
)

// sketchGamma is γ, and inverseLogGamma 1/log γ.
const (
	sketchGamma     = (1 + sketchError) / (1 - sketchError)
	inverseLogGamma = 49.99833332888678
)

// Add counts a value ≥ 0.
func (s *Sketch) Add(value float64) {
	s.count++
	s.sum += value
	if !(value >= sketchLeast) {
		s.tiny++
		return
	}
	s.bucket(int(math.Ceil(math.Log(min(value, sketchMost))*inverseLogGamma)), 1)
}

// bucket adds to one bucket.
func (s *Sketch) bucket(index int, n int32) {
	switch {
	case len(s.counts) == 0:
		s.low = index
		s.counts = append(s.counts, 0)
	case index < s.low:
		more := make([]int32, s.low-index+len(s.counts), s.low-index+cap(s.counts))
		copy(more[s.low-index:], s.counts)
		s.counts, s.low = more, index
	}
	for index >= s.low+len(s.counts) {
		s.counts = append(s.counts, 0)
	}
	s.counts[index-s.low] += n
}

// Merge adds all that another sketch has counted.
func (s *Sketch) Merge(other *Sketch) {
	s.count += other.count
	s.tiny += other.tiny
	s.sum += other.sum
	for i, n := range other.counts {
		if n > 0 {
			s.bucket(other.low+i, n)
		}
	}
}

// Count is the number of values.
func (s *Sketch) Count() int { return s.count }

// Sum is the sum of values.
func (s *Sketch) Sum() float64 { return s.sum }

// Mean is that of the values, NaN without any.
func (s *Sketch) Mean() float64 { return s.sum / float64(s.count) }

// Quantile is the least value that the share q of all values, in [0, 1], does not exceed,
// within 1 %; NaN without values.
func (s *Sketch) Quantile(q float64) float64 {
	if s.count == 0 {
		return math.NaN()
	}
	rank := max(1, int(math.Ceil(q*float64(s.count))))
	below := s.tiny
	if rank <= below {
		return 0
	}
	for i, n := range s.counts {
		if below += int(n); rank <= below {
			return 2 * math.Pow(sketchGamma, float64(s.low+i)) / (sketchGamma + 1)
		}
	}
	return math.NaN()
}
