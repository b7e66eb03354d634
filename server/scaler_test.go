package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/proto/externalscaler"
	"github.com/poolwright/poolwright/server"
)

// decisions are a history of made-up entries.
type decisions struct {
	*controller.History
	sequence uint64
}

func newDecisions() *decisions {
	return &decisions{History: controller.NewHistory(controller.HistoryConfig{})}
}

// decide adds a decision, so long ago, about the workload team/chat with variants h100
// and a100: from replicas of h100 to others, with conditions.
func (d *decisions) decide(ago time.Duration, from, to int, conditions ...planner.Condition) {
	d.sequence++
	e := controller.Entry{Sequence: d.sequence}
	e.Decision.At = time.Now().Add(-ago)
	target := planner.ScaleTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "chat-h100"}
	e.Decision.Fleet.Workloads = []planner.Workload{
		{Namespace: "other", Name: "chat", Variants: []planner.Variant{{Name: "h100", CurrentReplicas: 9, ScaleTarget: target}}},
		{Namespace: "team", Name: "chat", Variants: []planner.Variant{
			{Name: "a100", CurrentReplicas: 1}, {Name: "h100", CurrentReplicas: from, ScaleTarget: target},
		}},
	}
	e.Decision.Plans = []planner.WorkloadPlan{{}, {Conditions: conditions}}
	if from != to {
		e.Decision.Changes = []planner.Change{{Workload: "team/chat", Variant: "h100", From: from, To: to, Goal: to + 1}}
	}
	d.Add(e)
}

func startScaler(t *testing.T, c server.ScalerConfig) externalscaler.ExternalScalerClient {
	t.Helper()
	r := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Scaler: server.NewScaler(c),
	}, prometheus.NewRegistry())
	return externalscaler.NewExternalScalerClient(r.conn)
}

func scaledObject(metadata ...string) *externalscaler.ScaledObjectRef {
	m := map[string]string{"scalerAddress": "poolwright.system:9090"}
	for i := 0; i < len(metadata); i += 2 {
		m[metadata[i]] = metadata[i+1]
	}
	return &externalscaler.ScaledObjectRef{Name: "chat", Namespace: "team", ScalerMetadata: m}
}

func ofChat() *externalscaler.ScaledObjectRef {
	return scaledObject("workload", "chat", "variant", "h100")
}

func replicas(t *testing.T, client externalscaler.ExternalScalerClient, ref *externalscaler.ScaledObjectRef) int64 {
	t.Helper()
	m, err := client.GetMetrics(t.Context(), &externalscaler.GetMetricsRequest{ScaledObjectRef: ref, MetricName: "poolwright_desired_replicas"})
	require.NoError(t, err)
	require.Len(t, m.GetMetricValues(), 1)
	value := m.GetMetricValues()[0]
	require.Equal(t, "poolwright_desired_replicas", value.GetMetricName())
	require.EqualValues(t, value.GetMetricValue(), value.GetMetricValueFloat(), "older versions of KEDA read integers")
	return value.GetMetricValue()
}

func active(t *testing.T, client externalscaler.ExternalScalerClient, ref *externalscaler.ScaledObjectRef) bool {
	t.Helper()
	m, err := client.IsActive(t.Context(), ref)
	require.NoError(t, err)
	return m.GetResult()
}

func TestScalerAnswersFromTheLastDecision(t *testing.T) {
	d := newDecisions()
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	d.decide(0, 2, 5)
	require.EqualValues(t, 5, replicas(t, client, ofChat()))
	require.EqualValues(t, 5, replicas(t, client, ofChat()), "asking changes nothing")
	require.True(t, active(t, client, ofChat()))
	require.EqualValues(t, 5, replicas(t, client, scaledObject("workload", "team/chat", "variant", "h100")))
	require.EqualValues(t, 5, replicas(t, client, scaledObject("target", "chat-h100")))
	require.EqualValues(t, 5, replicas(t, client, scaledObject("target", "Deployment/chat-h100")))
	require.EqualValues(t, 9, replicas(t, client, scaledObject("workload", "other/chat")), "the only variant")

	d.decide(0, 5, 5)
	require.EqualValues(t, 5, replicas(t, client, ofChat()))
	d.decide(0, 5, 0)
	require.EqualValues(t, 0, replicas(t, client, ofChat()))
	require.False(t, active(t, client, ofChat()))
}

// What is not valid any more is not to be carried out by KEDA: a workload that was paused meanwhile
// stays as it is, and so does what somebody else has scaled. That we may not scale what KEDA may is
// another matter.
func TestScalerOfWhatWasDropped(t *testing.T) {
	d := newDecisions()
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	for k, test := range []struct {
		drop controller.Drop
		want int
	}{
		{controller.Drop{Reason: "its workload is paused now", Found: 2}, 2},
		{controller.Drop{Reason: "it has 3 replicas now", Found: 3}, 3},
		{controller.Drop{Reason: "forbidden", Found: 2, Tried: true}, 5},
	} {
		e := controller.Entry{Sequence: uint64(k) + 1}
		e.Decision.At = time.Now()
		e.Decision.Fleet.Workloads = []planner.Workload{{Namespace: "team", Name: "chat", Variants: []planner.Variant{{Name: "h100", CurrentReplicas: 2}}}}
		e.Decision.Plans = make([]planner.WorkloadPlan, 1)
		e.Decision.Changes = []planner.Change{{Workload: "team/chat", Variant: "h100", From: 2, To: 5}}
		test.drop.Change = e.Decision.Changes[0]
		e.Dropped = []controller.Drop{test.drop}
		d.Add(e)
		require.EqualValues(t, test.want, replicas(t, client, ofChat()), test.drop.Reason)
	}
}

func TestScalerStaysActiveWhileTheLoadIsUnknown(t *testing.T) {
	d := newDecisions()
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	unknown := planner.Condition{Type: planner.DemandUnknown, Message: "missing arrival rate"}
	d.decide(0, 3, 3, unknown)
	require.True(t, active(t, client, ofChat()))
	d.decide(0, 3, 0, unknown)
	require.True(t, active(t, client, ofChat()))
	d.decide(0, 0, 0, unknown)
	require.False(t, active(t, client, ofChat()), "what sleeps is not woken by a lack of metrics")
}

// TestIncident28: a dead external scaler took the other triggers of a ScaledObject with it,
// because it had no metric to name. Here the metric is named whatever state the service is
// in, and everything else says that it is unavailable, on which KEDA falls back.
func TestIncident28ScalerWithoutADecision(t *testing.T) {
	for name, add := range map[string]func(d *decisions){
		"before the first decision": func(*decisions) {},
		"after the last one":        func(d *decisions) { d.decide(time.Hour, 2, 5) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDecisions()
			add(d)
			client := startScaler(t, server.ScalerConfig{Decisions: d, TTL: time.Minute})
			spec, err := client.GetMetricSpec(t.Context(), ofChat())
			require.NoError(t, err)
			require.Len(t, spec.GetMetricSpecs(), 1)
			require.Equal(t, "poolwright_desired_replicas", spec.GetMetricSpecs()[0].GetMetricName())
			require.EqualValues(t, 1, spec.GetMetricSpecs()[0].GetTargetSize())
			require.EqualValues(t, 1, spec.GetMetricSpecs()[0].GetTargetSizeFloat())

			_, err = client.GetMetrics(t.Context(), &externalscaler.GetMetricsRequest{ScaledObjectRef: ofChat()})
			require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)
			_, err = client.IsActive(t.Context(), ofChat())
			require.Equal(t, codes.Unavailable, status.Code(err), "%v", err)

			d.decide(0, 2, 5)
			require.EqualValues(t, 5, replicas(t, client, ofChat()), "it recovers by itself")
		})
	}
}

func TestScalerWithAClockOfItsOwn(t *testing.T) {
	d := newDecisions()
	client := startScaler(t, server.ScalerConfig{Decisions: d, TTL: -1})
	d.decide(1000*time.Hour, 2, 5)
	require.EqualValues(t, 5, replicas(t, client, ofChat()))
}

// waited says which decision a stream has seen last.
type waited struct {
	*decisions
	seen chan uint64
}

func (w waited) Wait(ctx context.Context, sequence uint64) error {
	select {
	case w.seen <- sequence:
	case <-ctx.Done():
	}
	return w.decisions.Wait(ctx, sequence)
}

func TestScalerPushesWakeUps(t *testing.T) {
	d := waited{newDecisions(), make(chan uint64)}
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := client.StreamIsActive(ctx, ofChat())
	require.NoError(t, err)
	require.Zero(t, <-d.seen)
	for range 3 {
		d.decide(0, 0, 0)
		require.Equal(t, d.sequence, <-d.seen)
		d.decide(0, 0, 4)
		require.Equal(t, d.sequence, <-d.seen)
		m, err := stream.Recv()
		require.NoError(t, err)
		require.True(t, m.GetResult(), "asleep is never pushed, so this is the wake-up")
		d.decide(0, 4, 4)
		require.Equal(t, d.sequence, <-d.seen)
	}
	cancel()
	_, err = stream.Recv()
	require.Equal(t, codes.Canceled, status.Code(err), "awake is pushed once: %v", err)
}

// How old a decision may be follows the time between decisions, which may change.
func TestScalerOfASlowLoop(t *testing.T) {
	d := newDecisions()
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	for _, test := range []struct {
		cycle, ago time.Duration
		code       codes.Code
	}{
		{0, time.Minute, codes.OK},
		{0, 3 * time.Minute, codes.Unavailable},
		{5 * time.Minute, 30 * time.Minute, codes.OK},
		{5 * time.Minute, time.Hour, codes.Unavailable},
		{time.Second, 5 * time.Second, codes.OK},
		{time.Second, time.Minute, codes.Unavailable},
	} {
		d.sequence++
		e := controller.Entry{Sequence: d.sequence}
		e.Decision.At = time.Now().Add(-test.ago)
		e.Decision.Fleet.Control.Cycle = test.cycle
		e.Decision.Fleet.Workloads = []planner.Workload{{Namespace: "team", Name: "chat", Variants: []planner.Variant{{Name: "h100"}}}}
		e.Decision.Plans = make([]planner.WorkloadPlan, 1)
		d.Add(e)
		_, err := client.IsActive(t.Context(), ofChat())
		require.Equal(t, test.code, status.Code(err), "cycles of %v, %v ago", test.cycle, test.ago)
	}
}

// Objects of several kinds may have one name: whose replicas are meant has to be said.
func TestScalerOfATargetWithoutKind(t *testing.T) {
	d := newDecisions()
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	e := controller.Entry{Sequence: 1}
	e.Decision.At = time.Now()
	for i, kind := range []string{"Deployment", "StatefulSet"} {
		e.Decision.Fleet.Workloads = append(e.Decision.Fleet.Workloads, planner.Workload{Namespace: "team", Name: kind, Variants: []planner.Variant{
			{Name: "v", CurrentReplicas: i + 1, ScaleTarget: planner.ScaleTarget{Kind: kind, Name: "chat"}},
		}})
	}
	e.Decision.Plans = make([]planner.WorkloadPlan, 2)
	d.Add(e)
	require.EqualValues(t, 2, replicas(t, client, scaledObject("target", "StatefulSet/chat")))
	_, err := client.IsActive(t.Context(), scaledObject("target", "chat"))
	require.Equal(t, codes.NotFound, status.Code(err))
	require.ErrorContains(t, err, `several variants in namespace "team" have the target "chat": give its kind, as in Deployment/chat`)
}

func TestScalerOfAFollower(t *testing.T) {
	d := newDecisions()
	d.decide(0, 2, 5)
	leader := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Scaler: server.NewScaler(server.ScalerConfig{Decisions: d}),
	}, prometheus.NewRegistry())
	follower := startScaler(t, server.ScalerConfig{Decisions: newDecisions(), Leader: always(leader.conn)})
	require.EqualValues(t, 5, replicas(t, follower, ofChat()))
	require.True(t, active(t, follower, ofChat()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := follower.StreamIsActive(ctx, ofChat())
	require.NoError(t, err)
	m, err := stream.Recv()
	require.NoError(t, err)
	require.True(t, m.GetResult())

	var itself grpc.ClientConnInterface
	lost := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())),
		Scaler: server.NewScaler(server.ScalerConfig{
			Decisions: newDecisions(), Leader: func() (grpc.ClientConnInterface, context.Context, error) { return itself, t.Context(), nil },
		}),
	}, prometheus.NewRegistry())
	itself = lost.conn
	_, err = externalscaler.NewExternalScalerClient(lost.conn).IsActive(t.Context(), ofChat())
	require.Equal(t, codes.Unavailable, status.Code(err), "who take each other for the leader do not ask in circles: %v", err)
}

// waitingScaler is a leader that answers KEDA nothing until it is left.
type waitingScaler struct {
	externalscaler.UnimplementedExternalScalerServer
	asked chan struct{}
}

func (w *waitingScaler) IsActive(ctx context.Context, _ *externalscaler.ScaledObjectRef) (*externalscaler.IsActiveResponse, error) {
	w.asked <- struct{}{}
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

func (w *waitingScaler) StreamIsActive(_ *externalscaler.ScaledObjectRef, stream grpc.ServerStreamingServer[externalscaler.IsActiveResponse]) error {
	w.asked <- struct{}{}
	<-stream.Context().Done()
	return status.FromContextError(stream.Context().Err()).Err()
}

// KEDA is told to ask again when it asks while the leader changes.
func TestLeaderChangesUnderKEDA(t *testing.T) {
	w := &waitingScaler{asked: make(chan struct{}, 1)}
	leader := startServices(t, server.Services{Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Scaler: w}, prometheus.NewRegistry())
	follower := startScaler(t, server.ScalerConfig{Decisions: newDecisions(), Leader: always(leader.conn)})
	one, all := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := follower.IsActive(t.Context(), ofChat())
		one <- err
	}()
	<-w.asked
	go func() {
		stream, err := follower.StreamIsActive(t.Context(), ofChat())
		if err == nil {
			_, err = stream.Recv()
		}
		all <- err
	}()
	<-w.asked
	require.NoError(t, leader.conn.Close())
	_, afterwards := follower.IsActive(t.Context(), ofChat())
	for _, err := range []error{<-one, <-all, afterwards} {
		require.EqualError(t, err, "rpc error: code = Unavailable desc = another process leads")
	}
}

// KEDA has one connection for all ScaledObjects, and a follower one for all that it relays: however many are watched,
// what is asked beside that is answered.
func TestScalerOfManyObjects(t *testing.T) {
	d := newDecisions()
	d.decide(0, 2, 5)
	leader := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Scaler: server.NewScaler(server.ScalerConfig{Decisions: d}),
	}, prometheus.NewRegistry())
	peer, err := server.NewClient(leader.conn.Target(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = peer.Close() })
	for name, client := range map[string]externalscaler.ExternalScalerClient{
		"leader":   externalscaler.NewExternalScalerClient(leader.conn),
		"follower": startScaler(t, server.ScalerConfig{Decisions: newDecisions(), Leader: always(peer)}),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			for range 300 {
				stream, err := client.StreamIsActive(ctx, ofChat())
				require.NoError(t, err)
				_, err = stream.Recv()
				require.NoError(t, err)
			}
			_, err := client.IsActive(ctx, ofChat())
			require.NoError(t, err)
			_, err = client.GetMetrics(ctx, &externalscaler.GetMetricsRequest{ScaledObjectRef: ofChat()})
			require.NoError(t, err)
		})
	}
}

func TestScalerMistakes(t *testing.T) {
	d := newDecisions()
	d.decide(0, 2, 5)
	client := startScaler(t, server.ScalerConfig{Decisions: d})
	for says, test := range map[string]struct {
		ref  *externalscaler.ScaledObjectRef
		code codes.Code
	}{
		"scalerMetadata.workload: either workload or target is needed, and not both": {scaledObject(), codes.InvalidArgument},
		"scalerMetadata.workload: either":                                            {scaledObject("workload", "chat", "target", "chat-h100"), codes.InvalidArgument},
		"scalerMetadata.variant: goes with workload, not with target": {
			scaledObject("target", "chat-h100", "variant", "h100"), codes.InvalidArgument,
		},
		"scalerMetadata.target: is to be Kind/name or name":               {scaledObject("target", "Deployment/"), codes.InvalidArgument},
		`there is no workload "team/chta"; did you mean`:                  {scaledObject("workload", "chta"), codes.NotFound},
		`workload "team/chat" has no variant ""; it has a100, h100`:       {scaledObject("workload", "chat"), codes.NotFound},
		`workload "team/chat" has no variant "b200"; it has a100, h100`:   {scaledObject("workload", "chat", "variant", "b200"), codes.NotFound},
		`no variant in namespace "team" has the target "StatefulSet/chat`: {scaledObject("target", "StatefulSet/chat-h100"), codes.NotFound},
	} {
		_, err := client.IsActive(t.Context(), test.ref)
		require.Equal(t, test.code, status.Code(err), "%v", err)
		require.ErrorContains(t, err, says)
		_, err = client.GetMetrics(t.Context(), &externalscaler.GetMetricsRequest{ScaledObjectRef: test.ref})
		require.Equal(t, test.code, status.Code(err), "%v", err)
		_, err = client.GetMetricSpec(t.Context(), test.ref)
		if test.code == codes.InvalidArgument {
			require.Equal(t, test.code, status.Code(err), "%v", err)
		} else {
			require.NoError(t, err)
		}
	}
}
