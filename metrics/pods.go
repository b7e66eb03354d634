package metrics

import "time"

// Pod is one that reports metrics of its replica: its leader, or its entry, or each of them
// where a replica has several.
type Pod struct {
	// Name is unique in the namespace of the workload.
	Name string
	// Variant of the workload.
	Variant string
	// Address is its IP address or the name of its host; empty = it has none yet.
	Address string
	// Ready pods serve. Others are not asked.
	Ready bool
	// Started is when the container started that reports: its counters were 0 then. Zero =
	// not known, and counters count from the first time that they are seen.
	Started time.Time
}

// Pods knows the pods of a workload's replicas, by the workload's qualified name. Whoever
// knows the fleet implements it.
type Pods interface {
	Pods(workload string) []Pod
}

// Scrape says how the pods of a workload are asked for their metrics.
type Scrape struct {
	// Port in [1, 65535]; 0 = 8100, as in Kthena.
	Port int
	// Path begins with a slash; empty = /metrics.
	Path string
}

// Where pods of Kthena report.
const (
	defaultPort = 8100
	defaultPath = "/metrics"
	mostPort    = 65535
)
