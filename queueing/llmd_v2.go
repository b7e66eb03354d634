package queueing

// llmdV2 is the family's model with three parameters: β per computed token and γ
// per KV token,
//
//	T(n) = α + n·(β·(in+out)/(out+1) + γ·(in+out/2))
//	prefill(n) = T(n) + (β+γ)·in if in > 0, else 0
//	decode(n) = T(n) + β + γ·(in+out/2)
//	τ(n) = prefill(n) + out·decode(n)
//
// With the mean time in service S and the mean batch n̄: ITL = (S - prefill(n̄))/out,
// TTFT = wait + prefill(n̄) + ITL.
type llmdV2 struct {
	llmdParameters
	// perRequest is what each request adds to an iteration, prompt to its prefill
	// and step to each of its decoding steps.
	perRequest, prompt, step float64
}

func newLLMDV2(r Replica, s Shape) *llmdV2 {
	m := &llmdV2{llmdParameters: newLLMDParameters(r, s)}
	p, context := &m.profile, m.in+m.out/2
	m.perRequest = p.Beta*(m.in+m.out)/(m.out+1) + p.Gamma*context
	m.prompt = (p.Beta + p.Gamma) * m.in
	m.step = p.Beta + p.Gamma*context
	return m
}

func (m *llmdV2) iteration(n float64) float64 { return m.profile.Alpha + n*m.perRequest }

func (m *llmdV2) prefill(n float64) float64 {
	if m.in == 0 {
		return 0
	}
	return m.iteration(n) + m.prompt
}

func (m *llmdV2) itlAt(n float64) float64 { return m.iteration(n) + m.step }

func (m *llmdV2) serviceTime(n int) float64 {
	return m.prefill(float64(n)) + m.out*m.itlAt(float64(n))
}

func (m *llmdV2) times(running, service float64) times {
	prefill := m.prefill(running)
	itl := max((service-prefill)/m.out, 0)
	return times{prefill: prefill, first: prefill + itl, itl: itl}
}
