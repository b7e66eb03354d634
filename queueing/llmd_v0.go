package queueing

// llmdV0 is the first model of the family: α and β only,
//
//	τ(n) = out·(α + β·n)   ITL = S/out
//
// with at most 10·B requests inside, whatever the replica's waiting places. It has
// no prefill. Its limit on the time to first token is one on the wait, whose
// distribution it takes as exponential: the quantile q is -ln(1-q) times the mean.
type llmdV0 struct{ llmd }

func newLLMDV0(r Replica, s Shape) *llmdV0 { return &llmdV0{newLLMD(r, s)} }

func (m *llmdV0) serviceTime(n int) float64 { return m.out * m.itlAt(float64(n)) }

func (m *llmdV0) itlAt(n float64) float64 { return m.profile.Alpha + m.profile.Beta*n }

func (m *llmdV0) latencies(s steadyState) (l latencies) {
	m.assemble(&l, &s, 0, 0, s.service/m.out, m.itlAt)
	l.ttft = exponentialLatency(s.wait.probability * s.wait.mean)
	return l
}

// sizing counts accepted requests only, as the family does.
func (m *llmdV0) sizing() sizing {
	rules := m.llmd.sizing()
	rules.acceptedOnly = true
	return rules
}
