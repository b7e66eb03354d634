package planner

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/queueing"
)

// asksMetrics tells whether the metrics of its policy decide how many replicas a workload
// has: nothing says what any of its variants sustains.
func (c *cycle) asksMetrics(w *Workload) bool {
	p := c.policy(w)
	metrics := p.Kthena != nil && len(p.Kthena.Metrics) > 0 || p.HPA != nil && len(p.HPA.Metrics) > 0
	return metrics && !slices.ContainsFunc(w.Variants, func(v Variant) bool { return !v.unknown() })
}

// askMetrics puts the replicas that metrics ask for in the place of a rate of arrivals:
// each sustains one of them. What the solver does with pools and priorities, and the policy
// with speed, is as for requests.
func (c *cycle) askMetrics(i int) {
	w, s := &c.fleet.Workloads[i], &c.seen[i]
	arrive := s.known && s.rate > 0 || s.waiting > 0
	s.known, s.complete, s.rate, s.waiting = false, false, 0, 0
	n, why, known := c.recommended(w)
	switch {
	case known:
		s.reason = why
	case w.total() == 0 && arrive:
		n, s.reason = 1, "requests arrive, and there is no replica to measure"
	default:
		s.reason = "no metric of the policy was measured, and there is neither profile nor capacity"
		return
	}
	s.known, s.complete, s.asked, s.rate = true, true, true, queueing.Rate(n)
	w.Variants = slices.Clone(w.Variants)
	for j := range w.Variants {
		w.Variants[j].Capacity = 1
	}
	c.step(w.QualifiedName(), fmt.Sprintf("%d replicas", w.total()), fmt.Sprintf("%d replicas", n), s.reason)
}

// recommended are the replicas of all variants together that the metrics of the policy ask
// for, and why; false where too little is known.
func (c *cycle) recommended(w *Workload) (n int, why string, known bool) {
	p := c.policy(w)
	least, most := w.bounds()
	if p.Kthena != nil {
		config := *p.Kthena
		config.MinReplicas, config.MaxReplicas = least, most
		n, reason, known := kthena.Recommend(&config, c.kthenaInput(w, config.Metrics))
		return n, "kthena: " + reason.Text(), known
	}
	config := *p.HPA
	config.MinReplicas, config.MaxReplicas = saturated(least), saturated(most)
	asked, by, known := hpa.Recommend(&config, c.hpaInput(w, config.Metrics))
	if by == "" {
		return int(asked), "hpa: bounds ask for it", known
	}
	return int(asked), "hpa: " + by + " asks for most", known
}

// bounds are those of all variants together.
func (w *Workload) bounds() (least, most int) {
	limited := true
	for j := range w.Variants {
		v := &w.Variants[j]
		least += v.MinReplicas
		most += v.MaxReplicas.Value
		limited = limited && v.MaxReplicas.Limited
	}
	least = max(least, w.MinReplicas)
	if !limited {
		most = kthena.MostReplicas
	}
	if w.MaxReplicas.Limited {
		most = min(most, w.MaxReplicas.Value)
	}
	return least, max(most, least)
}

// readings are what was measured of a metric on all variants, and the number of ready
// replicas that have no value: none has that is not observed.
func (c *cycle) readings(w *Workload, metric string) (values []float64, missing int) {
	for j := range w.Variants {
		v := &w.Variants[j]
		seen := c.metricsOf(w, v.Name)
		k := slices.IndexFunc(seen, func(of MetricValues) bool { return of.Name == metric })
		if k < 0 {
			missing += v.ready()
			continue
		}
		values = append(values, seen[k].Values...)
		missing += seen[k].Missing
	}
	return values, missing
}

// unready is the number of replicas that start.
func (w *Workload) unready() int {
	n := 0
	for j := range w.Variants {
		n += w.Variants[j].CurrentReplicas - w.Variants[j].ready()
	}
	return n
}

// kthenaInput is what a policy of Kthena has to go by.
func (c *cycle) kthenaInput(w *Workload, metrics []kthena.Metric) kthena.Input {
	in := kthena.Input{Now: c.snapshot.Now, Replicas: w.total(), Unready: w.unready(), Readings: make([]kthena.Reading, len(metrics))}
	for m := range metrics {
		in.Readings[m].Values, in.Readings[m].Missing = c.readings(w, metrics[m].Name)
	}
	return in
}

// hpaInput is what a HorizontalPodAutoscaler has to go by. Which of its pods has which value
// does not matter to it. Replicas that start are pending pods.
func (c *cycle) hpaInput(w *Workload, metrics []hpa.Metric) hpa.Input {
	total, starting := w.total(), w.unready()
	in := hpa.Input{Now: c.snapshot.Now, Replicas: saturated(total), Observed: saturated(total)}
	for n := range total {
		pod := hpa.Pod{Name: strconv.Itoa(n), Ready: hpa.Ready}
		if n >= total-starting {
			pod.Phase, pod.Ready = hpa.Pending, hpa.NotReady
		}
		in.Pods = append(in.Pods, pod)
	}
	for _, m := range metrics {
		reading := hpa.Reading{Problem: "only metrics of pods are observed"}
		if m.Source == hpa.PodsMetric {
			reading.Problem = ""
			values, _ := c.readings(w, m.Name)
			for n, value := range values {
				reading.Samples = append(reading.Samples, hpa.Sample{Pod: strconv.Itoa(n), Time: c.snapshot.Now, Value: thousandths(value)})
			}
		}
		in.Readings = append(in.Readings, reading)
	}
	return in
}

// thousandths is a value as Kubernetes has it.
func thousandths(value float64) int64 {
	if value >= math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return int64(math.Round(1000 * value))
}

// metricsOf are those that were observed of a variant.
func (c *cycle) metricsOf(w *Workload, variant string) []MetricValues {
	o := c.observations[w.QualifiedName()]
	if o == nil {
		return nil
	}
	for k := range o.Variants {
		if o.Variants[k].Variant == variant {
			return o.Variants[k].Metrics
		}
	}
	return nil
}

// total is the number of replicas asked for, of all variants.
func (w *Workload) total() int {
	n := 0
	for j := range w.Variants {
		n += w.Variants[j].CurrentReplicas
	}
	return n
}

// asked tells whether metrics asked for the replicas of workload i.
func (c *cycle) asked(i int) bool { return i < len(c.seen) && c.seen[i].asked }

// unit is that of the demand of workload i, for people.
func (c *cycle) unit(i int) string {
	if c.asked(i) {
		return "replicas"
	}
	return "requests/s"
}
