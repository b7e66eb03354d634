package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	"github.com/poolwright/poolwright/policy/hpa"
)

// turn is a cycle: the replicas that others have made by then, the rate that is measured, and
// what comes of it.
type turn struct {
	found   int
	rate    float64
	held    bool
	changes []string
}

// Others who carry out what is asked for, such as an autoscaler that KEDA made, may do so in
// steps. Those are nobody else's changes, and the plan goes on; where Poolwright writes the
// number itself there are none.
func TestStepsOfOthers(t *testing.T) {
	at := policy.DefaultNative()
	at.ScaleDownWindow = new(time.Duration)
	for name, test := range map[string]struct {
		written bool
		steps   []turn
	}{
		"up": {steps: []turn{
			{1, 8, false, []string{"h100 1→8"}},
			{3, 8, false, []string{"h100 3→8"}},
			{3, 8, false, []string{"h100 3→8"}},
			{7, 8, false, []string{"h100 7→8"}},
			{8, 8, false, nil},
		}},
		"down": {steps: []turn{
			{8, 3, false, []string{"h100 8→3"}}, {6, 3, false, []string{"h100 6→3"}}, {3, 3, false, nil},
		}},
		"beyond what was asked for":     {steps: []turn{{1, 8, false, []string{"h100 1→8"}}, {9, 8, true, nil}}},
		"the other way":                 {steps: []turn{{2, 8, false, []string{"h100 2→8"}}, {1, 8, true, nil}}},
		"back from a step":              {steps: []turn{{1, 8, false, []string{"h100 1→8"}}, {5, 8, false, []string{"h100 5→8"}}, {6, 8, false, []string{"h100 6→8"}}, {3, 8, true, nil}}},
		"nothing was asked for":         {steps: []turn{{8, 8, false, nil}, {8, 8, false, nil}, {7, 8, true, nil}}},
		"by what was asked for before":  {steps: []turn{{2, 8, false, []string{"h100 2→8"}}, {4, 5, false, []string{"h100 4→5"}}, {8, 5, false, []string{"h100 8→5"}}}},
		"not by what was long ago":      {steps: []turn{{2, 8, false, []string{"h100 2→8"}}, {4, 5, false, []string{"h100 4→5"}}, {5, 5, false, nil}, {8, 5, true, nil}}},
		"written, where all comes once": {true, []turn{{1, 8, false, []string{"h100 1→8"}}, {3, 8, true, nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, one(0, planner.Policy{Native: &at}))
			for k, s := range test.steps {
				v := l.variant("prod/chat", "h100")
				v.CurrentReplicas, v.Delegated = s.found, !test.written
				d := l.cycle(chat(planner.Observation{ArrivalRate: rate(s.rate)}))
				require.Equal(t, s.held, d.Plans[0].Held, "step %d", k)
				require.Equal(t, s.changes, changes(&d), "step %d", k)
				if s.held {
					assert.Equal(t, planner.ExternalChange, d.Plans[0].Conditions[0].Type)
				}
			}
		})
	}
}

// A policy that limits how fast replicas change counts the steps that others have taken.
func TestPolicyCountsStepsOfOthers(t *testing.T) {
	slow, behavior := hpa.DefaultConfig(), hpa.DefaultBehavior()
	behavior.ScaleUp.Policies = []hpa.Policy{{Type: hpa.Pods, Value: 4, Period: time.Minute}}
	slow.Behavior = &behavior
	l := newLoop(t, one(2, planner.Policy{HPA: &slow}))
	v := l.variant("prod/chat", "h100")
	v.Delegated = true
	for _, s := range []turn{{2, 20, false, []string{"h100 2→6"}}, {4, 20, false, []string{"h100 4→6"}}, {5, 20, false, []string{"h100 5→6"}}} {
		v.CurrentReplicas = s.found
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(s.rate)}))
		require.Equal(t, s.changes, changes(&d), "4 more in a minute than there were")
	}
}
