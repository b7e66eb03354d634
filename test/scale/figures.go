package scale

// Figures are what the loop took over a fleet in which the demand of a tenth of the workloads
// grows, on the mean of the cycles until it was served. The test writes them as JSON where -figures
// says.
type Figures struct {
	// Workloads have three variants each.
	Workloads int
	Cycles    float64
	// Seconds of a cycle, and of its stages.
	Seconds float64
	Stages  map[string]float64
	// Longest is that of the longest cycle, the first one included, in seconds.
	Longest float64
	// Queries of Prometheus and Requests to the API server, of a cycle.
	Queries, Requests float64
	// PeakBytes is the most memory that the program has taken.
	PeakBytes uint64
	// Versions are those of the API server and of Prometheus.
	Versions []string
}
