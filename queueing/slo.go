package queueing

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

// Limit is one limit of an SLO.
type Limit struct {
	Metric Metric
	// Quantile is the share of requests that must keep the limit, in (0, 1);
	// 0 means the mean over requests.
	Quantile float64
	// Value is in seconds, or in tokens per second for TokensPerSecond; > 0.
	Value float64
}

// SLO is a service level objective: limits that hold together. The zero value
// limits nothing but stability.
type SLO struct {
	Limits []Limit
}
