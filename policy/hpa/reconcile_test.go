package hpa

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reconcileVector is the input of a whole cycle.
type reconcileVector struct {
	ConfigurableToleranceGate                              bool
	CPUTargetUtilization                                   int64
	CustomClients                                          bool
	MaxReplicas, MinReplicas, SpecReplicas, StatusReplicas int32
	Metrics                                                []metricVector
	PodPhase, PodReadiness                                 []string
	PodStartAgeSeconds                                     []int64
	ReportedLevelsMilli, RequestsMilli                     []int64
	ScaleDown, ScaleUp                                     *rulesVector
	UseMetricsAPI                                          bool
}

type metricVector struct {
	Type                   string
	External, Object, Pods struct {
		Metric struct{ Name string }
		Target struct{ Type, Value, AverageValue string }
	}
}

func (v metricVector) metric(t *testing.T) Metric {
	t.Helper()
	source, known := map[string]Source{"External": External, "Object": Object, "Pods": PodsMetric}[v.Type]
	if !known {
		return Metric{Source: -1}
	}
	one := map[Source]struct {
		Metric struct{ Name string }
		Target struct{ Type, Value, AverageValue string }
	}{External: v.External, Object: v.Object, PodsMetric: v.Pods}[source]
	text, scale := strings.CutSuffix(one.Target.Value+one.Target.AverageValue, "m")
	value, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	if !scale {
		value *= 1000
	}
	return Metric{
		Source: source, Name: one.Metric.Name,
		Target: Target{Type: map[string]TargetType{"Value": Value, "AverageValue": AverageValue}[one.Target.Type], Value: value},
	}
}

// config returns the configuration that the case has in Kubernetes' test, whose
// initialization period and readiness delay are its own.
func (v *reconcileVector) config(t *testing.T) Config {
	t.Helper()
	c := DefaultConfig()
	c.MinReplicas, c.MaxReplicas = v.MinReplicas, v.MaxReplicas
	c.CPUInitializationPeriod, c.InitialReadinessDelay = seconds64(120), seconds64(10)
	for _, m := range v.Metrics {
		c.Metrics = append(c.Metrics, m.metric(t))
	}
	if v.CPUTargetUtilization > 0 {
		c.Metrics = append(c.Metrics, Metric{Source: Resource, Name: "cpu", Target: Target{Utilization, v.CPUTargetUtilization}})
	}
	if v.ScaleUp != nil || v.ScaleDown != nil {
		b := DefaultBehavior()
		b.ScaleUp, b.ScaleDown = v.ScaleUp.over(b.ScaleUp), v.ScaleDown.over(b.ScaleDown)
		if !v.ConfigurableToleranceGate {
			b.ScaleUp.Tolerance, b.ScaleDown.Tolerance = c.Tolerance, c.Tolerance
		}
		c.Behavior = &b
	}
	return c
}

// pods returns the pods of the fake cluster: one per request, or one per replica.
func (v *reconcileVector) pods() []Pod {
	count := len(v.RequestsMilli)
	if count == 0 && !v.UseMetricsAPI {
		count = int(v.StatusReplicas)
	}
	pods := make([]Pod, count)
	for i := range pods {
		one := podVector{Name: fmt.Sprint("pod-", i), Phase: "Running", Ready: "True"}
		if i < len(v.PodPhase) {
			one.Phase = v.PodPhase[i]
		}
		if i < len(v.PodReadiness) {
			one.Ready = v.PodReadiness[i]
		}
		if i < len(v.PodStartAgeSeconds) {
			one.StartAgeSeconds = &v.PodStartAgeSeconds[i]
		}
		if i < len(v.RequestsMilli) {
			half := v.RequestsMilli[i] / 2
			one.RequestsMilliPerContainer = []int64{half, half}
		}
		pods[i] = one.pod()
		pods[i].ReadySince = pods[i].Started
	}
	return pods
}

func (v *reconcileVector) reading(m Metric) Reading {
	if m.Source == Object {
		return Reading{Values: v.ReportedLevelsMilli[:1]}
	}
	r := Reading{Values: v.ReportedLevelsMilli}
	for i, level := range v.ReportedLevelsMilli {
		r.Samples = append(r.Samples, Sample{
			Pod: fmt.Sprint("pod-", i), Time: now, Window: seconds64(60), Value: level,
			Containers: []Usage{{"container1", true, level / 2}, {"container2", true, level / 2}},
		})
	}
	return r
}

// faults are what cases change in code: which metrics cannot be read, which pods are not
// known, and whether the scale can be written.
func (v *reconcileVector) faults(name string, in *Input, metrics []Metric) {
	switch {
	case strings.Contains(name, "InvalidSelector"):
		in.Selector = InvalidSelector
	case strings.Contains(name, "AmbiguousSelector"):
		in.Selector = AmbiguousSelector
	}
	for i, m := range metrics {
		if v.CustomClients && (m.Source == External || len(metrics) == 1) {
			in.Readings[i] = Reading{Problem: "something went wrong"}
		}
	}
}

func runReconcile(t *testing.T, v vector) {
	var in reconcileVector
	var want struct {
		Conditions                      []struct{ Type, Status, Reason string }
		DesiredReplicas                 int32
		ReconcileAction, ReconcileError string
	}
	v.read(t, &in, &want)
	c := in.config(t)
	input := Input{Now: now, Replicas: in.SpecReplicas, Observed: in.StatusReplicas, Pods: in.pods()}
	for _, m := range c.Metrics {
		input.Readings = append(input.Readings, in.reading(m))
	}
	in.faults(v.Name, &input, c.Metrics)

	// The controllers of the test start with an empty log, not with none: they have seen
	// the workload before.
	seen := History{Recommendations: []Recommendation{{At: ago(24 * 3600), Replicas: in.SpecReplicas}}}
	got, _ := Decide(&c, seen, input)

	cannotWrite := v.Name == "TestConditionFailedUpdateScale"
	if !cannotWrite {
		assert.Equal(t, want.DesiredReplicas, got.Replicas)
		action := map[int]string{-1: "scale_down", 0: "none", 1: "scale_up"}[sign(got.Replicas-in.SpecReplicas)]
		assert.Equal(t, want.ReconcileAction, action)
		assert.Equal(t, want.ReconcileError != "none", got.incomplete(), "an error is a metric that is not known")
	}
	conditions := map[string]Condition{"AbleToScale": got.AbleToScale, "ScalingActive": got.ScalingActive, "ScalingLimited": got.ScalingLimited}
	for _, w := range want.Conditions {
		condition := conditions[w.Type]
		delete(conditions, w.Type)
		switch w.Reason {
		case "SucceededRescale":
			assert.NotEqual(t, in.SpecReplicas, got.Replicas)
		case "FailedUpdateScale":
			assert.True(t, cannotWrite)
		default:
			assert.Equal(t, w.Reason, condition.Reason.String())
			assert.Equal(t, w.Status == "True", condition.True, w.Type)
		}
	}
	for name, condition := range conditions {
		assert.Zero(t, condition, name)
	}
}

func sign(n int32) int {
	return min(max(int(n), -1), 1)
}

func (d *Decision) incomplete() bool {
	for _, p := range d.Proposals {
		if p.Problem != "" {
			return true
		}
	}
	return d.ScalingActive.Reason != 0 && !d.ScalingActive.True
}
