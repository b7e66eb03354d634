package kthena_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/kthena"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// each is an input in which so many ready replicas report a value each.
func each(now time.Time, replicas int, values ...float64) kthena.Input {
	return kthena.Input{Now: now, Replicas: replicas, Readings: []kthena.Reading{{Values: values}}}
}

// TestIncident23: one unready or restarted pod discarded the target for ever. Here the
// others are still heard, and all of them once it is back.
func TestIncident23UnreadyReplicaDoesNotDiscardTheTarget(t *testing.T) {
	c := valid()
	var h kthena.History
	var d kthena.Decision
	replicas := 3
	for i := range 40 {
		in := each(start.Add(time.Duration(i)*15*time.Second), replicas, 20, 20)
		in.Unready = 1
		d, h = kthena.Decide(&c, h, in)
		require.False(t, d.Skipped)
		if i == 0 {
			assert.Equal(t, 7, d.Replicas, "8 are recommended by two, and 3 + 4 are permitted")
		}
	}
	d, _ = kthena.Decide(&c, h, each(start.Add(time.Hour), replicas, 20, 20, 20))
	assert.Equal(t, []kthena.Step{
		{Reason: kthena.MetricsAsked, Before: 3, After: 12},
		{Reason: kthena.ScaleUpLimited, Before: 12, After: 7},
	}, d.Steps)
}

// TestIncident24: a stabilised scale-down never drained, because what was wanted and what
// was permitted went into one window.
func TestIncident24StabilizedScaleDownDrains(t *testing.T) {
	c := valid()
	var h kthena.History
	var d kthena.Decision
	replicas := 10
	for i := range 40 {
		now := start.Add(time.Duration(i) * 15 * time.Second)
		values := make([]float64, replicas)
		if i == 0 {
			for k := range values {
				values[k] = 5
			}
		}
		d, h = kthena.Decide(&c, h, each(now, replicas, values...))
		replicas = d.Replicas
		if now.Sub(start) <= c.ScaleDown.Window {
			require.Equal(t, 10, replicas, now)
		}
	}
	assert.Equal(t, 1, replicas)
}

// TestIncident25: a backend without metrics counted as one instance. Here its replicas
// dampen what the others say.
func TestIncident25UnknownIsNotOneInstance(t *testing.T) {
	c := valid()
	c.ScaleDown.Window, c.ScaleDown.Period = 0, 0
	in := each(start, 10, 1, 1)
	in.Readings[0].Missing = 8
	d, _ := kthena.Decide(&c, kthena.History{}, in)
	assert.Equal(t, 9, d.Replicas, "the eight may well be on target")

	in.Readings[0].Values = nil
	d, _ = kthena.Decide(&c, kthena.History{}, in)
	assert.True(t, d.Skipped)
	assert.Equal(t, 10, d.Replicas)
}

// TestIncident26: a typo in the name of a metric scaled to the minimum. Here replicas
// stay, and the decision says why.
func TestIncident26AbsentMetricHolds(t *testing.T) {
	c := valid()
	c.ScaleDown.Window, c.ScaleDown.Period = 0, 0
	c.Metrics = append(c.Metrics, kthena.Metric{Name: "kv_cache_usage_prec", Target: 0.7})
	var h kthena.History
	in := each(start, 4, 0, 0, 0, 0)
	in.Readings = append(in.Readings, kthena.Reading{})
	d, next := kthena.Decide(&c, h, in)
	assert.True(t, d.Skipped)
	assert.Equal(t, 4, d.Replicas)
	assert.Equal(t, kthena.MetricMissing, d.Steps[0].Reason)
	assert.Equal(t, h, next, "nothing was learnt")

	d, _ = kthena.Decide(&c, h, kthena.Input{Now: start, Replicas: 4})
	assert.Equal(t, kthena.NoMetrics, d.Steps[0].Reason)
	assert.Equal(t, "4 → 4: no metric is known: replicas stay as they are", d.Steps[0].String())

	d, _ = kthena.Decide(&c, h, kthena.Input{Now: start, Replicas: 0})
	assert.Equal(t, 1, d.Replicas, "the minimum holds without metrics")

	in.Readings[0].Values = []float64{9, 9, 9, 9}
	d, _ = kthena.Decide(&c, h, in)
	assert.Equal(t, 8, d.Replicas, "what is known may grow the workload")
}

// TestUpstreamTakesTheLoadOfOneForThatOfAll is why production counts per replica: the
// load of a single replica, spread over nine, is on target for Kthena.
func TestUpstreamTakesTheLoadOfOneForThatOfAll(t *testing.T) {
	c := valid()
	c.ScaleDown.Window, c.ScaleDown.Period = 0, 0
	const share = 5.2 / 9
	in := each(start, 9, share, share, share, share, share, share, share, share, share)
	for readings, want := range map[kthena.Readings]int{kthena.PerReplica: 2, kthena.Upstream: 9} {
		c.Readings = readings
		d, _ := kthena.Decide(&c, kthena.History{}, in)
		assert.Equal(t, want, d.Replicas)
	}
}
