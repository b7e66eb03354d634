package autoscaler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/simulation"
)

// Kthena is an AutoscalingPolicy of Kthena for each variant, bound to it as a homogeneous
// target. It asks pods and decides every 15 s.
type Kthena struct {
	Metric Metric
	// Target is the value of the metric per replica, > 0.
	Target float64
	// Policy is how replicas may change; its bounds, metrics and readings do not count.
	Policy kthena.Config
}

// DefaultKthena follows a metric with the defaults of Kthena's webhook: waiting requests at
// the target of its guide, others at their default target.
func DefaultKthena(m Metric) Kthena {
	target := m.DefaultTarget()
	if m == Queue {
		target = kthenaQueue
	}
	return Kthena{Metric: m, Target: target, Policy: kthena.DefaultConfig()}
}

// kthenaQueue is the target of the guide's examples, for kthena:num_requests_waiting.
const kthenaQueue = 10

// Name implements [Settings].
func (s Kthena) Name() string { return fmt.Sprintf("kthena %v %v", s.Metric, s.Target) }

// Validate implements [Settings].
func (s Kthena) Validate() error {
	c := s.config(0, 1, kthena.Upstream)
	return errors.Join(s.Metric.validate(), c.Validate())
}

func (s Kthena) config(least, most int, readings kthena.Readings) kthena.Config {
	c := s.Policy
	c.MinReplicas, c.MaxReplicas, c.Readings = least, most, readings
	c.Metrics = []kthena.Metric{{Name: s.Metric.String(), Target: s.Target}}
	return c
}

// Grid implements [Settings]: targets of every metric, with the default policy.
func (s Kthena) Grid() []Settings {
	var grid []Settings
	for m := Queue; m <= Concurrency; m++ {
		for _, target := range m.targets() {
			grid = append(grid, Kthena{m, target, kthena.DefaultConfig()})
		}
	}
	return grid
}

// New implements [Settings].
func (s Kthena) New(c *simulation.Cluster, _ Resources) (simulation.Autoscaler, error) {
	d, err := newDeployments(s, c)
	if err != nil {
		return nil, err
	}
	return &kthenaScaler{settings: s, deployments: d, histories: perVariant[kthena.History](d)}, nil
}

type kthenaScaler struct {
	*deployments
	settings  Kthena
	histories [][]kthena.History
}

// kthenaSync is the default of Kthena's --autoscaling-sync-period.
const kthenaSync = 15 * time.Second

// Interval implements [simulation.Autoscaler].
func (a *kthenaScaler) Interval() time.Duration { return kthenaSync }

// Scale implements [simulation.Autoscaler].
func (a *kthenaScaler) Scale(_ context.Context, now time.Time) error {
	a.raise()
	a.each(func(i, j int) {
		t := a.target(a.settings.Metric, i, j)
		c := a.settings.config(a.least[i][j], a.most[i][j], kthena.Upstream)
		var d kthena.Decision
		d, a.histories[i][j] = kthena.Decide(&c, a.histories[i][j], kthena.Input{
			Now: now, Replicas: t.replicas, Unready: t.unready, Readings: []kthena.Reading{{Values: t.values}},
		})
		a.cluster.SetReplicas(i, j, d.Replicas)
	})
	return nil
}

// target is what Kthena knows of one.
type target struct {
	replicas, unready int
	values            []float64
}

func (d *deployments) target(m Metric, i, j int) target {
	pods := d.pods(i, j)
	t := target{replicas: len(pods)}
	for k := range pods {
		if pods[k].Phase != simulation.Serving {
			t.unready++
			continue
		}
		t.values = append(t.values, value(m, &pods[k]))
	}
	return t
}

// KthenaHeterogeneous is an AutoscalingPolicy of Kthena for each workload, bound to its
// variants as a heterogeneous target: it finds a number of replicas from the sum of a metric
// over all, and shares it out in batches in the order of their costs.
type KthenaHeterogeneous struct {
	Kthena
	// ExpansionRate is costExpansionRatePercent, from 0 on.
	ExpansionRate int
}

// DefaultKthenaHeterogeneous is DefaultKthena with the default rate.
func DefaultKthenaHeterogeneous(m Metric) KthenaHeterogeneous {
	return KthenaHeterogeneous{DefaultKthena(m), greedy.DefaultExpansionRate}
}

// Name implements [Settings].
func (s KthenaHeterogeneous) Name() string {
	name := fmt.Sprintf("kthena heterogeneous %v %v", s.Metric, s.Target)
	if s.ExpansionRate != greedy.DefaultExpansionRate {
		name += fmt.Sprintf(" at %d %%", s.ExpansionRate)
	}
	return name
}

// Validate implements [Settings].
func (s KthenaHeterogeneous) Validate() error {
	err := s.Kthena.Validate()
	if s.ExpansionRate < 0 || s.ExpansionRate > math.MaxInt32 {
		err = errors.Join(err, fmt.Errorf("autoscaler: costExpansionRatePercent: %d is not in [0, %d]", s.ExpansionRate, math.MaxInt32))
	}
	return err
}

// Grid implements [Settings]: that of Kthena, at the default rate.
func (s KthenaHeterogeneous) Grid() []Settings {
	var grid []Settings
	for _, k := range s.Kthena.Grid() {
		grid = append(grid, KthenaHeterogeneous{k.(Kthena), greedy.DefaultExpansionRate})
	}
	return grid
}

// New implements [Settings].
func (s KthenaHeterogeneous) New(c *simulation.Cluster, _ Resources) (simulation.Autoscaler, error) {
	d, err := newDeployments(s, c)
	if err != nil {
		return nil, err
	}
	return &kthenaSharer{settings: s, deployments: d, histories: make([]kthena.History, len(d.least))}, nil
}

type kthenaSharer struct {
	*deployments
	settings  KthenaHeterogeneous
	histories []kthena.History // by workload
}

// Interval implements [simulation.Autoscaler].
func (a *kthenaSharer) Interval() time.Duration { return kthenaSync }

// Scale implements [simulation.Autoscaler].
func (a *kthenaSharer) Scale(_ context.Context, now time.Time) error {
	a.raise()
	for i := range a.histories {
		a.scale(now, i)
	}
	return nil
}

func (a *kthenaSharer) scale(now time.Time, i int) {
	targets := a.targets(i)
	in := kthena.Input{Now: now, Readings: make([]kthena.Reading, 1)}
	least, most := 0, 0
	for j := range targets {
		least, most = least+targets[j].MinReplicas, most+targets[j].MaxReplicas
		t := a.target(a.settings.Metric, i, j)
		in.Replicas += t.replicas
		in.Unready += t.unready
		if len(t.values) > 0 {
			// Each target counts with the sum over its pods, as if it were a replica.
			in.Readings[0].Values = append(in.Readings[0].Values, sum(t.values))
		}
	}
	c := a.settings.config(least, most, kthena.PerReplica)
	var d kthena.Decision
	if d, a.histories[i] = kthena.Decide(&c, a.histories[i], in); d.Skipped {
		return
	}
	for j, n := range greedy.Distribute(targets, d.Replicas, a.settings.ExpansionRate) {
		a.cluster.SetReplicas(i, j, n)
	}
}

// targets are the variants of a workload, whose minimums are those that are declared; one
// replica of the cheapest where there are none.
func (a *kthenaSharer) targets(i int) []greedy.Target {
	w := &a.fleet.Workloads[i]
	targets := make([]greedy.Target, len(w.Variants))
	cheapest, least := 0, 0
	for j := range w.Variants {
		v := &w.Variants[j]
		targets[j] = greedy.Target{Cost: a.cost(v), MinReplicas: min(v.MinReplicas, a.most[i][j]), MaxReplicas: a.most[i][j]}
		least += targets[j].MinReplicas
		if targets[j].Cost < targets[cheapest].Cost {
			cheapest = j
		}
	}
	if least == 0 {
		targets[cheapest].MinReplicas = 1
	}
	return targets
}

// sum adds in order of size, so that the order of replicas does not matter.
func sum(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
