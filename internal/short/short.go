// Package short lets tests do less under -short. The race detector's run is short: it takes many times
// as long, and looks for what does not depend on how many cases there are.
package short

import "testing"

// Of returns a tenth of n, at least 1, under -short, and n otherwise.
func Of[T int | int64 | uint64](n T) T {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}
