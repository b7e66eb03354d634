package hpa

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// vector is one row of testdata/hpa.json, which describes its fields.
type vector struct {
	Kind, Name    string
	Input, Expect json.RawMessage
}

// TestVectors runs what Kubernetes' own tests expect.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/hpa.json")
	require.NoError(t, err)
	var file struct{ Cases []vector }
	require.NoError(t, json.Unmarshal(text, &file))
	require.Len(t, file.Cases, 121)
	for _, v := range file.Cases {
		run, known := map[string]func(*testing.T, vector){
			"controller_reconcile":                 runReconcile,
			"replica_calc_resource":                runResource,
			"replica_calc_metric":                  runMetric,
			"stabilize_recommendation_no_behavior": runStabilizeDown,
			"stabilize_with_behaviors":             runStabilize,
			"convert_with_behavior_rate":           runWithBehavior,
			"convert_desired_replicas_with_rules":  runWithoutBehavior,
			"scale_up_limit_with_rules":            runLimit(Rules.upLimitOf),
			"scale_down_limit_with_behaviors":      runLimit(Rules.downLimitOf),
			"store_scale_events":                   runStore,
		}[v.Kind]
		require.True(t, known, v.Kind)
		t.Run(v.Kind+"/"+v.Name, func(t *testing.T) { run(t, v) })
	}
}

func (r Rules) upLimitOf(current int32) int32   { return r.upLimit(&History{}, now, current) }
func (r Rules) downLimitOf(current int32) int32 { return r.downLimit(&History{}, now, current) }

func (v vector) read(t *testing.T, input, expect any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(v.Input, input))
	require.NoError(t, json.Unmarshal(v.Expect, expect))
}

func ago(seconds int64) time.Time { return now.Add(-seconds64(seconds)) }

func seconds64(n int64) time.Duration { return time.Duration(n) * time.Second }

// rulesVector is the rules of a direction as the API has them.
type rulesVector struct {
	Policies                   []policyVector
	SelectPolicy               string
	StabilizationWindowSeconds *int64
	Tolerance                  *float64
}

type policyVector struct {
	PeriodSeconds int64
	Type          string
	Value         int32
}

// over returns the rules over defaults, as the API server fills them in.
func (v *rulesVector) over(defaults Rules) Rules {
	if v == nil {
		return defaults
	}
	defaults.Select = map[string]Select{"": Max, "Max": Max, "Min": Min, "Disabled": Disabled}[v.SelectPolicy]
	if v.StabilizationWindowSeconds != nil {
		defaults.StabilizationWindow = seconds64(*v.StabilizationWindowSeconds)
	}
	if v.Tolerance != nil {
		defaults.Tolerance = *v.Tolerance
	}
	if len(v.Policies) > 0 {
		defaults.Policies = nil
	}
	for _, p := range v.Policies {
		defaults.Policies = append(defaults.Policies, Policy{
			Type: map[string]PolicyType{"Pods": Pods, "Percent": Percent}[p.Type], Value: p.Value, Period: seconds64(p.PeriodSeconds),
		})
	}
	return defaults
}

type recommendationVector struct {
	AgeSeconds     int64
	Recommendation int32
}

func recommendations(vectors []recommendationVector) []Recommendation {
	var out []Recommendation
	for _, v := range vectors {
		out = append(out, Recommendation{At: ago(v.AgeSeconds), Replicas: v.Recommendation})
	}
	return out
}

type eventVector struct {
	AgeSeconds    int64
	ReplicaChange int32
	Outdated      bool
}

func events(vectors []eventVector) []Event {
	var out []Event
	for _, v := range vectors {
		out = append(out, Event{At: ago(v.AgeSeconds), Change: v.ReplicaChange})
	}
	return out
}

func runStabilizeDown(t *testing.T, v vector) {
	var in struct {
		DesiredReplicas                     int32
		DownscaleStabilisationWindowSeconds int64
		Recommendations                     []recommendationVector
	}
	var want struct {
		LogLength          int
		StabilizedReplicas int32
	}
	v.read(t, &in, &want)
	got, log := stabilizeDown(recommendations(in.Recommendations), now, in.DesiredReplicas, seconds64(in.DownscaleStabilisationWindowSeconds))
	assert.Equal(t, want.StabilizedReplicas, got)
	assert.Len(t, log, want.LogLength)
}

func runStabilize(t *testing.T, v vector) {
	var in struct {
		CurrentReplicas, DesiredReplicas                                       int32
		Recommendations                                                        []recommendationVector
		ScaleDownStabilizationWindowSeconds, ScaleUpStabilizationWindowSeconds int64
	}
	var want struct {
		Reason               string
		RecommendationsAfter []int32
		StabilizedReplicas   int32
	}
	v.read(t, &in, &want)
	got, log := stabilize(recommendations(in.Recommendations), now, in.CurrentReplicas, in.DesiredReplicas,
		seconds64(in.ScaleUpStabilizationWindowSeconds), seconds64(in.ScaleDownStabilizationWindowSeconds))
	assert.Equal(t, want.StabilizedReplicas, got)
	var after []int32
	for _, r := range log {
		after = append(after, r.Replicas)
	}
	assert.Equal(t, want.RecommendationsAfter, after)
	assert.Equal(t, want.Reason, held(in.CurrentReplicas, in.DesiredReplicas).String())
}

func runWithBehavior(t *testing.T, v vector) {
	var in struct {
		CurrentReplicas, DesiredReplicas, MaxReplicas, MinReplicas int32
		ScaleDown, ScaleUp                                         *rulesVector
		ScaleDownEvents, ScaleUpEvents                             []eventVector
	}
	var want struct {
		Condition string
		Replicas  int32
	}
	v.read(t, &in, &want)
	b := DefaultBehavior()
	b = Behavior{ScaleUp: in.ScaleUp.over(b.ScaleUp), ScaleDown: in.ScaleDown.over(b.ScaleDown)}
	c := Config{MinReplicas: in.MinReplicas, MaxReplicas: in.MaxReplicas, Behavior: &b}
	h := History{Ups: events(in.ScaleUpEvents), Downs: events(in.ScaleDownEvents)}
	got := c.withBehavior(&h, now, in.CurrentReplicas, in.DesiredReplicas)
	assert.Equal(t, want.Replicas, got.replicas)
	assert.Equal(t, want.Condition, got.reason.String())
}

func runWithoutBehavior(t *testing.T, v vector) {
	var in struct{ CurrentReplicas, DesiredReplicas, MaxReplicas, MinReplicas int32 }
	var want struct {
		Condition string
		Replicas  int32
	}
	v.read(t, &in, &want)
	c := Config{MinReplicas: in.MinReplicas, MaxReplicas: in.MaxReplicas}
	got := c.withoutBehavior(in.CurrentReplicas, in.DesiredReplicas)
	assert.Equal(t, want.Replicas, got.replicas)
	assert.Equal(t, want.Condition, got.reason.String())
}

func runLimit(limit func(Rules, int32) int32) func(*testing.T, vector) {
	return func(t *testing.T, v vector) {
		var in struct {
			CurrentReplicas int32
			rulesVector
		}
		var want struct{ Limit int32 }
		v.read(t, &in, &want)
		assert.Equal(t, want.Limit, limit(in.over(Rules{}), in.CurrentReplicas))
	}
}

func runStore(t *testing.T, v vector) {
	var in struct {
		ChangeQueryPeriodSeconds int64
		PrevScaleEvents          []eventVector
		ReplicaChange            int32
		Rules                    *rulesVector
	}
	var want struct {
		EventsAfter                  []eventVector
		ReplicasChangeInPeriodBefore int64
	}
	v.read(t, &in, &want)
	before := events(in.PrevScaleEvents)
	assert.Equal(t, want.ReplicasChangeInPeriodBefore, changes(before, now, seconds64(in.ChangeQueryPeriodSeconds)))
	c := Config{}
	if in.Rules != nil {
		rules := in.Rules.over(Rules{})
		c.Behavior = &Behavior{ScaleUp: rules, ScaleDown: rules}
	}
	up := History{Ups: before}.Scaled(&c, now, 10, 10+in.ReplicaChange)
	down := History{Downs: before}.Scaled(&c, now, 10+in.ReplicaChange, 10)
	for _, after := range [][]Event{up.Ups, down.Downs} {
		require.Len(t, after, len(want.EventsAfter))
		for i, e := range after {
			assert.Equal(t, want.EventsAfter[i].ReplicaChange, e.Change)
			assert.Equal(t, want.EventsAfter[i].Outdated, e.Outdated)
		}
	}
}

// podVector is a pod of the rows about one metric.
type podVector struct {
	Deleting                  bool
	Name, Phase, Ready        string
	StartAgeSeconds           *int64
	RequestsMilliPerContainer []int64
}

func (v podVector) pod() Pod {
	p := Pod{
		Name: v.Name, Deleting: v.Deleting, HasStarted: true,
		Phase: map[string]Phase{"Running": Running, "Pending": Pending, "Failed": Failed}[v.Phase],
		Ready: map[string]Readiness{"True": Ready, "False": NotReady}[v.Ready],
	}
	if v.StartAgeSeconds != nil {
		p.Started = ago(*v.StartAgeSeconds)
	}
	for i := range 2 {
		c := Container{Name: fmt.Sprint("container", i+1)}
		if i < len(v.RequestsMilliPerContainer) {
			c.Requests = []Request{{Resource: "cpu", Value: v.RequestsMilliPerContainer[i]}}
		}
		p.Containers = append(p.Containers, c)
	}
	return p
}

func pods(vectors []podVector) []Pod {
	var out []Pod
	for _, v := range vectors {
		out = append(out, v.pod())
	}
	return out
}

// tolerant is a configuration of which only what a single metric asks for counts.
func tolerant(up, down float64, initialization, readiness int64) Config {
	return Config{
		Behavior:                &Behavior{ScaleUp: Rules{Tolerance: up}, ScaleDown: Rules{Tolerance: down}},
		CPUInitializationPeriod: seconds64(initialization), InitialReadinessDelay: seconds64(readiness),
	}
}

func runResource(t *testing.T, v vector) {
	var in struct {
		Container, Resource                                            string
		CurrentReplicas                                                int32
		CPUInitializationPeriodSeconds, DelayOfInitialReadinessSeconds int64
		Metrics                                                        []struct {
			Pod               string
			MilliPerContainer []int64
			WindowSeconds     int64
		}
		Pods                       []podVector
		TargetUtilization          int64
		ToleranceDown, ToleranceUp float64
	}
	var want struct {
		Error           string
		RawAverageMilli int64
		Replicas        int32
		Utilization     int32
	}
	v.read(t, &in, &want)
	m := Metric{Source: Resource, Name: in.Resource, Container: in.Container, Target: Target{Utilization, in.TargetUtilization}}
	if in.Container != "" {
		m.Source = ContainerResource
	}
	var r Reading
	for _, s := range in.Metrics {
		sample := Sample{Pod: s.Pod, Window: seconds64(s.WindowSeconds)}
		for i, value := range s.MilliPerContainer {
			sample.Containers = append(sample.Containers, Usage{Name: fmt.Sprint("container", i+1), Measured: true, Value: value})
		}
		r.Samples = append(r.Samples, sample)
	}
	c := tolerant(in.ToleranceUp, in.ToleranceDown, in.CPUInitializationPeriodSeconds, in.DelayOfInitialReadinessSeconds)
	got := c.propose(m, r, &Input{Now: now, Replicas: in.CurrentReplicas, Observed: in.CurrentReplicas, Pods: pods(in.Pods)})
	if want.Error != "" {
		problem := map[string]string{"no metrics returned matched known pods": noRequests, "missing request for": missingRequest}[want.Error]
		require.NotEmpty(t, problem)
		assert.Contains(t, got.Problem, problem)
		return
	}
	assert.Empty(t, got.Problem)
	assert.Equal(t, want.Replicas, got.Replicas)
	assert.Equal(t, want.Utilization, got.Utilization)
	assert.Equal(t, want.RawAverageMilli, got.Usage)
}

func runMetric(t *testing.T, v vector) {
	var in struct {
		CPUInitializationPeriodSeconds, DelayOfInitialReadinessSeconds int64
		CurrentReplicas                                                int32
		LevelsMilli                                                    []int64
		MetricSource                                                   string
		Pods                                                           []podVector
		TargetMilli                                                    int64
		ToleranceDown, ToleranceUp                                     float64
	}
	var want struct {
		Replicas   int32
		UsageMilli int64
	}
	v.read(t, &in, &want)
	m, known := map[string]Metric{
		"Pods/AverageValue":     {Source: PodsMetric, Target: Target{AverageValue, in.TargetMilli}},
		"Object/AverageValue":   {Source: Object, Target: Target{AverageValue, in.TargetMilli}},
		"Object/Value":          {Source: Object, Target: Target{Value, in.TargetMilli}},
		"External/AverageValue": {Source: External, Target: Target{AverageValue, in.TargetMilli}},
		"External/Value":        {Source: External, Target: Target{Value, in.TargetMilli}},
	}[in.MetricSource]
	require.True(t, known, in.MetricSource)
	r := Reading{Values: in.LevelsMilli}
	for i, level := range in.LevelsMilli {
		r.Samples = append(r.Samples, Sample{Pod: fmt.Sprint("test-pod-", i), Value: level})
	}
	c := tolerant(in.ToleranceUp, in.ToleranceDown, in.CPUInitializationPeriodSeconds, in.DelayOfInitialReadinessSeconds)
	got := c.propose(m, r, &Input{Now: now, Replicas: in.CurrentReplicas, Observed: in.CurrentReplicas, Pods: pods(in.Pods)})
	assert.Empty(t, got.Problem)
	assert.Equal(t, want.Replicas, got.Replicas)
	assert.Equal(t, want.UsageMilli, got.Usage)
}

func TestSumsDoNotDependOnOrderWhereTheySaturate(t *testing.T) {
	for _, values := range [][]int64{
		{math.MaxInt64, math.MaxInt64, -5},
		{-5, math.MaxInt64, math.MaxInt64},
	} {
		assert.EqualValues(t, math.MaxInt64, sum(values))
	}
	assert.EqualValues(t, 2, sum([]int64{math.MaxInt64, math.MinInt64, 3}))
	assert.EqualValues(t, math.MinInt64, sum([]int64{math.MinInt64, math.MinInt64, math.MaxInt64}))
}
