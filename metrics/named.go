package metrics

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/planner"
)

// metricsOf are the names of the metrics that the policy of a workload follows on its
// pods, sorted.
func (c *cycle) metricsOf(i int) []string { return c.fleet.PodMetrics(&c.fleet.Workloads[i]) }

// namedMark is what a query marks a metric with that a policy follows, before its name.
const namedMark = "metric:"

// namedParts ask for metrics by name, a replica each: for a counter's rate, for the 95th
// percentile of a histogram, and otherwise for the value.
func (g *group) namedParts() []string {
	var parts []string
	for _, name := range g.named {
		each := fmt.Sprintf("sum by (%s) (%s)", strings.Join(g.by, ", "), g.selected(name, matcher{}))
		if strings.HasSuffix(name, "_total") {
			each = fmt.Sprintf("sum by (%s) (rate(%s[%s]))", strings.Join(g.by, ", "), g.selected(name, matcher{}), duration(g.window))
		}
		each += fmt.Sprintf(" or histogram_quantile(0.95, sum by (%s, %s) (rate(%s[%s])))",
			bucketLabel, strings.Join(g.by, ", "), g.selected(name+"_bucket", matcher{}), duration(g.window))
		parts = append(parts, g.markAs(namedMark+name, "("+each+")"))
	}
	return parts
}

// observeMetrics puts in what policies follow.
func (s *scope) observeMetrics(o *planner.Observation, names []string) {
	if s.reported == nil || s.reported.ambiguous {
		return
	}
	for j := range s.workload.Variants {
		v := &s.workload.Variants[j]
		var all []planner.MetricValues
		for _, name := range names {
			if values := s.values(j, name); len(values) > 0 {
				ready := max(0, v.CurrentReplicas-v.StartingReplicas)
				all = append(all, planner.MetricValues{Name: name, Values: values, Missing: max(0, ready-len(values))})
			}
		}
		if len(all) > 0 {
			observationOf(o, v.Name).Metrics = all
		}
	}
}

// values of a metric on replicas of a variant, the mean over the pods of each that end
// requests.
func (s *scope) values(variant int, name string) []float64 {
	var values []float64
	var pods []int
	places := map[string]int{}
	for _, r := range s.reported.replicas {
		value, ok := r.named[name]
		if !ok || r.variant != variant || r.prefill || !r.isFresh(s.staleAfter) || !isValid(value) {
			continue
		}
		place, known := places[r.of]
		if !known {
			place = len(values)
			places[r.of] = place
			values, pods = append(values, 0), append(pods, 0)
		}
		values[place] += value
		pods[place]++
	}
	for i := range values {
		values[i] /= float64(pods[i])
	}
	return values
}

// observationOf is that of a variant, which is added where there is none.
func observationOf(o *planner.Observation, variant string) *planner.VariantObservation {
	for j := range o.Variants {
		if o.Variants[j].Variant == variant {
			return &o.Variants[j]
		}
	}
	o.Variants = append(o.Variants, planner.VariantObservation{Variant: variant})
	return &o.Variants[len(o.Variants)-1]
}
