package trace

import "math"

// counter counts moments, which come in ascending order, by window: window i is from
// edges[i] until before edges[i+1].
type counter struct {
	edges, counts []float64
	window        int
}

func (c *counter) add(at float64) {
	for c.window < len(c.counts) && at >= c.edges[c.window+1] {
		c.window++
	}
	if c.window < len(c.counts) && at >= c.edges[c.window] {
		c.counts[c.window]++
	}
}

// done says that later moments lie behind the last window.
func (c *counter) done() bool { return c.window >= len(c.counts) }

// share adds to the windows what area says of their part of the time from a to b. Later
// calls must not have an earlier a.
func (c *counter) share(a, b float64, area func(a, b float64) float64) {
	for c.window < len(c.counts) && a >= c.edges[c.window+1] {
		c.window++
	}
	for i := c.window; i < len(c.counts) && c.edges[i] < b; i++ {
		if from, to := math.Max(a, c.edges[i]), math.Min(b, c.edges[i+1]); from < to {
			c.counts[i] += area(from, to)
		}
	}
}

// expectEach adds what happens to each request of a stream, until done says so or the
// requests end.
func expectEach(s stream, each func(r *Request), done func() bool) error {
	var r Request
	for !done() && s.next(&r) {
		each(&r)
	}
	return s.close()
}
