package queueing

import "strconv"

// Metric is what a [Limit] limits.
type Metric int

const (
	// TTFT is the time to first token.
	TTFT Metric = iota
	// ITL is the inter-token latency.
	ITL
	// E2E is the time from arrival to the last token.
	E2E
	// TokensPerSecond is the rate at which one request receives its tokens; its
	// limit is a lower one.
	TokensPerSecond
)

// String returns the metric as problem files name it: "ttft", "itl", "e2e" or
// "tokensPerSecond".
func (m Metric) String() string {
	switch m {
	case TTFT:
		return "ttft"
	case ITL:
		return "itl"
	case E2E:
		return "e2e"
	case TokensPerSecond:
		return "tokensPerSecond"
	}
	return "Metric(" + strconv.Itoa(int(m)) + ")"
}

// Limit is one limit of an SLO.
type Limit struct {
	Metric Metric
	// Quantile is the share of requests that must keep the limit, in (0, 1);
	// 0 means the mean over requests.
	Quantile float64
	// Value is in seconds, or in tokens per second for TokensPerSecond; > 0.
	Value float64
}

// String names what is limited: "ttft.p95", "itl.mean", "ttft.p99.9". The mean of
// tokens per second is just "tokensPerSecond".
func (l Limit) String() string {
	switch {
	case l.Quantile != 0:
		return l.Metric.String() + ".p" + strconv.FormatFloat(100*l.Quantile, 'g', 12, 64)
	case l.Metric == TokensPerSecond:
		return l.Metric.String()
	}
	return l.Metric.String() + ".mean"
}

// SLO is a service level objective: at most 64 limits that hold together. The zero
// value limits nothing but stability.
type SLO struct {
	Limits []Limit
}
