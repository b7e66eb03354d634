package autoscaler

import (
	"context"
	"fmt"
	"time"

	"github.com/poolwright/poolwright/policy/knative"
	"github.com/poolwright/poolwright/simulation"
)

// KPA is the Knative Pod Autoscaler for each variant, on concurrency. It hears of requests
// every second and decides every 2 s. As for KServe, it keeps a replica.
type KPA struct {
	// Policy has target and windows; its bounds do not count.
	Policy knative.Config
}

// DefaultKPA has Knative's defaults.
func DefaultKPA() KPA { return KPA{knative.DefaultConfig()} }

// Name implements [Settings].
func (s KPA) Name() string {
	name := fmt.Sprintf("kpa %v", s.Policy.Target)
	if window := s.Policy.StableWindow; window != knative.DefaultConfig().StableWindow {
		name += " over " + brief(window)
	}
	return name
}

// Validate implements [Settings].
func (s KPA) Validate() error { return s.Policy.Validate() }

// Grid implements [Settings]: targets, with the default stable window and with one of five
// minutes.
func (s KPA) Grid() []Settings {
	var grid []Settings
	for _, target := range append(Concurrency.targets(), DefaultKPA().Policy.Target) {
		for _, window := range []time.Duration{time.Minute, 5 * time.Minute} {
			c := knative.DefaultConfig()
			c.Target, c.StableWindow = target, window
			grid = append(grid, KPA{c})
		}
	}
	return grid
}

// New implements [Settings].
func (s KPA) New(c *simulation.Cluster, _ Resources) (simulation.Autoscaler, error) {
	d, err := newDeployments(s, c)
	if err != nil {
		return nil, err
	}
	return &kpaScaler{settings: s, deployments: d, histories: perVariant[knative.History](d)}, nil
}

type kpaScaler struct {
	*deployments
	settings  KPA
	histories [][]knative.History
	ticks     int
}

// Interval implements [simulation.Autoscaler].
func (a *kpaScaler) Interval() time.Duration { return time.Second }

// kpaTicks is how many seconds there are between decisions (tick-interval).
const kpaTicks = 2

// Scale implements [simulation.Autoscaler].
func (a *kpaScaler) Scale(_ context.Context, now time.Time) error {
	a.raise()
	a.ticks++
	a.each(func(i, j int) { a.scale(now, i, j) })
	return nil
}

func (a *kpaScaler) scale(now time.Time, i, j int) {
	c := a.settings.Policy
	c.MinReplicas, c.MaxReplicas = a.least[i][j], a.most[i][j]
	ready, load := 0, 0.0
	for pod := range a.cluster.Replicas(i, j) {
		if pod.Phase == simulation.Serving {
			ready++
			load += value(Concurrency, &pod)
		}
	}
	h := &a.histories[i][j]
	h.Record(&c, now, load)
	if a.ticks%kpaTicks != 0 {
		return
	}
	var d knative.Decision
	if d, *h = knative.Decide(&c, *h, now, ready); d.Known {
		a.cluster.SetReplicas(i, j, d.Replicas)
	}
}
