package queueing

// llmdV0 is the first model of the family: α and β only,
//
//	τ(n) = out·(α + β·n)   ITL = S/out
//
// with at most 10·B requests inside, whatever the replica's waiting places. It has
// no prefill. Its limit on the time to first token is one on the wait, whose
// distribution it takes as exponential: the quantile q is -ln(1-q) times the mean.
type llmdV0 struct{ llmdParameters }

func newLLMDV0(r Replica, s Shape) *llmdV0 { return &llmdV0{newLLMDParameters(r, s)} }

func (m *llmdV0) serviceTime(n int) float64 { return m.out * m.itlAt(float64(n)) }

func (m *llmdV0) itlAt(n float64) float64 { return m.profile.Alpha + m.profile.Beta*n }

func (m *llmdV0) times(_, service float64) times { return times{itl: service / m.out} }

// llmdWaiting is the family before it knew a prefill.
type llmdWaiting struct{ *llmd }

func (m llmdWaiting) sojourn(o occupancy) sojourn {
	s := m.llmd.sojourn(o)
	s.memoryless = true
	return s
}

// sizing counts accepted requests only, as the family does.
func (m llmdWaiting) sizing() sizing {
	rules := m.llmd.sizing()
	rules.acceptedOnly = true
	return rules
}
