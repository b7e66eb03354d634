package autoscaler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/poolwright/poolwright/policy/hpa"
	"github.com/poolwright/poolwright/simulation"
)

// HPA is a HorizontalPodAutoscaler for each variant, on the mean of a metric over its pods
// (type Pods, AverageValue). It decides every 15 s.
type HPA struct {
	Metric Metric
	// Target is the value of the metric per pod, ≥ 0.001.
	Target float64
	// Policy is how the controller is set; its bounds and metrics do not count.
	Policy hpa.Config
}

// DefaultHPA follows a metric at its default target, without behavior.
func DefaultHPA(m Metric) HPA {
	return HPA{Metric: m, Target: m.DefaultTarget(), Policy: hpa.DefaultConfig()}
}

// Name implements [Settings].
func (s HPA) Name() string {
	name := fmt.Sprintf("hpa %v %v", s.Metric, s.Target)
	if down := s.Policy.DownscaleStabilization; down != hpa.DefaultConfig().DownscaleStabilization {
		name += " down " + brief(down)
	}
	if s.Policy.Behavior != nil {
		name += " with behavior"
	}
	return name
}

// thousandths of a unit are what the controller counts in.
const thousandths = 1000

// Validate implements [Settings].
func (s HPA) Validate() error {
	c := s.config(1, 1)
	errs := []error{s.Metric.validate(), c.Validate()}
	if !(s.Target >= 1.0/thousandths && s.Target <= math.MaxInt32) {
		errs = append(errs, fmt.Errorf("autoscaler: target: %v is not in [0.001, %d]", s.Target, math.MaxInt32))
	}
	return errors.Join(errs...)
}

func (s HPA) config(least, most int) hpa.Config {
	c := s.Policy
	c.MinReplicas, c.MaxReplicas = int32(least), int32(most) //nolint:gosec // at most unlimited
	c.Metrics = []hpa.Metric{{
		Source: hpa.PodsMetric, Name: s.Metric.String(),
		Target: hpa.Target{Type: hpa.AverageValue, Value: max(1, milli(s.Target))},
	}}
	return c
}

func milli(x float64) int64 { return int64(math.Round(x * thousandths)) }

// Grid implements [Settings]: targets, each with the controller's own limits and with a
// scale-down after a minute in place of five.
func (s HPA) Grid() []Settings {
	quick := hpa.DefaultConfig()
	quick.DownscaleStabilization = time.Minute
	var grid []Settings
	for _, target := range s.Metric.targets() {
		grid = append(grid, HPA{s.Metric, target, hpa.DefaultConfig()}, HPA{s.Metric, target, quick})
	}
	return grid
}

// New implements [Settings].
func (s HPA) New(c *simulation.Cluster, _ Resources) (simulation.Autoscaler, error) {
	d, err := newDeployments(s, c)
	if err != nil {
		return nil, err
	}
	return &hpaScaler{settings: s, deployments: d, prometheus: prometheus{deployments: d, keep: ScrapeInterval}, histories: perVariant[hpa.History](d)}, nil
}

type hpaScaler struct {
	*deployments
	settings   HPA
	prometheus prometheus
	histories  [][]hpa.History
}

// Interval implements [simulation.Autoscaler].
func (a *hpaScaler) Interval() time.Duration { return scrapeAge }

// hpaSync is how often the controller decides by default.
const hpaSync = 15 * time.Second

// Scale implements [simulation.Autoscaler].
func (a *hpaScaler) Scale(_ context.Context, now time.Time) error {
	a.raise()
	if a.prometheus.tick(now, hpaSync) {
		a.each(func(i, j int) { a.scale(now, i, j) })
	}
	return nil
}

func (a *hpaScaler) scale(now time.Time, i, j int) {
	c := a.settings.config(a.least[i][j], a.most[i][j])
	in := a.input(now, i, j)
	h := &a.histories[i][j]
	var d hpa.Decision
	d, *h = hpa.Decide(&c, *h, in)
	if d.Replicas != in.Replicas {
		a.cluster.SetReplicas(i, j, int(d.Replicas))
		*h = h.Scaled(&c, now, in.Replicas, d.Replicas)
	}
}

// input is what the controller sees of a variant: its pods now, and the newest scrape.
func (a *hpaScaler) input(now time.Time, i, j int) hpa.Input {
	pods := a.pods(i, j)
	n := int32(len(pods)) //nolint:gosec // that many replicas do not fit memory
	in := hpa.Input{Now: now, Replicas: n, Observed: n}
	scraped, at := a.prometheus.newest(i, j)
	var reading hpa.Reading
	for _, pod := range pods {
		name := strconv.Itoa(pod.Number)
		in.Pods = append(in.Pods, podOf(name, &pod))
		if sample, ok := scraped[pod.Number]; ok {
			reading.Samples = append(reading.Samples, hpa.Sample{
				Pod: name, Time: at, Window: ScrapeInterval, Value: milli(value(a.settings.Metric, &sample)),
			})
		}
	}
	if len(reading.Samples) == 0 {
		reading.Problem = "no pod has been scraped"
	}
	in.Readings = []hpa.Reading{reading}
	return in
}

// podOf is a pod as the API server has it: one that starts runs and is not ready.
func podOf(name string, pod *simulation.ReplicaStatus) hpa.Pod {
	switch pod.Phase {
	case simulation.Pending:
		return hpa.Pod{Name: name, Phase: hpa.Pending, Ready: hpa.NotReady}
	case simulation.Serving:
		return hpa.Pod{Name: name, Ready: hpa.Ready}
	default:
		return hpa.Pod{Name: name, Ready: hpa.NotReady}
	}
}
