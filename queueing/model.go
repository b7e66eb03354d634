package queueing

import "math"

// model is what a service model knows beyond the chain: how long a request takes
// while n run together, and which latencies follow from the state of the chain.
// Implementations are values that no method changes.
type model interface {
	// serviceTime returns τ(n), the time in the batch of one request while n run
	// together all the time, for n = 1 … B.
	serviceTime(n int) float64
	// sojourn returns the stages of a request in a steady state.
	sojourn(o occupancy) sojourn
	// means returns the means of its latencies, for less where that is possible.
	means(o occupancy) means
	// sizing returns the rules by which capacity is found.
	sizing() sizing
}

// means are the means of latencies.
type means struct{ ttft, itl, e2e float64 }

// of returns the mean that a metric is about: for tokens per second that of its
// reciprocal.
func (m *means) of(metric Metric) float64 {
	switch metric {
	case TTFT:
		return m.ttft
	case E2E:
		return m.e2e
	default:
		return m.itl
	}
}

// sizing are the rules by which the capacity of a model is found.
type sizing struct {
	// leastLoad is the least arrival rate considered, as a share of μ(1).
	leastLoad float64
	// tokenRateLoad, if positive, is the share of the highest rate that any limit
	// on tokens per second stands for.
	tokenRateLoad float64
	// acceptedOnly: a quantile is over accepted requests. Otherwise a blocked
	// request counts as one that misses its limit.
	acceptedOnly bool
}

// mostLoad is the highest load, as a share of μ(B), at which a replica counts as
// stable. At μ(B) itself unlimited waiting has no steady state.
const mostLoad = 0.999

// structure is what a service model makes of a replica and a load shape.
type structure struct {
	model model
	// batch is how many requests the chain counts as running at most, places how
	// many wait at most (+Inf: unlimited).
	batch  int
	places float64
}

// newStructure returns the structure of a valid replica that one request fits.
func newStructure(r Replica, s Shape) structure {
	places := math.Inf(1)
	if r.MaxQueue.Limited {
		places = float64(r.MaxQueue.Places)
	}
	st := structure{batch: r.MaxBatch, places: places}
	switch r.Model {
	case LLMDV0:
		// Ten times the batch limit inside, running requests included.
		st.places = 9 * float64(r.MaxBatch)
		st.model = llmdWaiting{newLLMD(newLLMDV0(r, s), r, s)}
	case LLMDV1:
		st.model = newLLMD(newLLMDV1(r, s), r, s)
	case LLMDV2:
		st.model = newLLMD(newLLMDV2(r, s), r, s)
	case LLMDV3:
		st.model = newLLMD(newLLMDV3(r, s), r, s)
	default:
		m := newContinuousBatching(r, s)
		st.model = m
		st.batch = m.states()
		// Requests that the token budget holds back keep their place in the batch.
		st.places += float64(m.batch - st.batch)
	}
	return st
}
