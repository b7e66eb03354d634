package message

import (
	"math"

	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/study"
)

// SimulationResult translates what became of a fleet under each autoscaler. What has no value
// is absent, but in series, where it is NaN.
func SimulationResult(r *study.Result) *poolwrightv1.SimulationResult {
	m := &poolwrightv1.SimulationResult{
		Name: r.Name, Duration: durationpb.New(r.Duration), Warmup: durationpb.New(r.Warmup), Window: durationpb.New(r.Window),
		Seeds: r.Seeds, HindsightCost: r.HindsightCost,
	}
	for i := range r.Autoscalers {
		m.Autoscalers = append(m.Autoscalers, autoscalerResult(&r.Autoscalers[i]))
	}
	for _, d := range r.Demand {
		m.Demand = append(m.Demand, &poolwrightv1.DemandSeries{Workload: d.Workload, ArrivalRate: d.ArrivalRate})
	}
	return m
}

func autoscalerResult(r *study.AutoscalerResult) *poolwrightv1.AutoscalerResult {
	m := &poolwrightv1.AutoscalerResult{
		Name: r.Name, Cost: meanOverSeeds(r.Cost), DeviceHours: meanOverSeeds(r.DeviceHours), Attainment: meanOverSeeds(r.Attainment),
		UnmetRequests: meanOverSeeds(r.UnmetRequests), ScaleEvents: meanOverSeeds(r.ScaleEvents), CostPerHour: r.CostPerHour,
	}
	if r.Regret != nil {
		m.Regret = meanOverSeeds(*r.Regret)
	}
	for _, c := range r.Classes {
		m.Classes = append(m.Classes, &poolwrightv1.ClassResult{
			ServiceClass: c.ServiceClass, Requests: c.Requests, Attainment: meanOverSeeds(c.Attainment),
			UnmetRequests: meanOverSeeds(c.UnmetRequests), Objective: positive(c.Objective),
		})
	}
	for _, w := range r.Workloads {
		m.Workloads = append(m.Workloads, &poolwrightv1.WorkloadResult{
			Workload: w.Workload, ServiceClass: w.ServiceClass, Requests: w.Requests, Attainment: meanOverSeeds(w.Attainment),
			UnmetRequests: meanOverSeeds(w.UnmetRequests), Ttft: latencyEstimate(&w.TTFT), Itl: latencyEstimate(&w.ITL),
			Objective: positive(w.Objective),
		})
	}
	for _, run := range r.Runs {
		m.Runs = append(m.Runs, &poolwrightv1.SimulationRun{
			Seed: run.Seed, Cost: run.Cost, DeviceHours: run.DeviceHours, Attainment: finite(run.Attainment),
			Requests: run.Requests, UnmetRequests: run.UnmetRequests, ScaleEvents: run.ScaleEvents,
			ProcessorSeconds: run.Processor.Seconds(),
		})
	}
	addSeries(m, r)
	return m
}

func addSeries(m *poolwrightv1.AutoscalerResult, r *study.AutoscalerResult) {
	for _, s := range r.Replicas {
		m.Replicas = append(m.Replicas, &poolwrightv1.ReplicaSeries{
			Workload: s.Workload, Variant: s.Variant, Accelerator: s.Accelerator, Serving: s.Serving, Paid: s.Paid,
			DevicesPerReplica: count(s.DevicesPerReplica), CapacityRps: positive(s.Capacity),
		})
	}
	for _, s := range r.Latencies {
		m.Latencies = append(m.Latencies, &poolwrightv1.LatencySeries{
			Workload: s.Workload, TtftMean: s.TTFTMean, TtftP95: s.TTFTP95, ItlMean: s.ITLMean, Attainment: s.Attainment,
		})
	}
}

func latencyEstimate(l *study.LatencyEstimate) *poolwrightv1.LatencyEstimate {
	return &poolwrightv1.LatencyEstimate{
		Mean: meanOverSeeds(l.Mean), P50: meanOverSeeds(l.P50), P95: meanOverSeeds(l.P95), P99: meanOverSeeds(l.P99),
		Limit: positive(l.Limit),
	}
}

// meanOverSeeds is nil where no seed has a value.
func meanOverSeeds(e study.Estimate) *poolwrightv1.Estimate {
	if math.IsNaN(e.Mean) {
		return nil
	}
	return &poolwrightv1.Estimate{Mean: e.Mean, Lower: finite(e.Lower), Upper: finite(e.Upper)}
}

// positive is a value that is absent where it is 0.
func positive(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}
