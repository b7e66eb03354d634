package forecast

import (
	"cmp"
	"math"
	"slices"
)

// rankAmong returns the rank, from 1, of the order statistic among n errors that covers
// one more error with probability q if all come in random order: conformal prediction,
// V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World" (2005).
// It is above n if these are too few.
func rankAmong(n int, q float64) int { return int(math.Ceil(float64(n+1) * q)) }

// median returns the median of at least one value, and changes their order.
func median(values []float64) float64 {
	half := len(values) / 2
	upper := smallest(values, half)
	if len(values)%2 == 1 {
		return upper
	}
	return (slices.Max(values[:half]) + upper) / 2
}

// smallest returns the k-th smallest value, from 0, and moves it to place k, those that
// are not larger before it: C. A. R. Hoare, "Algorithm 65: Find" (1961).
func smallest[T cmp.Ordered](values []T, k int) T {
	for low, high := 0, len(values)-1; low < high; {
		pivot := values[(low+high)/2]
		i, j := low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return values[k]
		}
	}
	return values[k]
}
