package queueing

import "strconv"

// Outcome says whether a replica has a steady state.
type Outcome int

const (
	// Steady: the means and quantiles are those of the steady state.
	Steady Outcome = iota
	// Saturated: arrivals reach or exceed what the replica serves and waiting is
	// unlimited, so latency grows without limit. Queued, Wait, TTFT and E2E are +Inf;
	// the others are those of a full batch.
	Saturated
	// Unservable: not even one request fits the replica, see Capacity.Unservable.
	// Every latency is +Inf.
	Unservable
)

// String returns the outcome in lower case.
func (o Outcome) String() string {
	switch o {
	case Steady:
		return "steady"
	case Saturated:
		return "saturated"
	case Unservable:
		return "unservable"
	}
	return "Outcome(" + strconv.Itoa(int(o)) + ")"
}

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
	// Utilization is the mean number of running requests over Station.BatchLimit.
	Utilization float64
	// Running and Queued are mean numbers of requests in the batch and waiting for it.
	Running, Queued float64
	// EmptyProbability is the share of time without any request.
	EmptyProbability float64
	// Service is the mean time from the start of prefill to the last token.
	Service Seconds
	// Prefill is the mean time of a prefill, including interference.
	Prefill Seconds
	// Wait, TTFT, ITL and E2E are distributions over accepted requests: the time
	// until a place in the batch is free, until the first token, the mean time
	// between the tokens of one request, and until the last token.
	Wait, TTFT, ITL, E2E Latency
}

// Capacity is the highest arrival rate of a replica inside an SLO.
type Capacity struct {
	// Feasible is false when no arrival rate holds every limit. Rate is 0 then, and
	// either Binding is a limit that never holds or Unservable says why.
	Feasible bool
	// Unservable says why not even one request can be served, whatever the SLO;
	// empty if it can.
	Unservable string
	// Rate is the arrival rate per replica, at most 0.999·μ(B).
	Rate Rate
	// Served is the throughput at Rate: less than Rate where requests are blocked.
	Served Rate
	// SaturationRate is μ(B).
	SaturationRate Rate
	// Bound tells whether a limit of the SLO binds; false means that saturation does.
	Bound bool
	// Binding is the limit that binds, or that can't hold.
	Binding Limit
	// Best is the best value that Binding can reach, at vanishing load, over
	// accepted requests. Only when not Feasible and Bound.
	Best float64
}
