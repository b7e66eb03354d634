package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/access"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/proto/externalscaler"
)

// What a variant is meant by is what says so alone, however little is known of its target.
func TestRecommendations(t *testing.T) {
	var e controller.Entry
	d := &e.Decision
	d.Fleet.Workloads = []planner.Workload{
		{Namespace: "team", Name: "none", Variants: []planner.Variant{{Name: "v", CurrentReplicas: 1}}},
		{Namespace: "team", Name: "kindless", Variants: []planner.Variant{{Name: "v", CurrentReplicas: 2, ScaleTarget: planner.ScaleTarget{Name: "x"}}}},
		{Name: "bare", Variants: []planner.Variant{{Name: "v", CurrentReplicas: 3}, {Name: "u", CurrentReplicas: 4}}},
	}
	d.Plans = make([]planner.WorkloadPlan, 3)
	d.Changes = []planner.Change{{Workload: "bare", Variant: "u", From: 4, To: 5}}
	one := recommendation{replicas: 1, current: 1}
	two := recommendation{replicas: 2, current: 2}
	assert.Equal(t, map[scaled]recommendation{
		{namespace: "team", workload: "none", variant: "v"}:     one,
		{namespace: "team", workload: "none"}:                   one,
		{namespace: "team", workload: "kindless", variant: "v"}: two,
		{namespace: "team", workload: "kindless"}:               two,
		{namespace: "team", target: "x"}:                        two,
		{workload: "bare", variant: "v"}:                        {replicas: 3, current: 3},
		{workload: "bare", variant: "u"}:                        {replicas: 5, current: 4},
	}, recommendations(&e))
}

// looks are a history whose last decision is looked at so many times more.
type looks struct {
	*controller.History
	left int
}

// Wait implements [Decisions].
func (l *looks) Wait(context.Context, uint64) error {
	if l.left == 0 {
		return context.Canceled
	}
	l.left--
	return nil
}

// pushed is a stream that counts what is sent.
type pushed struct {
	grpc.ServerStreamingServer[externalscaler.IsActiveResponse]
	ctx   context.Context
	times int
}

func (p *pushed) Context() context.Context { return p.ctx }

func (p *pushed) Send(*externalscaler.IsActiveResponse) error {
	p.times++
	return nil
}

// watching is what a stream takes to look a hundred times at decisions about so many workloads, of
// which it is for the last: the shortest time of several, once another has looked.
func watching(t *testing.T, workloads int) time.Duration {
	t.Helper()
	e := controller.Entry{Sequence: 1}
	e.Decision.Plans = make([]planner.WorkloadPlan, workloads)
	for i := range workloads {
		name := fmt.Sprintf("w%d", i)
		e.Decision.Fleet.Workloads = append(e.Decision.Fleet.Workloads, planner.Workload{
			Namespace: "team", Name: name, Variants: []planner.Variant{{Name: "v"}},
		})
		e.Decision.Changes = append(e.Decision.Changes, planner.Change{Workload: "team/" + name, Variant: "v", To: 1})
	}
	l := &looks{History: controller.NewHistory(controller.HistoryConfig{})}
	l.Add(e)
	s := NewScaler(ScalerConfig{Decisions: l})
	ctx, err := newGuard(nil, nil, nil).admit(t.Context(), access.Anonymous(), access.Question{})
	require.NoError(t, err)
	ref := &externalscaler.ScaledObjectRef{Namespace: "team", ScalerMetadata: map[string]string{"workload": fmt.Sprintf("w%d", workloads-1)}}
	look := func(times int) time.Duration {
		l.left = times
		stream := &pushed{ctx: ctx}
		begin := time.Now()
		_ = s.StreamIsActive(ref, stream) // ends when there is nothing left to look at
		took := time.Since(begin)
		require.Equal(t, 1, stream.times)
		return took
	}
	look(1)
	shortest := look(100)
	for range 20 {
		shortest = min(shortest, look(100))
	}
	return shortest
}

// KEDA has a stream open for each workload, and all of them look at each decision.
func TestWorkOfAStreamDoesNotGrowWithTheFleet(t *testing.T) {
	few, many := watching(t, 100), watching(t, 10_000)
	assert.Less(t, float64(many)/float64(few), 10.0, "a hundred times as many workloads")
}
