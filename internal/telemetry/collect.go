package telemetry

import (
	"cmp"
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
)

// gauge describes what is collected of the last cycle.
func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// described are the metrics that are collected of the last cycle.
type described struct {
	interval, at, price, gap, workloads, hidden  *prometheus.Desc
	plannedDevices, poolDevices                  *prometheus.Desc
	arrivals, plannedArrivals, unmet, condition  *prometheus.Desc
	predicted, slo, observed, deviation          *prometheus.Desc
	current, planned, residual, advised          *prometheus.Desc
	infernoDesired, infernoCurrent, infernoRatio *prometheus.Desc
}

func describe() described {
	inferno := []string{"variant_name", "namespace", "accelerator_type"}
	return described{
		interval:  gauge("poolwright_cycle_interval_seconds", "Time between cycles, as configured."),
		at:        gauge("poolwright_cycle_timestamp_seconds", "Time at which the last cycle that decided ended."),
		price:     gauge("poolwright_plan_price_per_hour", "Price of the planned replicas per hour."),
		gap:       gauge("poolwright_plan_gap_ratio", "Proven gap of the plan."),
		workloads: gauge("poolwright_workloads", "Workloads that are planned, and that are held as they are.", "state"),
		hidden:    gauge("poolwright_workloads_hidden", "Workloads without series of their own, beyond the limit on labels."),

		plannedDevices: gauge("poolwright_planned_devices", "Devices of a pool that the plan uses.", "pool"),
		poolDevices:    gauge("poolwright_pool_devices", "Devices of a pool that has a limit.", "pool"),

		arrivals:        gauge("poolwright_arrivals_per_second", "Requests per second that arrive, as observed.", "workload"),
		plannedArrivals: gauge("poolwright_planned_arrivals_per_second", "Requests per second that the plan is made for.", "workload"),
		unmet:           gauge("poolwright_unmet_arrivals_per_second", "Requests per second that the plan does not serve within the SLO.", "workload"),
		condition:       gauge("poolwright_workload_condition", "1 for each condition that a workload has.", "workload", "condition"),

		predicted: gauge("poolwright_predicted_latency_seconds", "Latency that is predicted for the plan, on the mean and at the quantiles of the SLO.", "workload", "latency", "statistic"),
		slo:       gauge("poolwright_slo_latency_seconds", "Limits of the SLO.", "workload", "latency", "statistic"),
		observed:  gauge("poolwright_observed_latency_seconds", "Mean latency as last observed.", "workload", "latency"),
		deviation: gauge("poolwright_calibration_deviation", "Logarithm of the observed by the predicted latency of replicas, as last compared.", "workload", "variant", "latency"),

		current:  gauge("poolwright_current_replicas", "Replicas asked for when the cycle began.", "workload", "variant"),
		planned:  gauge("poolwright_planned_replicas", "Planned replicas.", "workload", "variant"),
		residual: gauge("poolwright_residual_replicas", "Difference between planned and current replicas, without a sign.", "workload", "variant"),
		advised:  gauge("poolwright_variant_advised", "1 for each variant whose changes are only published, so that nobody may follow.", "workload", "variant"),

		infernoDesired: gauge("inferno_desired_replicas", "Planned replicas, as llm-d names them.", inferno...),
		infernoCurrent: gauge("inferno_current_replicas", "Replicas asked for when the cycle began, as llm-d names them.", inferno...),
		infernoRatio:   gauge("inferno_desired_ratio", "Planned by current replicas, or planned ones where there are none, as llm-d names them.", inferno...),
	}
}

// Describe implements [prometheus.Collector].
func (l *Loop) Describe(out chan<- *prometheus.Desc) {
	d := &l.described
	for _, desc := range []*prometheus.Desc{
		d.interval, d.at, d.price, d.gap, d.workloads, d.hidden, d.plannedDevices, d.poolDevices,
		d.arrivals, d.plannedArrivals, d.unmet, d.condition, d.predicted, d.slo, d.observed, d.deviation,
		d.current, d.planned, d.residual, d.advised, d.infernoDesired, d.infernoCurrent, d.infernoRatio,
	} {
		out <- desc
	}
}

// Collect implements [prometheus.Collector].
func (l *Loop) Collect(out chan<- prometheus.Metric) {
	l.mu.Lock()
	s := l.state
	l.mu.Unlock()
	c := collection{described: &l.described, state: &s, out: out}
	if s.cycle == nil {
		return
	}
	c.fleet(l.config.MostWorkloads)
	d := &s.cycle.Entry.Decision
	shown := min(len(d.Plans), l.config.MostWorkloads)
	for i := range d.Plans[:shown] {
		c.workload(i)
	}
	c.conditions(shown)
	c.inferno(shown)
}

// conditions adds those of the first workloads, each once.
func (c *collection) conditions(shown int) {
	d := &c.cycle.Entry.Decision
	all := map[Condition]bool{}
	workloads := map[string]bool{}
	for i := range d.Plans[:shown] {
		name := d.Fleet.Workloads[i].QualifiedName()
		workloads[name] = true
		for _, condition := range d.Plans[i].Conditions {
			all[Condition{name, string(condition.Type)}] = true
		}
	}
	for _, more := range c.cycle.Conditions {
		all[more] = workloads[more.Workload]
	}
	for condition, is := range all {
		if is {
			c.add(c.condition, 1, condition.Workload, condition.Type)
		}
	}
}

// collection is what is collected at one time.
type collection struct {
	*described
	*state
	out chan<- prometheus.Metric
}

func (c *collection) add(d *prometheus.Desc, value float64, labels ...string) {
	c.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// fleet adds what is of all workloads together.
func (c *collection) fleet(most int) {
	d := &c.cycle.Entry.Decision
	held := 0
	for i := range d.Plans {
		if d.Plans[i].Held {
			held++
		}
	}
	c.add(c.interval, c.cycle.Interval.Seconds())
	c.add(c.at, float64(c.cycle.At.UnixNano())/1e9)
	c.add(c.price, d.PricePerHour)
	if d.Solution != nil {
		c.add(c.gap, d.Solution.Gap)
	}
	c.add(c.workloads, float64(held), "held")
	c.add(c.workloads, float64(len(d.Plans)-held), "planned")
	c.add(c.hidden, float64(max(0, len(d.Plans)-most)))
	for i, use := range d.Pools {
		pool := &d.Fleet.Pools[i]
		c.add(c.plannedDevices, float64(use.Used), pool.Name)
		if pool.Capacity.Limited {
			c.add(c.poolDevices, float64(pool.Capacity.Value), pool.Name)
		}
	}
}

// workload adds what is of one.
func (c *collection) workload(i int) {
	d := &c.cycle.Entry.Decision
	w, plan := &d.Fleet.Workloads[i], &d.Plans[i]
	name := w.QualifiedName()
	if plan.Expected != nil {
		c.add(c.arrivals, float64(plan.Expected.Observed), name)
	}
	if !plan.Held {
		c.add(c.plannedArrivals, float64(w.ArrivalRate), name)
		c.add(c.unmet, float64(plan.Unmet), name)
	}
	c.latencies(name, w.SLO, plan.Prediction)
	for j := range w.Variants {
		c.variant(w, plan, j)
	}
}

// latencyNames are the values of a label.
var latencyNames = map[queueing.Metric]string{queueing.TTFT: "ttft", queueing.ITL: "itl", queueing.E2E: "e2e"}

// latencies adds what is predicted, observed and asked for.
func (c *collection) latencies(name string, slo queueing.SLO, p *planner.Prediction) {
	type at struct {
		metric   queueing.Metric
		quantile float64
	}
	shown := map[at]bool{}
	show := func(of at) {
		if value, ok := predicted(p, of.metric, of.quantile); ok && !shown[of] {
			shown[of] = true
			c.add(c.predicted, value, name, latencyNames[of.metric], statistic(of.quantile))
		}
	}
	show(at{queueing.TTFT, 0})
	show(at{queueing.ITL, 0})
	limits := map[at]float64{}
	for _, limit := range slo.Limits {
		if latencyNames[limit.Metric] == "" {
			continue
		}
		of := at{limit.Metric, limit.Quantile}
		if stricter, ok := limits[of]; !ok || limit.Value < stricter {
			limits[of] = limit.Value
		}
		show(of)
	}
	for of, limit := range limits {
		c.add(c.slo, limit, name, latencyNames[of.metric], statistic(of.quantile))
	}
	observed := c.state.latencies[name]
	if observed.ttft.Known {
		c.add(c.observed, observed.ttft.Value, name, latencyNames[queueing.TTFT])
	}
	if observed.itl.Known {
		c.add(c.observed, observed.itl.Value, name, latencyNames[queueing.ITL])
	}
}

// statistic is the value of a label: mean, p95, p99.9.
func statistic(quantile float64) string {
	if quantile == 0 {
		return "mean"
	}
	return "p" + strconv.FormatFloat(100*quantile, 'g', 6, 64)
}

// variant adds what is of one.
func (c *collection) variant(w *planner.Workload, plan *planner.WorkloadPlan, j int) {
	v, workload := &w.Variants[j], w.QualifiedName()
	current, planned := float64(v.CurrentReplicas), float64(plan.Variants[j].Total())
	c.add(c.current, current, workload, v.Name)
	c.add(c.planned, planned, workload, v.Name)
	c.add(c.residual, math.Abs(planned-current), workload, v.Name)
	if c.cycle.Advised[Variant{workload, v.Name}] {
		c.add(c.advised, 1, workload, v.Name)
	}
	if d, ok := c.deviations[variant{workload, v.Name}]; ok {
		if d.ttft.Known {
			c.add(c.deviation, d.ttft.Value, workload, v.Name, latencyNames[queueing.TTFT])
		}
		if d.itl.Known {
			c.add(c.deviation, d.itl.Value, workload, v.Name, latencyNames[queueing.ITL])
		}
	}
}

// infernoKey is an accelerator of an object, whose kind llm-d does not tell.
type infernoKey struct{ object, namespace, accelerator string }

// infernoReplicas are those of all variants of an accelerator of an object.
type infernoReplicas struct{ current, planned float64 }

// inferno adds what llm-d has, of the first workloads.
func (c *collection) inferno(shown int) {
	d := &c.cycle.Entry.Decision
	sums := map[infernoKey]infernoReplicas{}
	for i := range d.Plans[:shown] {
		w, plan := &d.Fleet.Workloads[i], &d.Plans[i]
		for j := range w.Variants {
			v := &w.Variants[j]
			object := cmp.Or(c.cycle.Objects[Variant{w.QualifiedName(), v.Name}], w.Name)
			of := infernoKey{object, w.Namespace, d.Fleet.Pools[v.Pools[0]].Accelerator}
			sum := sums[of]
			sum.current += float64(v.CurrentReplicas)
			sum.planned += float64(plan.Variants[j].Total())
			sums[of] = sum
		}
	}
	for of, sum := range sums {
		ratio := sum.planned
		if sum.current > 0 {
			ratio = sum.planned / sum.current
		}
		c.add(c.infernoDesired, sum.planned, of.object, of.namespace, of.accelerator)
		c.add(c.infernoCurrent, sum.current, of.object, of.namespace, of.accelerator)
		c.add(c.infernoRatio, ratio, of.object, of.namespace, of.accelerator)
	}
}
