package study

import (
	"math"
	"slices"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/simulation"
)

// result sums up the runs, by autoscaler and seed.
func (c *Config) result(runs [][]*totals, bounds []float64, sizes [][]planner.Size) Result {
	r := Result{
		Name: c.Name, Duration: c.Duration - c.warmup(), Warmup: c.warmup(), Window: c.window(),
		Seeds: slices.Clone(c.Seeds), HindsightCost: bounds,
	}
	for i := range c.Cluster.Fleet.Workloads {
		r.Demand = append(r.Demand, DemandSeries{
			Workload:    c.Cluster.Fleet.Workloads[i].QualifiedName(),
			ArrivalRate: runs[0][0].workloads[i].arrivalRate,
		})
	}
	for i, of := range runs {
		r.Autoscalers = append(r.Autoscalers, c.autoscaler(c.Autoscalers[i].Name, of, bounds, sizes))
	}
	return r
}

func (c *Config) autoscaler(name string, of []*totals, bounds []float64, sizes [][]planner.Size) AutoscalerResult {
	a := AutoscalerResult{Name: name, CostPerHour: of[0].costPerHour}
	for i, t := range of {
		a.Runs = append(a.Runs, t.run(c.Seeds[i]))
	}
	over := func(value func(r *SimulationRun) float64) Estimate {
		values := make([]float64, len(a.Runs))
		for i := range a.Runs {
			values[i] = value(&a.Runs[i])
		}
		return estimate(values).upTo(math.Inf(1))
	}
	a.Cost = over(func(r *SimulationRun) float64 { return r.Cost })
	a.DeviceHours = over(func(r *SimulationRun) float64 { return r.DeviceHours })
	a.Attainment = over(func(r *SimulationRun) float64 { return r.Attainment }).upTo(1)
	a.UnmetRequests = over(func(r *SimulationRun) float64 { return float64(r.UnmetRequests) })
	a.ScaleEvents = over(func(r *SimulationRun) float64 { return float64(r.ScaleEvents) })
	a.Regret = regret(a.Runs, bounds)
	a.Workloads = c.workloads(of)
	a.Classes = c.classes(of, a.Workloads)
	for i := range of[0].workloads {
		a.Latencies = append(a.Latencies, c.latencies(of[0], i))
		a.Replicas = append(a.Replicas, c.replicas(of[0], i, sizes[i])...)
	}
	return a
}

// regret pairs the cost of each seed with its own bound.
func regret(runs []SimulationRun, bounds []float64) *Estimate {
	values := make([]float64, len(bounds))
	for i, b := range bounds {
		if b <= 0 {
			return nil
		}
		values[i] = runs[i].Cost/b - 1
	}
	if len(values) == 0 {
		return nil
	}
	e := estimate(values)
	return &e
}

func (c *Config) workloads(of []*totals) []WorkloadResult {
	all := make([]WorkloadResult, len(c.Cluster.Fleet.Workloads))
	for i := range all {
		w := &c.Cluster.Fleet.Workloads[i]
		parts := func(t *totals) []*workloadTotals { return []*workloadTotals{&t.workloads[i]} }
		group := summarize(of, parts)
		limits := simulation.LimitsOf(w.SLO)
		all[i] = WorkloadResult{
			Workload: w.QualifiedName(), ServiceClass: w.ServiceClass, Objective: objective(w.SLO),
			Requests: group.Requests, Attainment: group.Attainment, UnmetRequests: group.UnmetRequests,
			TTFT: latency(of, limits.TTFT, func(t *totals) *simulation.Sketch { return &t.workloads[i].ttft }),
			ITL:  latency(of, limits.ITL, func(t *totals) *simulation.Sketch { return &t.workloads[i].itl }),
		}
	}
	return all
}

// classes groups workloads, by name of the class.
func (c *Config) classes(of []*totals, workloads []WorkloadResult) []ClassResult {
	members := map[string][]int{}
	var names []string
	for i := range workloads {
		name := workloads[i].ServiceClass
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], i)
	}
	slices.Sort(names)
	all := make([]ClassResult, 0, len(names))
	for _, name := range names {
		class := summarize(of, func(t *totals) []*workloadTotals {
			var parts []*workloadTotals
			for _, i := range members[name] {
				parts = append(parts, &t.workloads[i])
			}
			return parts
		})
		class.ServiceClass = name
		for _, i := range members[name] {
			class.Objective = max(class.Objective, workloads[i].Objective)
		}
		all = append(all, class)
	}
	return all
}

// summarize adds up parts of each run.
func summarize(of []*totals, parts func(*totals) []*workloadTotals) ClassResult {
	arrived, unmet, attainment := make([]float64, len(of)), make([]float64, len(of)), make([]float64, len(of))
	for i, t := range of {
		var sum workloadTotals
		for _, p := range parts(t) {
			sum.arrived += p.arrived
			sum.attained += p.attained
			sum.unmet += p.unmet
		}
		arrived[i], unmet[i], attainment[i] = float64(sum.arrived), float64(sum.unmet), share(sum.attained, sum.arrived)
	}
	return ClassResult{
		Requests: estimate(arrived).Mean, Attainment: estimate(attainment).upTo(1), UnmetRequests: estimate(unmet).upTo(math.Inf(1)),
	}
}

// latency sums up the runs; an infinite limit allows anything.
func latency(of []*totals, limit float64, sketch func(*totals) *simulation.Sketch) LatencyEstimate {
	over := func(value func(*simulation.Sketch) float64) Estimate {
		values := make([]float64, len(of))
		for i, t := range of {
			values[i] = value(sketch(t))
		}
		return estimate(values).upTo(math.Inf(1))
	}
	quantile := func(q float64) Estimate {
		return over(func(s *simulation.Sketch) float64 { return s.Quantile(q) })
	}
	if math.IsInf(limit, 1) {
		limit = 0
	}
	return LatencyEstimate{
		Mean: over((*simulation.Sketch).Mean), P50: quantile(0.5), P95: quantile(0.95), P99: quantile(0.99), Limit: limit,
	}
}

func (c *Config) latencies(t *totals, workload int) LatencySeries {
	s := t.workloads[workload].latency
	s.Workload = c.Cluster.Fleet.Workloads[workload].QualifiedName()
	return s
}

func (c *Config) replicas(t *totals, workload int, sizes []planner.Size) []ReplicaSeries {
	w := &c.Cluster.Fleet.Workloads[workload]
	all := slices.Clone(t.workloads[workload].replicas)
	for j := range all {
		v := &w.Variants[j]
		all[j].Workload, all[j].Variant, all[j].Accelerator = w.QualifiedName(), v.Name, c.Cluster.Fleet.Pools[v.Pools[0]].Accelerator
		all[j].DevicesPerReplica, all[j].Capacity = max(1, v.DevicesPerReplica), float64(sizes[j].Capacity)
	}
	return all
}
