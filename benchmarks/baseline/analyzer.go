package baseline

import "fmt"

const (
	// margin keeps rates inside μ(1) and μ(B) by that share.
	margin = 0.001
	// tokenRateShare of the highest rate is what any target in tokens per second means.
	tokenRateShare = 0.9
	// perSecond converts rates per millisecond.
	perSecond = 1000
)

// Analyzer predicts the performance of one replica. It is not safe for concurrent
// use: each evaluation overwrites the state probabilities.
type Analyzer struct {
	replica     Replica
	chain       chain
	least, most float32
}

// Metrics is the performance of a replica at one arrival rate.
type Metrics struct {
	// Throughput is in accepted requests per second.
	Throughput float32
	// Response, Wait, Prefill, ITL and TTFT are means.
	Response, Wait, Prefill, ITL, TTFT float32
	// Running is the mean number of requests in the batch.
	Running float32
	// Utilization is Running over the batch limit, in [0, 1].
	Utilization float32
}

// Targets are limits on means; 0 is no limit. TTFT and ITL are in milliseconds, TPS
// is in tokens per second and only its being set counts.
type Targets struct{ TTFT, ITL, TPS float32 }

// Sizing is the highest rate per target, in requests per second, and the
// performance at the lowest of them.
type Sizing struct {
	TTFT, ITL, TPS float32
	// Rate is the lowest of the three.
	Rate    float32
	Metrics Metrics
}

// New prepares a replica. Its state probabilities take 8 bytes per place in batch
// and queue.
func New(r Replica) (*Analyzer, error) {
	if r.MaxBatch < 1 || r.MaxQueue < 0 || r.In < 0 || r.Out < 1 {
		return nil, fmt.Errorf("baseline: replica out of range: %+v", r)
	}
	if r.capacity() < 2 {
		return nil, fmt.Errorf("baseline: a replica with %d place: the family needs two", r.capacity())
	}
	a := &Analyzer{replica: r, chain: newChain(&r)}
	a.least = a.chain.rate[0] * margin
	a.most = a.chain.rate[r.MaxBatch-1] * (1 - margin)
	return a, nil
}

// MaxRate returns the highest rate that sizing considers, in requests per second.
func (a *Analyzer) MaxRate() float32 { return a.most * perSecond }

// Analyze returns the performance at a rate in requests per second. V1 and V2 take
// rates up to MaxRate only, like the family.
func (a *Analyzer) Analyze(rate float32) (Metrics, error) {
	if !(rate > 0) {
		return Metrics{}, fmt.Errorf("baseline: rate %v is not positive", rate)
	}
	if m := a.replica.Model; (m == V1 || m == V2) && rate > a.MaxRate() {
		return Metrics{}, fmt.Errorf("baseline: rate %v > %v", rate, a.MaxRate())
	}
	return a.at(rate / perSecond), nil
}

// at returns the performance at a rate per millisecond.
func (a *Analyzer) at(arrivals float32) Metrics {
	s := a.chain.solve(arrivals)
	m := Metrics{
		Throughput:  s.throughput * perSecond,
		Response:    s.response,
		Wait:        s.wait,
		Running:     s.running,
		Utilization: min(max(s.running/float32(a.replica.MaxBatch), 0), 1),
	}
	m.Prefill, m.ITL, m.TTFT = a.replica.latencies(s)
	return m
}

// Size returns the highest rates at which the targets are met.
func (a *Analyzer) Size(t Targets) (Sizing, error) {
	ttft, itl, tps := a.most, a.most, a.most
	var err error
	if t.TTFT > 0 {
		ttft, err = search(a.least, a.most, t.TTFT, func(x float32) float32 { return a.at(x).TTFT })
		if err != nil {
			return Sizing{}, fmt.Errorf("baseline: TTFT of %v ms: %w", t.TTFT, err)
		}
	}
	if t.ITL > 0 {
		itl, err = search(a.least, a.most, t.ITL, func(x float32) float32 { return a.at(x).ITL })
		if err != nil {
			return Sizing{}, fmt.Errorf("baseline: ITL of %v ms: %w", t.ITL, err)
		}
	}
	if t.TPS > 0 {
		tps = a.most * tokenRateShare
	}
	rate := min(ttft, itl, tps) * perSecond
	metrics, err := a.Analyze(rate)
	if err != nil {
		return Sizing{}, err
	}
	return Sizing{
		TTFT: ttft * perSecond, ITL: itl * perSecond, TPS: tps * perSecond,
		Rate: rate, Metrics: metrics,
	}, nil
}
