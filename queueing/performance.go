package queueing

// Outcome says whether a replica has a steady state.
type Outcome int

const (
	// Steady: the means and quantiles are those of the steady state.
	Steady Outcome = iota
	// Saturated: arrivals reach or exceed what the replica serves and waiting is
	// unlimited, so latency grows without limit. Only SaturationRate, Throughput
	// and Utilization mean anything.
	Saturated
)

// Performance is the steady state of one replica at one arrival rate.
type Performance struct {
	Outcome Outcome
	// Throughput is the rate of accepted and completed requests.
	Throughput Rate
	// SaturationRate is the arrival rate from which on there is no steady state
	// with unlimited waiting: μ(B).
	SaturationRate Rate
	// BlockedShare is the share of arrivals that find every place taken.
	BlockedShare float64
	// Utilization is the mean number of running requests over the batch limit.
	Utilization float64
	// Running and Queued are mean numbers of requests.
	Running, Queued float64
	// EmptyProbability is the share of time without any request.
	EmptyProbability float64
	// Service is the mean time from the start of prefill to the last token.
	Service Seconds
	// Prefill is the mean time of a prefill, including interference.
	Prefill Seconds
	// Wait, TTFT, ITL and E2E are distributions over accepted requests.
	Wait, TTFT, ITL, E2E Latency
}

// Capacity is the highest arrival rate of a replica inside an SLO.
type Capacity struct {
	// Feasible is false when no arrival rate holds every limit. Rate is 0 then and
	// Binding is a limit that never holds.
	Feasible bool
	// Rate is the arrival rate per replica.
	Rate Rate
	// Served is the throughput at Rate: less than Rate where requests are blocked.
	Served Rate
	// SaturationRate is μ(B).
	SaturationRate Rate
	// Bound tells whether a limit of the SLO binds; false means that saturation does.
	Bound bool
	// Binding is the limit that binds, or that can't hold.
	Binding Limit
	// Best is the best value that Binding can reach, at vanishing load. Only when
	// not Feasible.
	Best float64
}
