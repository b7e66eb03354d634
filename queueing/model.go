package queueing

import "math"

// model is what a service model knows beyond the chain: how long a request takes
// while n run together, and which latencies follow from the state of the chain.
// Implementations are values that no method changes.
type model interface {
	// serviceTime returns τ(n), the time in the batch of one request while n run
	// together all the time, for n = 1 … B.
	serviceTime(n int) float64
	// latencies returns the latencies in a steady state.
	latencies(s steadyState) latencies
	// sizing returns the rules by which capacity is found.
	sizing() sizing
}

// latencies are the distributions that a model derives from a steady state. The
// wait is that of the chain or as corrected by the model.
type latencies struct {
	prefill              float64
	wait, ttft, itl, e2e Latency
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
		st.model = newLLMDV0(r, s)
	case LLMDV1:
		st.model = newLLMDV1(r, s)
	case LLMDV2:
		st.model = newLLMDV2(r, s)
	case LLMDV3:
		st.model = newLLMDV3(r, s)
	default:
		m := newContinuousBatching(r, s)
		st.model = m
		st.batch = m.states()
		// Requests that the token budget holds back keep their place in the batch.
		st.places += float64(m.batch - st.batch)
	}
	return st
}

// itlVariation is the ratio of the variance of one request's mean batch to the
// variance of the batch at one moment. The number of requests inside a system
// with independent exponential stays correlates as e^{-t/S}; its mean over a
// stay of length S varies 2/e times as much as its value.
const itlVariation = 2 / math.E

// itlLatency spreads a mean ITL over requests: by how itlAt, the ITL at a batch,
// differs one standard deviation of the batch to both sides. batch is the limit.
func itlLatency(s steadyState, mean, batch float64, itlAt func(n float64) float64) Latency {
	least := min(itlAt(min(1, batch)), mean)
	if s.running == 0 {
		return fixedLatency(mean)
	}
	// Weighted by the requests inside, the mean batch is E[n²]/E[n].
	typical := s.running + s.runningVariance/s.running
	deviation := math.Sqrt(s.runningVariance)
	lower := min(max(typical-deviation, 1), batch)
	upper := min(max(typical+deviation, 1), batch)
	half := (itlAt(upper) - itlAt(lower)) / 2
	return varyingLatency(duration{least, mean - least, itlVariation * half * half})
}
