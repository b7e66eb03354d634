package optimizer

// failures visits what is left of the replicas when up to failing of them fail, where
// that may matter the most. What is left unmet is convex in the replicas, so that it
// is highest at a corner of what may fail: some variants fail entirely and one of the
// others takes the rest. left belongs to failures.
func failures(counts []int32, failing int, visit func(left []float64)) {
	left := make([]float64, len(counts))
	for v, n := range counts {
		left[v] = float64(n)
	}
	var fail func(v int, failing float64)
	fail = func(v int, failing float64) {
		if v < len(left) {
			fail(v+1, failing)
			if n := left[v]; n > 0 && n <= failing {
				left[v] = 0
				fail(v+1, failing-n)
				left[v] = n
			}
			return
		}
		partly := false
		for t, n := range left {
			if failing > 0 && n > failing {
				left[t], partly = n-failing, true
				visit(left)
				left[t] = n
			}
		}
		if !partly {
			visit(left)
		}
	}
	fail(0, float64(failing))
}
