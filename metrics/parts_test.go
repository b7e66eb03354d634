package metrics

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy/kthena"
	"github.com/poolwright/poolwright/queueing"
)

// entries are the entry pods of a role of the ModelServing pair, as Kthena names them.
func entries(role string, count int, prefill bool) Part {
	return Part{Pods: regexp.MustCompile(`^(pair-\d+)-` + role + `-\d+-0$`), Count: count, Prefill: prefill}
}

// pair says that one pod prefills what two decode.
var pair = map[string][]Part{"pair": {entries("decode", 2, false), entries("prefill", 1, true)}}

// fleetOfPairs is one workload whose replicas are groups of pods.
func fleetOfPairs(namespace string, ready int) planner.Fleet {
	fleet := fleetOf(namespace, ready)
	v := &fleet.Workloads[0].Variants[0]
	v.Name, v.ScaleTarget.Name, v.Replica = "pair", "pair", &queueing.Replica{}
	return fleet
}

// A prefill ends a request with its first token, and the pod that decodes it ends it once more.
// Both count it, and both know how many requests they have.
func prefills(s float64) string { return vllmAt(8, 1, 3)(s) + tokens(8*s, 160, 1) }
func decodes(s float64) string  { return vllmAt(4, 20, 0)(s) + tokens(4*s, 160, 400) }

// startGroup starts the pods of a group: the first prefills for the others.
func startGroup(p *server, namespace string) {
	p.start(namespace, 0, prefills)
	p.start(namespace, 1, decodes)
	p.start(namespace, 2, decodes)
}

func TestRequestsOfAGroupCountOnce(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	startGroup(p, "groups")
	fleet := fleetOfPairs("groups", 1)
	c := p.config(Series{Engine: VLLM, Parts: pair})
	got := until(t, c, fleet, func(o *planner.Observation) bool {
		return about(o.CompletionRate, 8) && fresh(o.Running) && fresh(o.InputSCV) && math.Abs(o.OutputTokens.Value-400) < 20
	})
	assert.Equal(t, of(41), got[0].Running, "a request is in one place at a time")
	assert.Equal(t, of(3), got[0].Waiting)
	assert.InDelta(t, 160, got[0].InputTokens.Value, 8)
	assert.Equal(t, planner.Missing, got[0].OutputSCV.State, "buckets don't tell who prefills")
	assert.Empty(t, got[0].Variants, "no pod has a request from its begin to its end")

	// A part that is silent is missed, though more pods report than there are replicas: one that
	// decodes in all that is measured, and one that prefills in the requests that it has.
	p.stop("groups", 2)
	until(t, c, fleet, func(o *planner.Observation) bool {
		return o.CompletionRate.State == planner.Incomplete && o.Running == planner.Measurement{State: planner.Incomplete, Value: 21}
	})
	p.start("groups", 2, decodes)
	until(t, c, fleet, func(o *planner.Observation) bool { return fresh(o.CompletionRate) && fresh(o.Running) })
	p.stop("groups", 0)
	until(t, c, fleet, func(o *planner.Observation) bool {
		return fresh(o.CompletionRate) && o.Waiting.State == planner.Incomplete
	})
}

// Pods that are no part that reports count for nothing.
func TestOtherPodsOfAGroupDontCount(t *testing.T) {
	t.Parallel()
	p := prometheus(t)
	startGroup(p, "others")
	c := p.config(Series{Engine: VLLM, Parts: map[string][]Part{"pair": {entries("decode", 2, false)}}})
	got := until(t, c, fleetOfPairs("others", 1), func(o *planner.Observation) bool {
		return about(o.CompletionRate, 8) && fresh(o.Running) && len(o.Variants) == 1 && o.Variants[0].Replica.Rate.Known
	})
	assert.Equal(t, of(40), got[0].Running)
	assert.Equal(t, of(0), got[0].Waiting)
	assert.InDelta(t, 8, got[0].Variants[0].Replica.Rate.Value, 0.8, "the replica is the group")
	assert.Equal(t, 40.0, got[0].Variants[0].Replica.Running.Value)

	// Nor do those that prefill, if they need not report: one that falls silent is not missed.
	c = p.config(Series{Engine: VLLM, Parts: map[string][]Part{"pair": {entries("decode", 2, false), entries("prefill", 0, true)}}})
	got = until(t, c, fleetOfPairs("others", 1), func(o *planner.Observation) bool { return about(o.CompletionRate, 8) && fresh(o.Running) })
	assert.Equal(t, of(40), got[0].Running)
	assert.Equal(t, of(0), got[0].Waiting)
	assert.Empty(t, got[0].Variants, "no pod has a request from its begin to its end")
}

// Of groups that are asked themselves all entry pods count, each for what it does.
func TestGroupsAreAskedThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		typed := func(text func(float64) string) func(float64) string {
			return func(s float64) string { return histogramType + text(s) }
		}
		k := newCluster(t, Config{})
		for group := range 2 {
			for _, role := range []string{"prefill-0", "decode-0", "decode-1"} {
				text := typed(decodes)
				if role == "prefill-0" {
					text = typed(prefills)
				}
				k.add(text)
				pod := &k.pods[len(k.pods)-1]
				pod.Name, pod.Variant = fmt.Sprintf("pair-%d-%s-0", group, role), "pair"
			}
		}
		k.fleet = fleetOfPairs("ns", 2)
		k.series.Parts = pair
		o := k.settled()
		assert.Equal(t, planner.Fresh, o.CompletionRate.State)
		assert.InDelta(t, 16, o.CompletionRate.Value, 1e-9)
		assert.Equal(t, of(82), o.Running)
		assert.Equal(t, of(6), o.Waiting)
		assert.InDelta(t, 400, o.OutputTokens.Value, 1e-9)
		assert.InDelta(t, (200.*200+200*500+500*500)/3/350/350-1, o.OutputSCV.Value, 1e-9, "all between 200 and 500")
		k.pods[2].Ready = false
		assert.Equal(t, planner.Measurement{State: planner.Incomplete, Value: 62}, k.cycle().Running)
	})
}

// A policy follows replicas, of which each has the mean of its pods that end requests.
func TestPoliciesFollowGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newCluster(t, Config{})
		for i, role := range []string{"0-prefill-0", "0-decode-0", "0-decode-1", "1-decode-0"} {
			k.add(func(s float64) string { return decodes(s) + fmt.Sprintf("# TYPE depth gauge\ndepth %d\n", i*i) })
			k.pods[i].Name, k.pods[i].Variant = "pair-"+role+"-0", "pair"
		}
		k.fleet = fleetOfPairs("ns", 3)
		k.series.Parts = pair
		k.fleet.Workloads[0].Policy.Kthena = &kthena.Config{Metrics: []kthena.Metric{{Name: "depth"}}}
		var got []planner.MetricValues
		for _, v := range k.cycle().Variants {
			got = append(got, v.Metrics...)
		}
		assert.Equal(t, []planner.MetricValues{{Name: "depth", Values: []float64{2.5, 9}, Missing: 1}}, got)
	})
}

// How many pods are missed of four groups of one that prefills and two that decode.
func TestMeasureOfGroups(t *testing.T) {
	up := says{age: 1, known: 1, running: 1, completions: 1}
	silent := says{known: 1}
	rate, gauge := metric{quantity: completions}, metric{quantity: running}
	state := func(s planner.MeasurementState, value float64) planner.Measurement {
		return planner.Measurement{State: s, Value: value}
	}
	for name, test := range map[string]struct {
		prefill, decode []says
		variant         planner.Variant
		rate, running   planner.Measurement
	}{
		"all": {
			repeat(up, 4), repeat(up, 8), planner.Variant{CurrentReplicas: 4}, of(8), of(12),
		},
		"four of eight that decode are silent": {
			repeat(up, 4), append(repeat(up, 4), repeat(silent, 4)...),
			planner.Variant{CurrentReplicas: 4},
			state(planner.Incomplete, 4), state(planner.Incomplete, 8),
		},
		"one of four that prefill was never seen": {
			repeat(up, 3), repeat(up, 8), planner.Variant{CurrentReplicas: 4}, of(8), state(planner.Incomplete, 11),
		},
		"a group that starts need not report": {
			repeat(up, 3), repeat(up, 6), planner.Variant{CurrentReplicas: 4, StartingReplicas: 1}, of(6), of(9),
		},
		"a group of which a part starts": {
			repeat(up, 3), repeat(up, 7), planner.Variant{CurrentReplicas: 4}, state(planner.Incomplete, 7), state(planner.Incomplete, 10),
		},
		"a group has left": {
			append(repeat(up, 3), silent), append(repeat(up, 6), silent, silent), planner.Variant{CurrentReplicas: 3}, of(6), of(9),
		},
		"a group leaves, or another is silent": {
			append(repeat(up, 3), silent), append(repeat(up, 6), silent, silent),
			planner.Variant{CurrentReplicas: 3, LeavingReplicas: 1},
			state(planner.Incomplete, 6), state(planner.Incomplete, 9),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := reports(slices.Concat(test.prefill, test.decode)...)
			for i := range test.prefill {
				r.replicas[i].prefill = true
			}
			test.variant.Name = "pair"
			w := planner.Workload{Variants: []planner.Variant{test.variant}}
			s := scope{reported: r, workload: &w, parts: pair, staleAfter: 45}
			assert.Equal(t, test.rate, s.measure(&rate))
			assert.Equal(t, test.running, s.measure(&gauge))
		})
	}
}

func repeat(one says, n int) []says { return slices.Repeat([]says{one}, n) }
