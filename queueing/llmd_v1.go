package queueing

// llmdV1 is the family's model with four parameters,
//
//	τ(n) = prefill(n) + d·(α + β·n)   prefill(n) = γ + δ·in·n if in > 0, else 0
//
// with d = out-1 decoding steps (1 if in = 0 and out = 1). Latencies follow from
// the effective batch n at which γ + δ·in·n + (out-1)·(α + β·n) is the mean time in
// service, within [0, B]: ITL = α + β·n, TTFT = wait + prefill(n).
type llmdV1 struct {
	llmdParameters
	steps float64
}

func newLLMDV1(r Replica, s Shape) *llmdV1 {
	m := &llmdV1{llmdParameters: newLLMDParameters(r, s)}
	m.steps = m.out - 1
	if m.in == 0 && m.out == 1 {
		m.steps = 1
	}
	return m
}

func (m *llmdV1) serviceTime(n int) float64 {
	return m.prefill(float64(n)) + m.steps*m.itlAt(float64(n))
}

func (m *llmdV1) prefill(n float64) float64 {
	if m.in == 0 {
		return 0
	}
	return m.profile.Gamma + m.profile.Delta*m.in*n
}

func (m *llmdV1) itlAt(n float64) float64 { return m.profile.Alpha + m.profile.Beta*n }

func (m *llmdV1) times(running, service float64) times {
	n := m.effectiveBatch(running, service)
	prefill := m.prefill(n)
	return times{prefill: prefill, first: prefill, itl: m.itlAt(n)}
}

// effectiveBatch solves for n. Where the time in service does not depend on the
// batch, every n solves it or none: then it is the mean batch.
func (m *llmdV1) effectiveBatch(running, service float64) float64 {
	slope := m.profile.Delta*m.in + m.profile.Beta*(m.out-1)
	if slope == 0 {
		return running
	}
	constant := m.profile.Gamma + m.profile.Alpha*(m.out-1)
	return min(max((service-constant)/slope, 0), m.batch)
}
