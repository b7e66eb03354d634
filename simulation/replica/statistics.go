package replica

import "iter"

// Statistics is what requests experienced, in seconds. ITL is of requests with at
// least two tokens.
type Statistics struct {
	Completed, Rejected  int
	Preemptions          int
	Wait, TTFT, ITL, E2E Sample
}

// BlockedShare is the share of requests that were rejected.
func (s *Statistics) BlockedShare() float64 {
	return float64(s.Rejected) / float64(s.Rejected+s.Completed)
}

func (s *Statistics) add(c *Completion) {
	if c.Outcome != Completed {
		s.Rejected++
		return
	}
	s.Completed++
	s.Preemptions += c.Preemptions
	s.Wait.values = append(s.Wait.values, float64(c.Wait()))
	s.TTFT.values = append(s.TTFT.values, float64(c.TTFT()))
	s.E2E.values = append(s.E2E.values, float64(c.E2E()))
	if c.Output > 1 {
		s.ITL.values = append(s.ITL.values, float64(c.ITL()))
	}
}

// Collect returns the statistics of the requests that arrive from a moment on; what is
// before is warm-up.
func Collect(completions iter.Seq[Completion], from float64) *Statistics {
	s := new(Statistics)
	for c := range completions {
		if c.Arrival >= from {
			s.add(&c)
		}
	}
	return s
}

// Measurement is what a replica did under a load, without the warm-up.
type Measurement struct {
	*Statistics
	// Totals counts from the first to the last arrival after the warm-up; what the
	// replica does after the last arrival is not part of its load.
	Totals Totals
}

// Measure serves arrivals until all are completed, and measures from a moment on.
func Measure(r *Replica, arrivals iter.Seq[Request], from float64) Measurement {
	var first, last Totals
	started := false
	watched := func(yield func(Request) bool) {
		for req := range arrivals {
			// Where yield returns, the replica has the request.
			if !yield(req) {
				return
			}
			last = r.Totals()
			if !started && req.Arrival >= from {
				first, started = last, true
			}
		}
	}
	statistics := Collect(Serve(r, watched), from)
	if !started {
		first = last
	}
	return Measurement{Statistics: statistics, Totals: last.Since(first)}
}
