package queueing

// llmd is what the models of the llm-d/inferno family share: requests of one
// length, mean latencies from the mean time in service and the mean batch.
// Quantiles, which the family does not have, are ours: the wait is exact, output
// lengths vary by their SCV, and ITL by the batch that requests meet.
type llmd struct {
	profile   Profile
	in, out   float64
	outputSCV float64
	batch     float64
}

func newLLMD(r Replica, s Shape) llmd {
	return llmd{
		profile:   r.Profile,
		in:        float64(s.InputTokens),
		out:       float64(s.OutputTokens),
		outputSCV: s.OutputSCV,
		batch:     float64(r.MaxBatch),
	}
}

// sizing returns how the family sizes a replica: rates from 0.001·μ(1) to
// 0.999·μ(B), and any limit on tokens per second means 0.9 times the highest rate.
func (m *llmd) sizing() sizing { return sizing{leastLoad: 0.001, tokenRateLoad: 0.9} }

// assemble makes distributions of the family's means. first is the time from the
// start of service to the first token.
func (m *llmd) assemble(l *latencies, s *steadyState, prefill, first, itl float64, itlAt func(n float64) float64) {
	l.prefill = prefill
	l.wait.setAfterWait(&s.wait, duration{})
	l.ttft.setAfterWait(&s.wait, duration{constant: first})
	l.itl = itlLatency(*s, itl, m.batch, itlAt)
	decode := max(s.service-prefill, 0)
	rest := duration{constant: s.service - decode}
	l.e2e.setAfterWait(&s.wait, rest.plus(proportional(decode, m.outputSCV)))
}
