package metrics

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// says is what a replica reports.
type says map[quantity]float64

func reports(all ...says) *reported {
	r := &reported{}
	for _, values := range all {
		one := &replica{}
		for q, value := range values {
			one.add(q, value)
		}
		r.replicas = append(r.replicas, one)
	}
	return r
}

func TestMeasure(t *testing.T) {
	up := func(value float64) says { return says{age: 1, known: 1, running: value, completions: value} }
	idle, gone := says{age: 1, known: 1}, says{known: 1, completions: 2}
	old := says{age: 100, known: 1, running: 7, completions: 3}
	state := func(s planner.MeasurementState, value float64) planner.Measurement {
		return planner.Measurement{State: s, Value: value}
	}
	gauge, rate := metric{quantity: running}, metric{quantity: completions}
	late := metric{quantity: completions, late: true}
	for _, test := range []struct {
		name     string
		reported *reported
		variant  planner.Variant
		metric   metric
		want     planner.Measurement
	}{
		{"nothing", nil, planner.Variant{CurrentReplicas: 2}, gauge, state(planner.Missing, 0)},
		{"all ready report", reports(up(2), up(3)), planner.Variant{CurrentReplicas: 2}, gauge, of(5)},
		{"one that starts need not", reports(up(2)), planner.Variant{CurrentReplicas: 2, StartingReplicas: 1}, gauge, of(2)},
		{"one of two", reports(up(2)), planner.Variant{CurrentReplicas: 2}, gauge, state(planner.Incomplete, 2)},
		{"one has no such metric", reports(up(2), idle), planner.Variant{CurrentReplicas: 2}, rate, state(planner.Incomplete, 2)},
		{"one had no such event", reports(up(2), idle), planner.Variant{CurrentReplicas: 2}, late, of(2)},
		{"none had such an event", reports(idle, idle), planner.Variant{CurrentReplicas: 2}, late, state(planner.Missing, 0)},
		{"one was removed", reports(up(2), gone), planner.Variant{CurrentReplicas: 1}, rate, of(4)},
		{"one was removed, or another that leaves", reports(up(2), gone), planner.Variant{CurrentReplicas: 1, LeavingReplicas: 1}, rate, state(planner.Incomplete, 4)},
		{"one fell silent while another starts", reports(up(2), gone), planner.Variant{CurrentReplicas: 2, StartingReplicas: 1}, gauge, state(planner.Incomplete, 2)},
		{"an old gauge does not count", reports(up(2), old), planner.Variant{CurrentReplicas: 2}, gauge, state(planner.Incomplete, 2)},
		{"all are silent", reports(gone, old), planner.Variant{CurrentReplicas: 2}, rate, state(planner.Stale, 0)},
		{"a rate alone is nobody's", reports(says{completions: 2}), planner.Variant{CurrentReplicas: 1}, rate, state(planner.Missing, 0)},
		{"NaN", reports(up(2), up(math.NaN())), planner.Variant{CurrentReplicas: 2}, gauge, state(planner.Invalid, 0)},
		{"infinite", reports(up(math.Inf(1))), planner.Variant{CurrentReplicas: 1}, gauge, state(planner.Invalid, 0)},
		{"negative", reports(up(-1)), planner.Variant{CurrentReplicas: 1}, rate, state(planner.Invalid, 0)},
		{"ambiguous", &reported{ambiguous: true}, planner.Variant{CurrentReplicas: 1}, rate, state(planner.Invalid, 0)},
		{"prefill ends no requests", reports(up(2)), planner.Variant{CurrentReplicas: 1, Role: optimizer.Prefill}, rate, state(planner.Missing, 0)},
		{"prefill has requests", reports(up(2)), planner.Variant{CurrentReplicas: 1, Role: optimizer.Prefill}, gauge, of(2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := planner.Workload{Variants: []planner.Variant{test.variant}}
			s := scope{reported: test.reported, workload: &w, staleAfter: 45}
			assert.Equal(t, test.want, s.measure(&test.metric))
		})
	}
}

// A replica that was removed is not missed while another starts, where pods tell that it is
// gone.
func TestPodsTellWhoIsGone(t *testing.T) {
	up, gone := says{age: 1, known: 1, running: 2}, says{known: 1, completions: 2}
	starting := planner.Variant{CurrentReplicas: 2, StartingReplicas: 1}
	incomplete, fresh := planner.Measurement{State: planner.Incomplete, Value: 2}, of(2)
	for name, test := range map[string]struct {
		replicas map[string]says
		pods     []Pod
		want     planner.Measurement
	}{
		"removed":                         {map[string]says{"a": up, "b": gone}, []Pod{{Name: "a"}, {Name: "c"}}, fresh},
		"silent":                          {map[string]says{"a": up, "b": gone}, []Pod{{Name: "a"}, {Name: "b"}}, incomplete},
		"nobody knows pods":               {map[string]says{"a": up, "b": gone}, nil, incomplete},
		"replicas are not called by pods": {map[string]says{"10.0.0.1": up, "10.0.0.2": gone}, []Pod{{Name: "a"}, {Name: "c"}}, incomplete},
		"one is not called by a pod":      {map[string]says{"a": up, "10.0.0.1": up, "b": gone}, []Pod{{Name: "a"}, {Name: "c"}}, planner.Measurement{State: planner.Fresh, Value: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			r := reported{targets: map[target]*replica{}}
			for name, values := range test.replicas {
				one := &replica{}
				for q, value := range values {
					one.add(q, value)
				}
				r.targets[target{name: name}] = one
			}
			r.settle(45)
			r.bury(test.pods, 45)
			w := planner.Workload{Variants: []planner.Variant{starting}}
			s := scope{reported: &r, workload: &w, staleAfter: 45}
			assert.Equal(t, test.want, s.measure(&metric{quantity: running}))
		})
	}
}

func TestSettlePrefersTheFreshTarget(t *testing.T) {
	at := func(seconds, value float64) *replica {
		r := &replica{}
		r.add(age, seconds)
		r.add(running, value)
		return r
	}
	for want, targets := range map[float64]map[target]*replica{
		1: {{"p", "a"}: at(3, 1), {"p", "b"}: at(1, 2)},
		2: {{"p", "a"}: at(100, 1), {"p", "b"}: at(1, 2), {"p", "c"}: at(1, 3)},
		3: {{"p", "c"}: at(100, 3), {"p", "d"}: at(100, 4)},
	} {
		r := reported{targets: targets}
		r.settle(45)
		if assert.Len(t, r.replicas, 1) {
			assert.Equal(t, want, r.replicas[0].values[running])
		}
	}
}
