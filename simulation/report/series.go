package report

import (
	"io"
	"math"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// SeriesCSV writes a row for each autoscaler, workload and window of the first seed, below
// the names of the columns. Replicas and devices are those of all variants of the workload
// together, and the capacity is that of the replicas that serve; it is empty where that of
// one of them is not known, and so is whatever else is not known.
func SeriesCSV(w io.Writer, r *poolwrightv1.SimulationResult) error {
	t := newTable(w)
	t.row([]string{
		"autoscaler", "workload", "window_start_seconds", "arrival_rate_rps", "capacity_rps", "serving_replicas", "paid_devices",
		"ttft_mean_seconds", "ttft_p95_seconds", "itl_mean_seconds", "attainment",
	})
	start, window := r.GetWarmup().AsDuration().Seconds(), r.GetWindow().AsDuration().Seconds()
	for _, a := range r.GetAutoscalers() {
		latencies := make(map[string]*poolwrightv1.LatencySeries, len(a.GetLatencies()))
		for _, l := range a.GetLatencies() {
			latencies[l.GetWorkload()] = l
		}
		for _, demand := range r.GetDemand() {
			l := latencies[demand.GetWorkload()]
			for i, rate := range demand.GetArrivalRate() {
				replicas, devices, capacity := inWindow(a.GetReplicas(), demand.GetWorkload(), i)
				t.row([]string{
					a.GetName(), demand.GetWorkload(), number(start + float64(i)*window), number(rate), number(capacity), number(replicas), number(devices),
					at(l.GetTtftMean(), i), at(l.GetTtftP95(), i), at(l.GetItlMean(), i), at(l.GetAttainment(), i),
				})
			}
		}
	}
	return t.end()
}

// inWindow sums over the variants of a workload; the capacity is NaN where it is not known.
func inWindow(of []*poolwrightv1.ReplicaSeries, workload string, i int) (replicas, devices, capacity float64) {
	for _, s := range of {
		if s.GetWorkload() != workload || i >= len(s.GetServing()) || i >= len(s.GetPaid()) {
			continue
		}
		serving := s.GetServing()[i]
		replicas += serving
		devices += s.GetPaid()[i] * float64(s.GetDevicesPerReplica())
		switch {
		case s.CapacityRps != nil:
			capacity += serving * s.GetCapacityRps()
		case serving > 0:
			capacity = math.NaN()
		}
	}
	return replicas, devices, capacity
}

// at is empty where there is no such window.
func at(series []float64, i int) string {
	if i >= len(series) {
		return ""
	}
	return number(series[i])
}
