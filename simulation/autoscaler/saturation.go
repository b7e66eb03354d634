package autoscaler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/poolwright/poolwright/policy/saturation"
	"github.com/poolwright/poolwright/simulation"
)

// Saturation is the saturation analyzer of llm-d's workload-variant-autoscaler for each
// workload. It sees the largest KV usage and queue of each replica in the last minute. What
// it decides is carried out at once; the HorizontalPodAutoscaler that does so in a cluster is
// left out, and could only be later.
type Saturation struct {
	Policy saturation.Config
	// Interval between decisions (GLOBAL_OPT_INTERVAL); a multiple of 15 s.
	Interval time.Duration
}

// DefaultSaturation has the documented defaults: a decision every minute.
func DefaultSaturation() Saturation {
	return Saturation{Policy: saturation.DefaultConfig(), Interval: time.Minute}
}

// Name implements [Settings].
func (s Saturation) Name() string {
	return fmt.Sprintf("llm-d saturation %v/%v every %s", s.Policy.KVCacheThreshold, s.Policy.QueueLengthThreshold, brief(s.Interval))
}

// Validate implements [Settings].
func (s Saturation) Validate() error {
	err := s.Policy.Validate()
	if s.Interval <= 0 || s.Interval%ScrapeInterval != 0 {
		err = errors.Join(err, fmt.Errorf("autoscaler: interval: %v is not a multiple of %v", s.Interval, ScrapeInterval))
	}
	return err
}

// Grid implements [Settings]: the three workload types of the documentation, and lower KV
// thresholds, at the intervals of its manifests.
func (s Saturation) Grid() []Settings {
	var grid []Settings
	for _, c := range []saturation.Config{
		saturation.DefaultConfig(),
		{KVCacheThreshold: 0.9, QueueLengthThreshold: 15, KVSpareTrigger: 0.1, QueueSpareTrigger: 3},
		{KVCacheThreshold: 0.7, QueueLengthThreshold: 3, KVSpareTrigger: 0.1, QueueSpareTrigger: 2},
		{KVCacheThreshold: 0.5, QueueLengthThreshold: 3, KVSpareTrigger: 0.1, QueueSpareTrigger: 2},
		{KVCacheThreshold: 0.3, QueueLengthThreshold: 3, KVSpareTrigger: 0.1, QueueSpareTrigger: 2},
	} {
		for _, interval := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute} {
			grid = append(grid, Saturation{c, interval})
		}
	}
	return grid
}

// New implements [Settings].
func (s Saturation) New(c *simulation.Cluster, _ Resources) (simulation.Autoscaler, error) {
	d, err := newDeployments(s, c)
	if err != nil {
		return nil, err
	}
	return &saturationScaler{
		settings: s, deployments: d, desired: make([][]int, len(d.least)),
		prometheus: prometheus{deployments: d, keep: time.Minute},
	}, nil
}

type saturationScaler struct {
	*deployments
	settings   Saturation
	prometheus prometheus
	// desired is what was decided last, by workload and variant; nil before.
	desired [][]int
}

// Interval implements [simulation.Autoscaler].
func (a *saturationScaler) Interval() time.Duration { return scrapeAge }

// Scale implements [simulation.Autoscaler].
func (a *saturationScaler) Scale(_ context.Context, now time.Time) error {
	a.raise()
	if !a.prometheus.tick(now, a.settings.Interval) {
		return nil
	}
	for i := range a.desired {
		d := saturation.Decide(&a.settings.Policy, a.variants(i))
		a.desired[i] = d.Replicas
		for j, n := range d.Replicas {
			a.cluster.SetReplicas(i, j, n)
		}
	}
	return nil
}

// variants are those of a workload, with the replicas that serve and have been scraped.
func (a *saturationScaler) variants(i int) []saturation.Variant {
	w := &a.fleet.Workloads[i]
	variants := make([]saturation.Variant, len(w.Variants))
	for j := range variants {
		pods := a.pods(i, j)
		v := &variants[j]
		*v = saturation.Variant{
			Name: w.Variants[j].Name, Cost: a.cost(&w.Variants[j]),
			MinReplicas: a.least[i][j], MaxReplicas: a.most[i][j], Current: len(pods),
		}
		if a.desired[i] != nil {
			v.Desired = a.desired[i][j]
		}
		kv, queue := a.prometheus.largest(KVUsage, i, j), a.prometheus.largest(Queue, i, j)
		for _, pod := range pods {
			if usage, scraped := kv[pod.Number]; scraped {
				v.Ready = append(v.Ready, saturation.Replica{KVUsage: usage, Waiting: queue[pod.Number]})
			}
		}
	}
	return variants
}
