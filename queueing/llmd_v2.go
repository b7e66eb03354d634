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
type llmdV2 struct{ llmd }

func newLLMDV2(r Replica, s Shape) llmdV2 { return llmdV2{newLLMD(r, s)} }

func (m llmdV2) context() float64 { return m.in + m.out/2 }

func (m llmdV2) iteration(n float64) float64 {
	perRequest := m.profile.Beta*(m.in+m.out)/(m.out+1) + m.profile.Gamma*m.context()
	return m.profile.Alpha + n*perRequest
}

func (m llmdV2) prefill(n float64) float64 {
	if m.in == 0 {
		return 0
	}
	return m.iteration(n) + (m.profile.Beta+m.profile.Gamma)*m.in
}

func (m llmdV2) itlAt(n float64) float64 {
	return m.iteration(n) + m.profile.Beta + m.profile.Gamma*m.context()
}

func (m llmdV2) serviceTime(n int) float64 {
	return m.prefill(float64(n)) + m.out*m.itlAt(float64(n))
}

func (m llmdV2) latencies(s steadyState) latencies {
	prefill := m.prefill(s.running)
	itl := max((s.service-prefill)/m.out, 0)
	return m.assemble(s, prefill, prefill+itl, itl, m.itlAt)
}
