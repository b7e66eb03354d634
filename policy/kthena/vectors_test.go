package kthena_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/policy/kthena"
)

// scalingVector is a workload of testdata/kthena_scaling.json, which describes its
// fields.
type scalingVector struct {
	ID       string
	Behavior struct {
		ScaleDown, ScaleUpStable stableVector
		ScaleUpPanic             struct {
			PanicModeHoldMs, PeriodMs      int64
			PanicThresholdPercent, Percent int
		}
	}
	Cycles                                     []cycleVector
	MaxReplicas, MinReplicas, TolerancePercent int
	MetricTargets                              map[string]float64
}

type stableVector struct {
	Instances, Percent              int
	PeriodMs, StabilizationWindowMs int64
	SelectPolicy                    string
}

func (v stableVector) stable() kthena.Stable {
	return kthena.Stable{
		Window: milliseconds(v.StabilizationWindowMs), Instances: v.Instances, Percent: v.Percent, Period: milliseconds(v.PeriodMs),
		Select: map[string]kthena.Select{"": kthena.Unlimited, "Or": kthena.Or, "And": kthena.And}[v.SelectPolicy],
	}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

type cycleVector struct {
	CurrentReplicas, UnreadyPods   int
	ExternalMetrics, PodMetricSums map[string]float64
	TMs                            int64
	Expected                       struct {
		Corrected, Recommended int
		IsPanic, Skip          bool
	}
}

func (v *scalingVector) config() kthena.Config {
	c := kthena.Config{
		MinReplicas: v.MinReplicas, MaxReplicas: v.MaxReplicas, TolerancePercent: v.TolerancePercent,
		Readings: kthena.Upstream,
		ScaleUp:  v.Behavior.ScaleUpStable.stable(), ScaleDown: v.Behavior.ScaleDown.stable(),
		Panic: kthena.Panic{
			ThresholdPercent: v.Behavior.ScaleUpPanic.PanicThresholdPercent, Hold: milliseconds(v.Behavior.ScaleUpPanic.PanicModeHoldMs),
			Percent: v.Behavior.ScaleUpPanic.Percent, Period: milliseconds(v.Behavior.ScaleUpPanic.PeriodMs),
		},
	}
	for _, name := range slices.Sorted(maps.Keys(v.MetricTargets)) {
		c.Metrics = append(c.Metrics, kthena.Metric{Name: name, Target: v.MetricTargets[name]})
	}
	return c
}

func (v cycleVector) input(metrics []kthena.Metric) kthena.Input {
	in := kthena.Input{Now: time.UnixMilli(v.TMs), Replicas: v.CurrentReplicas, Unready: v.UnreadyPods}
	for _, m := range metrics {
		var r kthena.Reading
		if value, ok := v.ExternalMetrics[m.Name]; ok {
			r.HasExternal, r.External = true, value
		}
		if sum, ok := v.PodMetricSums[m.Name]; ok {
			r.Values = []float64{sum}
		}
		in.Readings = append(in.Readings, r)
	}
	return in
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS("testdata"), name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func TestScalingVectors(t *testing.T) {
	var file struct{ HomogeneousSingleCycle, HomogeneousTrajectories []scalingVector }
	readVectors(t, "kthena_scaling.json", &file)
	require.Len(t, file.HomogeneousSingleCycle, 120)
	require.Len(t, file.HomogeneousTrajectories, 20)
	for _, v := range slices.Concat(file.HomogeneousSingleCycle, file.HomogeneousTrajectories) {
		t.Run(v.ID, func(t *testing.T) {
			c := v.config()
			require.NoError(t, c.Validate())
			var h kthena.History
			for i, cycle := range v.Cycles {
				got, next := kthena.Decide(&c, h, cycle.input(c.Metrics))
				require.Equal(t, cycle.Expected.Skip, got.Skipped, i)
				if got.Skipped {
					require.Equal(t, h, next)
					require.Equal(t, cycle.CurrentReplicas, got.Replicas)
					continue
				}
				h = next
				require.Equal(t, cycle.Expected.Recommended, got.Recommended, i)
				require.Equal(t, cycle.Expected.Corrected, got.Replicas, i)
				require.Equal(t, cycle.Expected.IsPanic, got.Panicking, i)
			}
		})
	}
}

func TestRoleRatioVectors(t *testing.T) {
	var file struct {
		RoleRatioRandom struct {
			Cases []struct {
				ID                                string
				Bounds                            struct{ Prefill, Decode kthena.Bounds }
				ExpectedAdjusted, StillViolated   bool
				ExpectedRatio, MaxRatio, MinRatio string
				ExpectedReplicas, Replicas        kthena.Pair
			}
		}
	}
	readVectors(t, "kthena_scaling.json", &file)
	require.Len(t, file.RoleRatioRandom.Cases, 100)
	for _, v := range file.RoleRatioRandom.Cases {
		t.Run(v.ID, func(t *testing.T) {
			least, err := kthena.ParseDecimal(v.MinRatio)
			require.NoError(t, err)
			most, err := kthena.ParseDecimal(v.MaxRatio)
			require.NoError(t, err)
			r := kthena.RoleRatio{Least: least, Most: most, Prefill: v.Bounds.Prefill, Decode: v.Bounds.Decode}
			require.NoError(t, r.Validate())
			got, adjusted, violated := r.Keep(v.Replicas)
			assert.Equal(t, v.ExpectedReplicas, got)
			assert.Equal(t, v.ExpectedAdjusted, adjusted)
			assert.Equal(t, v.StillViolated, violated)
			assert.Equal(t, v.ExpectedRatio, strconv.FormatFloat(float64(got.Prefill)/float64(got.Decode), 'f', -1, 64))
		})
	}
}

func TestQuantileVectors(t *testing.T) {
	var file struct {
		QuantileInDiffRandom struct {
			Cases []struct {
				ID                            string
				Expected                      float64
				NowCumulative, PastCumulative []int64
				Percentile                    int
				UpperBounds                   []float64
			}
		}
	}
	readVectors(t, "kthena_history_panic.json", &file)
	require.Len(t, file.QuantileInDiffRandom.Cases, 60)
	for _, v := range file.QuantileInDiffRandom.Cases {
		got, ok, err := kthena.Quantile(v.Percentile, v.UpperBounds, v.PastCumulative, v.NowCumulative)
		require.NoError(t, err, v.ID)
		require.True(t, ok)
		assert.InEpsilon(t, v.Expected, got, 1e-9, v.ID)
	}
}

// sectionVector is a section of a policy as its manifest has it.
type sectionVector struct {
	Instances, Percent, PanicThresholdPercent  int
	PanicModeHold, Period, StabilizationWindow string
	SelectPolicy                               string
}

func (v sectionVector) stable(t *testing.T) kthena.Stable {
	return kthena.Stable{
		Window: duration(t, v.StabilizationWindow), Instances: v.Instances, Percent: v.Percent, Period: duration(t, v.Period),
		Select: map[string]kthena.Select{"Or": kthena.Or, "And": kthena.And}[v.SelectPolicy],
	}
}

func (v sectionVector) panic(t *testing.T) kthena.Panic {
	return kthena.Panic{
		ThresholdPercent: v.PanicThresholdPercent, Hold: duration(t, v.PanicModeHold), Percent: v.Percent, Period: duration(t, v.Period),
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	if text == "" || text == "required" {
		return 0
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

func TestDefaultVectors(t *testing.T) {
	var file struct {
		Defaults struct {
			Constants struct {
				HistogramKeep, HistogramWindow string
				Percentile                     int
			}
			CRD struct {
				Panic, Stable    sectionVector
				TolerancePercent int
			}
			WebhookWhenSectionAbsent struct{ Panic, ScaleDown, ScaleUp sectionVector }
		}
	}
	readVectors(t, "kthena_history_panic.json", &file)
	stable, alarm := kthena.SectionDefaults()
	assert.Equal(t, file.Defaults.CRD.Stable.stable(t), stable)
	assert.Equal(t, file.Defaults.CRD.Panic.panic(t), alarm)
	absent := file.Defaults.WebhookWhenSectionAbsent
	c := kthena.DefaultConfig()
	assert.Equal(t, file.Defaults.CRD.TolerancePercent, c.TolerancePercent)
	assert.Equal(t, absent.Panic.panic(t), c.Panic)
	assert.Equal(t, absent.ScaleDown.stable(t), c.ScaleDown)
	assert.Equal(t, absent.ScaleUp.stable(t), c.ScaleUp)
	assert.Equal(t, kthena.DefaultPercentile, file.Defaults.Constants.Percentile)
	assert.Equal(t, kthena.HistogramWindow, duration(t, file.Defaults.Constants.HistogramWindow))
	assert.Equal(t, kthena.HistogramKeep, duration(t, file.Defaults.Constants.HistogramKeep))
}
