package queueing

import (
	"errors"
	"fmt"
	"math"
)

// leastServiceTime is the shortest valid time in service, in seconds.
const leastServiceTime = 1e-12

// Station is one replica under load of one shape, prepared for questions about any
// arrival rate. It is immutable; its methods may be called concurrently and
// allocate nothing.
type Station struct {
	chain  chain
	model  model
	sizing sizing
	// unservable says why not even one request can be served; empty if it can.
	unservable string
}

// NewStation prepares a replica for a shape, in time proportional to MaxBatch. The
// error joins one error for each field that is out of its range.
func NewStation(r Replica, s Shape) (*Station, error) {
	var v violations
	r.validate(&v)
	s.validate(&v)
	if len(v) > 0 {
		return nil, errors.Join(v...)
	}
	if need := s.InputTokens + s.OutputTokens; r.limitsKVCache() && r.KVCacheTokens < need {
		return &Station{unservable: fmt.Sprintf(
			"a request of %.6g tokens does not fit a KV cache of %.6g tokens", need, r.KVCacheTokens)}, nil
	}
	st := newStructure(r, s)
	if least := st.model.serviceTime(1); least < leastServiceTime {
		return nil, fmt.Errorf("queueing: profile: a request takes %g s with these coefficients, want at least %g s",
			least, leastServiceTime)
	}
	return &Station{
		chain:  newChain(st.batch, st.places, st.model.serviceTime),
		model:  st.model,
		sizing: st.model.sizing(),
	}, nil
}

// limitsKVCache tells whether the size of the KV cache counts; the llm-d family
// does not know it.
func (r *Replica) limitsKVCache() bool {
	return r.Model == ContinuousBatching && r.KVCacheTokens > 0
}

// blocks tells whether requests may find no place.
func (s *Station) blocks() bool { return !math.IsInf(s.chain.places, 1) }

// SaturationRate returns μ(B), the arrival rate from which on unlimited waiting has
// no steady state; 0 if not even one request fits.
func (s *Station) SaturationRate() Rate {
	if s.unservable != "" {
		return 0
	}
	return Rate(s.chain.saturation())
}

// BatchLimit returns the most requests that make progress together: MaxBatch or
// less, where the KV cache or the token budget limits it; 0 if not even one
// request fits.
func (s *Station) BatchLimit() int {
	if s.unservable != "" {
		return 0
	}
	return s.chain.batch()
}

// Evaluate returns the steady state at an arrival rate. A rate that is not
// positive, NaN included, is taken as no load. The time taken is proportional to
// MaxBatch at most and does not depend on the number of waiting places.
func (s *Station) Evaluate(rate Rate) (p Performance) {
	if s.unservable != "" {
		never := endless()
		return Performance{
			Outcome: Unservable,
			Service: Seconds(math.Inf(1)), Prefill: Seconds(math.Inf(1)),
			Wait: never, TTFT: never, ITL: never, E2E: never,
		}
	}
	if s.chain.saturated(float64(rate)) {
		return s.saturation()
	}
	var state steadyState
	s.chain.solve(float64(rate), &state)
	stages := s.model.sojourn(state.occupancy)
	// Field by field, because a composite literal is built elsewhere and copied.
	p.Outcome = Steady
	p.Throughput = Rate(state.throughput)
	p.SaturationRate = s.SaturationRate()
	p.BlockedShare = state.blocked
	p.Utilization = state.running / float64(s.chain.batch())
	p.Running = state.running
	p.Queued = state.throughput * stages.wait.overall()
	p.EmptyProbability = state.empty
	p.Service = Seconds(state.service)
	p.Prefill = Seconds(stages.prefill)
	p.Wait.setAfterWait(&stages.wait, duration{})
	stages.setLatency(&p.TTFT, TTFT)
	stages.setLatency(&p.ITL, ITL)
	stages.setLatency(&p.E2E, E2E)
	return p
}

// saturation returns the performance with a full batch and an endless queue.
func (s *Station) saturation() Performance {
	full := occupancy{
		throughput: s.chain.saturation(),
		running:    float64(s.chain.batch()),
		service:    float64(s.chain.batch()) / s.chain.saturation(),
	}
	stages := s.model.sojourn(full)
	p := Performance{
		Outcome:        Saturated,
		Throughput:     s.SaturationRate(),
		SaturationRate: s.SaturationRate(),
		Utilization:    1,
		Running:        full.running,
		Queued:         math.Inf(1),
		Service:        Seconds(full.service),
		Prefill:        Seconds(stages.prefill),
		Wait:           endless(),
		TTFT:           endless(),
		E2E:            endless(),
	}
	stages.setLatency(&p.ITL, ITL)
	return p
}
