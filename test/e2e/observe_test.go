//go:build e2e && linux

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/controlplane"
	"github.com/poolwright/poolwright/internal/fakeengine"
	"github.com/poolwright/poolwright/metrics"
	"github.com/poolwright/poolwright/planner"
)

// What pods of every engine report, Prometheus scrapes and the observer asks for, is what
// was offered.
func TestEveryEngineIsObserved(t *testing.T) {
	c := newCluster(t, controlplane.Config{})
	c.nodes("h100", 2*len(metrics.Engines()))
	c.kubectl("apply", "--server-side", "-f", c.fill("engines.yaml", metrics.Engines()))

	const rate = 20
	config := metrics.Config{
		URL: c.PrometheusURL, ScrapeInterval: time.Second, Window: 5 * time.Second,
	}
	var fleet planner.Fleet
	for _, engine := range metrics.Engines() {
		name := string(engine)
		require.NoError(t, c.engines.Offer(fakeengine.ModelName{Namespace: "default", Model: name}, rate, shape))
		w := planner.Workload{
			Namespace: "default", Name: name, Model: name,
			Variants: []planner.Variant{{Name: name, CurrentReplicas: 2, ScaleTarget: planner.ScaleTarget{Name: name}}},
		}
		w.Shape.OutputTokens = shape.OutputTokens
		fleet.Workloads = append(fleet.Workloads, w)
	}
	observer, err := metrics.New(config, func(w *planner.Workload) metrics.Series { return metrics.Series{Engine: metrics.Engine(w.Name)} }, nil, nil)
	require.NoError(t, err)
	for i := range fleet.Workloads {
		name := fleet.Workloads[i].Name
		var last planner.Observation
		c.until(func() bool {
			all, err := observer.Observe(t.Context(), fleet)
			if err != nil {
				return false
			}
			last = all[i]
			rate := float64(rate)
			return isFresh(last.CompletionRate, 0.7*rate, 1.3*rate) && isFresh(last.Running, 1, rate) && isFresh(last.Waiting, 0, 0)
		}, "%s: %v", name, printed{&last})
	}
}

func isFresh(m planner.Measurement, least, most float64) bool {
	return m.State == planner.Fresh && m.Value >= least && m.Value <= most
}

// printed is formatted when a test has failed, not before.
type printed struct{ value any }

func (p printed) String() string { return fmt.Sprintf("%+v", p.value) }
