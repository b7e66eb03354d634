package web

import (
	"fmt"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

const (
	windows = 1440
	minute  = 60
)

// day is a result of a day with ten autoscalers: as large as results commonly are, and like
// one, with demand that rises and falls and autoscalers that follow it later or sooner.
func day() *poolwrightv1.SimulationResult {
	names := []string{
		"poolwright", "hpa queue", "hpa kv", "hpa concurrency", "kpa", "kthena", "kthena mixed", "saturation", "inferno", "static peak",
	}
	result := &poolwrightv1.SimulationResult{
		Name: "A day of chat, code and batch", Duration: &durationpb.Duration{Seconds: windows * minute},
		Window: &durationpb.Duration{Seconds: minute}, Seeds: []uint64{1, 2, 3}, HindsightCost: []float64{702.1, 704.8, 699.2},
	}
	random := rand.New(rand.NewPCG(1, 2))
	demand := map[string][]float64{}
	for i, name := range dayWorkloads() {
		rates := make([]float64, windows)
		for k := range rates {
			hour := float64(k) / 60
			rates[k] = float64(8*(3-i)) * (1.2 + math.Sin((hour-9-float64(i))/24*2*math.Pi) + 0.05*random.NormFloat64())
		}
		demand[name] = rates
		result.Demand = append(result.Demand, &poolwrightv1.DemandSeries{Workload: name, ArrivalRate: rates})
	}
	for i, name := range names {
		result.Autoscalers = append(result.Autoscalers, dayUnder(name, i, demand, random))
	}
	return result
}

func dayWorkloads() []string { return []string{"prod/chat", "prod/code", "batch/summaries"} }

// dayUnder is a day under the autoscaler with an index, which follows demand that much later.
func dayUnder(name string, index int, demand map[string][]float64, random *rand.Rand) *poolwrightv1.AutoscalerResult {
	estimate := func(mean, half float64) *poolwrightv1.Estimate {
		lower, upper := mean-half, mean+half
		return &poolwrightv1.Estimate{Mean: mean, Lower: &lower, Upper: &upper}
	}
	a := &poolwrightv1.AutoscalerResult{Name: name, CostPerHour: make([]float64, windows)}
	late, spare, attained := 3*index, 1.15+0.06*float64(index), 0.9975-0.004*float64(index)
	var paid float64
	for i, workload := range dayWorkloads() {
		latencies := &poolwrightv1.LatencySeries{Workload: workload}
		series := []*poolwrightv1.ReplicaSeries{}
		for k, accelerator := range []string{"H100", "A100"} {
			capacity := []float64{6.5, 2.6}[k]
			s := &poolwrightv1.ReplicaSeries{
				Workload: workload, Variant: fmt.Sprintf("v-%s", accelerator), Accelerator: accelerator,
				DevicesPerReplica: int32(k + 1), CapacityRps: &capacity,
			}
			for t := range windows {
				serving := math.Ceil(spare * demand[workload][max(0, t-late)] / 2 / capacity)
				s.Serving, s.Paid = append(s.Serving, serving), append(s.Paid, serving+float64(t/60%2))
				price := s.Paid[t] * float64(k+1) * []float64{3.9, 2.1}[k]
				a.CostPerHour[t] += price
				paid += price / 60
			}
			series = append(series, s)
		}
		for t := range windows {
			used := demand[workload][t] / (6.5*series[0].Serving[t] + 2.6*series[1].Serving[t])
			wait := 0.08 / math.Max(0.05, 1.05-used) * (1 + 0.1*random.Float64())
			latencies.TtftMean, latencies.TtftP95 = append(latencies.TtftMean, wait/2), append(latencies.TtftP95, wait)
			latencies.ItlMean = append(latencies.ItlMean, 0.012+0.02*used)
			latencies.Attainment = append(latencies.Attainment, math.Min(1, 1.6-0.65*used))
		}
		if i == 2 { // nothing arrived at one time
			latencies.TtftP95[100], latencies.ItlMean[100], latencies.Attainment[100] = math.NaN(), math.NaN(), math.NaN()
		}
		a.Replicas, a.Latencies = append(a.Replicas, series...), append(a.Latencies, latencies)
		objective, ttft, itl := []float64{0.95, 0.99, 0.9}[i], 0.8, 0.05
		latency := func(x, limit float64) *poolwrightv1.LatencyEstimate {
			return &poolwrightv1.LatencyEstimate{
				Mean: estimate(x, x/50), P50: estimate(0.8*x, x/50), P95: estimate(2.1*x, x/30), P99: estimate(4*x, x/20), Limit: &limit,
			}
		}
		a.Workloads = append(a.Workloads, &poolwrightv1.WorkloadResult{
			Workload: workload, ServiceClass: []string{"interactive", "interactive", "batch"}[i], Requests: 1_234_567 / float64(i+1),
			Attainment: estimate(attained, 0.0004), UnmetRequests: estimate(float64(40*index), 3), Objective: &objective,
			Ttft: latency(0.1*spare, ttft), Itl: latency(0.014, itl),
		})
	}
	for i, class := range []string{"batch", "interactive"} {
		of, objective := attained+0.001*float64(1-i), 0.98
		a.Classes = append(a.Classes, &poolwrightv1.ClassResult{ServiceClass: class, Attainment: estimate(of, 0.0004), Objective: &objective})
	}
	a.Cost, a.DeviceHours = estimate(paid, paid/200), estimate(paid/3, 4)
	a.Attainment, a.UnmetRequests, a.ScaleEvents = estimate(attained, 0.0004), estimate(float64(120*index), 9), estimate(float64(400+37*index), 12)
	a.Regret = estimate(paid/2500, 0.004)
	for seed := range uint64(3) {
		a.Runs = append(a.Runs, &poolwrightv1.SimulationRun{
			Seed: seed + 1, Cost: paid * (0.995 + 0.005*float64(seed)), DeviceHours: paid / 3, Attainment: &attained,
			Requests: 2_263_372, UnmetRequests: int64(120 * index), ScaleEvents: int64(400 + 37*index), ProcessorSeconds: 21,
		})
	}
	return a
}
