package queueing

// sojourn is the stages of a request's time in a replica: the wait for a place in the batch, the
// time from there to the first token, and to the last.
type sojourn struct {
	// wait is that of the chain, or as corrected by the model.
	wait queueWait
	// prefill is the mean time of a prefill, including interference.
	prefill float64
	// first and service are the times from the place to the first and to the last token.
	first, service duration
	// itl is the time between tokens.
	itl duration
	// memoryless: the time to the first token is the wait, taken as exponential; first is 0 then.
	memoryless bool
}

// means returns the means of latencies.
func (s *sojourn) means() means {
	wait := s.wait.overall()
	return means{ttft: wait + s.first.mean(), itl: s.itl.mean(), e2e: wait + s.service.mean()}
}

// setLatency makes l, which is zero, the distribution that a metric is about: for tokens per
// second that of its reciprocal.
func (s *sojourn) setLatency(l *Latency, m Metric) {
	switch m {
	case TTFT:
		if s.memoryless {
			mean := s.wait.overall()
			l.set(duration{0, mean, mean * mean})
			return
		}
		l.setAfterWait(&s.wait, s.first)
	case E2E:
		l.setAfterWait(&s.wait, s.service)
	default:
		l.set(s.itl)
	}
}
