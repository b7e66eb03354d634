package study

import "time"

// Result is what became of a fleet under each autoscaler.
type Result struct {
	// Name of the simulation.
	Name string
	// Duration is the time that counts, Warmup the time before it.
	Duration, Warmup time.Duration
	// Window is the length of the windows of all series.
	Window time.Duration
	// Seeds in the order of the runs.
	Seeds []uint64
	// Autoscalers in the order of the configuration.
	Autoscalers []AutoscalerResult
	// Demand of each workload, of the first seed.
	Demand []DemandSeries
	// HindsightCost is the least that any autoscaler could have paid, in the currency of the
	// fleet, per seed; nil where it is not known.
	HindsightCost []float64
}

// AutoscalerResult is what one autoscaler, in one setting, made of the fleet.
type AutoscalerResult struct {
	// Name, unique in the result.
	Name string
	// Cost is the price of all replicas for the time that they held devices, in the currency
	// of the fleet, DeviceHours devices × hours.
	Cost, DeviceHours Estimate
	// Attainment is the share of requests within the SLO, of all that arrived, in [0, 1].
	Attainment Estimate
	// UnmetRequests are those that were rejected, timed out or were not done at the end.
	UnmetRequests Estimate
	// ScaleEvents is how often the number of replicas of a variant was changed.
	ScaleEvents Estimate
	// Regret is the cost beyond the hindsight bound, as a share of it; nil where there is no
	// bound, or a bound of 0.
	Regret *Estimate
	// Classes and Workloads are the parts, classes by name, workloads in their order.
	Classes   []ClassResult
	Workloads []WorkloadResult
	// Runs are the seeds in their order.
	Runs []SimulationRun
	// Replicas, Latencies and CostPerHour have the windows of the first seed.
	Replicas    []ReplicaSeries
	Latencies   []LatencySeries
	CostPerHour []float64
}

// ClassResult is what became of the requests of one service class.
type ClassResult struct {
	// ServiceClass as workloads name it; "" is that of workloads without.
	ServiceClass string
	// Requests that arrived, the mean over seeds.
	Requests float64
	// Attainment is the share of them within the SLO, in [0, 1].
	Attainment Estimate
	// UnmetRequests are those that were rejected, timed out or were not done at the end.
	UnmetRequests Estimate
	// Objective is the highest of its workloads' objectives; 0 without an SLO.
	Objective float64
}

// WorkloadResult is what became of the requests of one workload.
type WorkloadResult struct {
	// Workload is its qualified name.
	Workload string
	// ServiceClass as the workload names it.
	ServiceClass string
	// Requests that arrived, the mean over seeds.
	Requests float64
	// Attainment is the share of them within the SLO, in [0, 1].
	Attainment Estimate
	// UnmetRequests are those that were rejected, timed out or were not done at the end.
	UnmetRequests Estimate
	// TTFT is of the requests that ended, waiting included; ITL is of the mean inter-token
	// latency of each of them that has several tokens.
	TTFT, ITL LatencyEstimate
	// Objective is the share of requests that must be within the SLO: the highest of its
	// quantiles, or 0.99 where it has only means. 0 without an SLO.
	Objective float64
}

// LatencyEstimate is the distribution of a latency over requests, in seconds.
type LatencyEstimate struct {
	Mean, P50, P95, P99 Estimate
	// Limit is what the SLO allows a request; 0 = anything.
	Limit float64
}

// SimulationRun is one seed under one autoscaler.
type SimulationRun struct {
	Seed uint64
	// Cost in the currency of the fleet; DeviceHours are devices × hours.
	Cost, DeviceHours float64
	// Attainment is the share of requests within the SLO, in [0, 1].
	Attainment float64
	// Requests that arrived, UnmetRequests those of them that were rejected, timed out or
	// were not done at the end.
	Requests, UnmetRequests int64
	// ScaleEvents is how often the number of replicas of a variant was changed.
	ScaleEvents int64
	// Processor is the time that the run took. It alone differs between equal runs.
	Processor time.Duration
}

// DemandSeries is what arrived for a workload, window by window.
type DemandSeries struct {
	Workload string
	// ArrivalRate in requests/s.
	ArrivalRate []float64
}

// ReplicaSeries is replicas of a variant, window by window.
type ReplicaSeries struct {
	Workload, Variant, Accelerator string
	// Serving is the replicas that serve, Paid those that hold devices, each the mean over
	// the window.
	Serving, Paid []float64
	// DevicesPerReplica is ≥ 1.
	DevicesPerReplica int
	// Capacity is what one replica sustains within the SLO, in requests/s, as the
	// performance model sees it at the lengths of the load; 0 where it does not know.
	Capacity float64
}

// LatencySeries is the latency of the requests of a workload that ended in a window, in
// seconds. A window without any has NaN.
type LatencySeries struct {
	Workload                   string
	TTFTMean, TTFTP95, ITLMean []float64
	// Attainment is the share of the requests that arrived in the window which are within
	// the SLO; NaN where none arrived.
	Attainment []float64
}
