package planner

import (
	"fmt"
	"slices"

	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/queueing"
)

// asksMetrics tells whether the metrics of its policy decide how many replicas a workload
// has: nothing says what any of its variants sustains.
func (c *cycle) asksMetrics(w *Workload) bool {
	k := c.policy(w).Kthena
	return k != nil && len(k.Metrics) > 0 && !slices.ContainsFunc(w.Variants, func(v Variant) bool { return !v.unknown() })
}

// askMetrics puts the replicas that metrics ask for in the place of a rate of arrivals:
// each sustains one of them. What the solver does with pools and priorities, and the policy
// with speed, is as for requests.
func (c *cycle) askMetrics(i int) {
	w, s := &c.fleet.Workloads[i], &c.seen[i]
	arrive := s.known && s.rate > 0 || s.waiting > 0
	s.known, s.complete, s.rate, s.waiting = false, false, 0, 0
	n, why, known := kthena.Recommend(c.metricsInput(w))
	switch {
	case known:
		s.reason = "kthena: " + why.Text()
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

// metricsInput is what the policy of a workload has to go by, for all variants together:
// replicas of a variant that was not observed have no value.
func (c *cycle) metricsInput(w *Workload) (*kthena.Config, kthena.Input) {
	config := *c.policy(w).Kthena
	config.MinReplicas, config.MaxReplicas = w.MinReplicas, kthena.MostReplicas
	in := kthena.Input{Now: c.snapshot.Now, Replicas: w.total(), Readings: make([]kthena.Reading, len(config.Metrics))}
	least, most, limited := 0, 0, true
	for j := range w.Variants {
		v := &w.Variants[j]
		in.Unready += v.CurrentReplicas - v.ready()
		least += v.MinReplicas
		most += v.MaxReplicas.Value
		limited = limited && v.MaxReplicas.Limited
		seen := c.metricsOf(w, v.Name)
		for m := range config.Metrics {
			k := slices.IndexFunc(seen, func(of MetricValues) bool { return of.Name == config.Metrics[m].Name })
			if k < 0 {
				in.Readings[m].Missing += v.ready()
				continue
			}
			in.Readings[m].Values = append(in.Readings[m].Values, seen[k].Values...)
			in.Readings[m].Missing += seen[k].Missing
		}
	}
	config.MinReplicas = max(config.MinReplicas, least)
	if limited {
		config.MaxReplicas = most
	}
	if w.MaxReplicas.Limited {
		config.MaxReplicas = min(config.MaxReplicas, w.MaxReplicas.Value)
	}
	config.MaxReplicas = max(config.MaxReplicas, config.MinReplicas)
	return &config, in
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
