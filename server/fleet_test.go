package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// cluster is a loop over a fleet that does at once what it is asked for. Its policy
// removes without delay.
type cluster struct {
	*controller.History
	*controller.Pauses
	loop  *controller.Controller
	fleet planner.Fleet
	rates map[string]float64
	now   time.Time
}

var _ server.Loop = (*cluster)(nil)

func newCluster(c controller.HistoryConfig, workloads ...string) *cluster {
	x := &cluster{
		History: controller.NewHistory(c), Pauses: &controller.Pauses{},
		rates: map[string]float64{}, now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
		fleet: planner.Fleet{
			Pools:     []planner.Pool{{Name: "h100", Accelerator: "H100", PricePerHour: 4}},
			Objective: planner.Objective{TimeLimit: time.Minute},
			Control:   planner.Control{Policy: planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}},
		},
	}
	for _, name := range workloads {
		w := planner.Workload{Name: name, Priority: 1, Variants: []planner.Variant{{
			Name: "v", Pools: []int{0}, DevicesPerReplica: 1, NodesPerReplica: 1, Capacity: 10,
		}}}
		if namespace, name, ok := strings.Cut(name, "/"); ok {
			w.Namespace, w.Name = namespace, name
		}
		x.fleet.Workloads = append(x.fleet.Workloads, w)
	}
	x.loop = controller.New(controller.Config{
		Planner: planner.New(lp.Simplex()), Catalog: x, Observer: x, Actuator: x, History: x.History, Pauses: x.Pauses,
	})
	return x
}

func (x *cluster) Fleet(context.Context) (planner.Fleet, []planner.Pause, error) {
	f := x.fleet
	f.Workloads = append([]planner.Workload(nil), f.Workloads...)
	for i := range f.Workloads {
		f.Workloads[i].Variants = append([]planner.Variant(nil), f.Workloads[i].Variants...)
	}
	return f, nil, nil
}

func (x *cluster) Observe(_ context.Context, f planner.Fleet) ([]planner.Observation, error) {
	var out []planner.Observation
	for i := range f.Workloads {
		name := f.Workloads[i].QualifiedName()
		out = append(out, planner.Observation{
			Workload: name, ArrivalRate: planner.Measurement{State: planner.Fresh, Value: x.rates[name]},
		})
	}
	return out, nil
}

func (x *cluster) Apply(_ context.Context, changes []planner.Change) []error {
	for _, c := range changes {
		for i := range x.fleet.Workloads {
			if w := &x.fleet.Workloads[i]; w.QualifiedName() == c.Workload {
				w.Variants[0].CurrentReplicas = c.To
			}
		}
	}
	return make([]error, len(changes))
}

// tick runs a cycle in which a workload has a rate, and returns its sequence number.
func (x *cluster) tick(t *testing.T, workload string, rate float64) uint64 {
	t.Helper()
	x.rates[workload] = rate
	x.now = x.now.Add(15 * time.Second)
	e, err := x.loop.Tick(t.Context(), x.now, nil)
	require.NoError(t, err)
	return e.Sequence
}

// ticks runs cycles in which a replica of a workload is added and removed in turn.
func (x *cluster) ticks(t *testing.T, workload string, n int) {
	t.Helper()
	for i := range n {
		x.tick(t, workload, float64(5+10*(i%2)))
	}
}

func (x *cluster) serve(t *testing.T) (*running, poolwrightv1.FleetServiceClient) {
	t.Helper()
	r := startServices(t, server.Services{
		Optimizer: server.NewOptimizer(planner.New(lp.Simplex())), Fleet: server.NewFleet(x),
	}, prometheus.NewRegistry())
	return r, poolwrightv1.NewFleetServiceClient(r.conn)
}

func sequences(decisions []*poolwrightv1.Decision) []uint64 {
	var out []uint64
	for _, d := range decisions {
		out = append(out, d.GetSequence())
	}
	return out
}

func TestFleetOverGRPCAndREST(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "prod/chat", "batch")
	r, client := x.serve(t)
	_, err := client.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err), "nothing has been decided")
	x.tick(t, "prod/chat", 15)
	x.Pause(planner.Pause{Workload: "batch", Reason: "incident 12"})
	x.tick(t, "prod/chat", 25)

	m, err := client.GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{View: poolwrightv1.Decision_FULL})
	require.NoError(t, err)
	chat := m.GetFleet().GetWorkloads()[0]
	assert.InDelta(t, 25, chat.GetLoad().GetArrivalRate(), 1e-9)
	assert.EqualValues(t, 2, chat.GetVariants()[0].GetCurrentReplicas())
	d := m.GetDecision()
	assert.EqualValues(t, 2, d.GetSequence())
	assert.Equal(t, x.now, d.GetTime().AsTime())
	assert.Equal(t, poolwrightv1.Decision_FULL, d.GetView())
	assert.NotEmpty(t, d.GetTrail())
	require.Len(t, d.GetChanges(), 1)
	change := d.GetChanges()[0]
	assert.Equal(t, "prod/chat", change.GetWorkload())
	assert.Equal(t, []int32{2, 3, 3}, []int32{change.GetFrom(), change.GetTo(), change.GetGoal()})
	assert.NotEmpty(t, change.GetReason())
	plan := d.GetPlan().GetWorkloads()
	require.Len(t, plan, 2)
	assert.InDelta(t, 25, plan[0].GetExpected().GetObservedRps(), 1e-9)
	replicas := plan[0].GetVariants()[0].GetReplicas()
	assert.Equal(t, []int32{2, 3, 3}, []int32{replicas.GetCurrent(), replicas.GetWanted(), replicas.GetPlanned()})
	require.Len(t, plan[1].GetConditions(), 1)
	assert.Equal(t, "Paused", plan[1].GetConditions()[0].GetType())
	assert.EqualValues(t, 3, d.GetPlan().GetPools()[0].GetUsed())
	require.Len(t, m.GetPauses(), 1)
	assert.Equal(t, "incident 12", m.GetPauses()[0].GetReason())

	code, answer := r.do(t, http.MethodGet, "/v1/fleet?view=FULL", "", "")
	require.Equal(t, http.StatusOK, code, answer)
	var overREST poolwrightv1.GetFleetResponse
	require.NoError(t, protojson.Unmarshal([]byte(answer), &overREST))
	assert.True(t, proto.Equal(m, &overREST), "gRPC %v\nREST %v", m, &overREST)

	again, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Optimize(t.Context(), m.GetFleet())
	require.NoError(t, err, "what was observed is a fleet to ask about")
	assert.InDelta(t, d.GetPlan().GetPricePerHour(), again.GetPricePerHour(), 1e-9)
}

// Pages are of what was there at the first of them, whatever is decided meanwhile.
func TestPagesOfDecisions(t *testing.T) {
	x := newCluster(controller.HistoryConfig{Entries: 8}, "chat")
	_, client := x.serve(t)
	x.ticks(t, "chat", 9)
	request := &poolwrightv1.ListDecisionsRequest{PageSize: 3}
	var pages [][]uint64
	for {
		m, err := client.ListDecisions(t.Context(), request)
		require.NoError(t, err)
		pages = append(pages, sequences(m.GetDecisions()))
		if request.PageToken = m.GetNextPageToken(); request.PageToken == "" {
			assert.EqualValues(t, 4, m.GetOldestSequence())
			break
		}
		x.ticks(t, "chat", 1)
	}
	assert.Equal(t, [][]uint64{{9, 8, 7}, {6, 5, 4}, nil}, pages, "3 was forgotten on the way")
}

func TestSelectedDecisions(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "prod/chat", "batch")
	r, client := x.serve(t)
	x.tick(t, "prod/chat", 15) // 1: chat 0 → 2
	x.tick(t, "prod/chat", 15) // 2: nothing
	x.tick(t, "batch", 5)      // 3: batch 0 → 1
	x.tick(t, "prod/chat", 25) // 4: chat 2 → 3
	x.tick(t, "prod/chat", 25) // 5: nothing
	for _, test := range []struct {
		request *poolwrightv1.ListDecisionsRequest
		want    []uint64
	}{
		{&poolwrightv1.ListDecisionsRequest{}, []uint64{5, 4, 3, 2, 1}},
		{&poolwrightv1.ListDecisionsRequest{ChangesOnly: true}, []uint64{4, 3, 1}},
		{&poolwrightv1.ListDecisionsRequest{ChangesOnly: true, Workload: "prod/chat"}, []uint64{4, 1}},
		{&poolwrightv1.ListDecisionsRequest{ChangesOnly: true, Workload: "batch"}, []uint64{3}},
		{&poolwrightv1.ListDecisionsRequest{AfterSequence: 3}, []uint64{5, 4}},
		{&poolwrightv1.ListDecisionsRequest{AfterSequence: 2, Workload: "batch"}, []uint64{5, 4, 3}},
		{&poolwrightv1.ListDecisionsRequest{AfterSequence: 5, Workload: "batch"}, nil},
	} {
		m, err := client.ListDecisions(t.Context(), test.request)
		require.NoError(t, err)
		assert.Equal(t, test.want, sequences(m.GetDecisions()), test.request)
	}
	m, err := client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{Workload: "batch", View: poolwrightv1.Decision_FULL})
	require.NoError(t, err)
	for _, d := range m.GetDecisions() {
		require.Len(t, d.GetPlan().GetWorkloads(), 1)
		assert.Equal(t, "batch", d.GetPlan().GetWorkloads()[0].GetName())
		for _, c := range d.GetChanges() {
			assert.Equal(t, "batch", c.GetWorkload())
		}
		for _, s := range d.GetTrail() {
			assert.NotContains(t, s.GetSubject(), "chat")
		}
	}
	code, answer := r.do(t, http.MethodGet, "/v1/decisions?workload=prod/chat&changesOnly=true&pageSize=1&view=FULL", "", "")
	require.Equal(t, http.StatusOK, code, answer)
	var overREST poolwrightv1.ListDecisionsResponse
	require.NoError(t, protojson.Unmarshal([]byte(answer), &overREST))
	assert.Equal(t, []uint64{4}, sequences(overREST.GetDecisions()))
	assert.NotEmpty(t, overREST.GetNextPageToken())
}

// A page ends where it would be too large for a client, but has one decision at least.
func TestPagesOfLargeDecisions(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	_, client := x.serve(t)
	x.ticks(t, "chat", 1)
	newest, _ := x.Newest()
	for sequence := range uint64(5) {
		e := newest.Entry
		e.Sequence = sequence + 2
		e.Failure = strings.Repeat("x", 2<<20)
		x.Add(e)
	}
	request := &poolwrightv1.ListDecisionsRequest{}
	for want := uint64(6); want > 1; want-- {
		m, err := client.ListDecisions(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, want, m.GetDecisions()[0].GetSequence())
		request.PageToken = m.GetNextPageToken()
	}
	assert.Empty(t, request.GetPageToken(), "the last is small enough for the page of the one before")
}

func TestPauseAndResume(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "prod/chat")
	r, client := x.serve(t)
	x.tick(t, "prod/chat", 15)

	code, answer := r.do(t, http.MethodPost, "/v1/workloads/prod/chat:pause", "application/json", `{"reason": "incident 12", "ttl": "60s"}`)
	require.Equal(t, http.StatusOK, code, answer)
	var pause poolwrightv1.Pause
	require.NoError(t, protojson.Unmarshal([]byte(answer), &pause))
	assert.True(t, proto.Equal(&poolwrightv1.Pause{
		Workload: "prod/chat", Reason: "incident 12", ExpireTime: timestamppb.New(x.now.Add(time.Minute)),
	}, &pause), answer)
	x.tick(t, "prod/chat", 95)
	assert.Equal(t, 2, x.fleet.Workloads[0].Variants[0].CurrentReplicas)

	request := &poolwrightv1.PauseWorkloadRequest{Workload: "prod/chat", Reason: "incident 13"}
	for range 2 { // the same twice is the same as once
		again, err := client.PauseWorkload(t.Context(), request)
		require.NoError(t, err)
		assert.True(t, proto.Equal(&poolwrightv1.Pause{Workload: "prod/chat", Reason: "incident 13"}, again), again)
	}
	for range 6 { // well past the end of the first pause
		x.tick(t, "prod/chat", 95)
	}
	assert.Equal(t, 2, x.fleet.Workloads[0].Variants[0].CurrentReplicas)

	code, answer = r.do(t, http.MethodPost, "/v1/workloads/prod/chat:resume", "", "")
	require.Equal(t, http.StatusOK, code, answer)
	assert.Contains(t, answer, "incident 13")
	m, err := client.ResumeWorkload(t.Context(), &poolwrightv1.ResumeWorkloadRequest{Workload: "prod/chat"})
	require.NoError(t, err)
	assert.Nil(t, m.GetPause())
	x.tick(t, "prod/chat", 95)
	assert.Equal(t, 10, x.fleet.Workloads[0].Variants[0].CurrentReplicas)
}

// A pause of a workload that is gone can be ended, and one that ended by itself is none.
func TestPauseOutlivesItsWorkload(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat", "batch")
	_, client := x.serve(t)
	x.tick(t, "chat", 5)
	_, err := client.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{Workload: "batch", Reason: "it moves"})
	require.NoError(t, err)
	x.fleet.Workloads = x.fleet.Workloads[:1]
	x.tick(t, "chat", 5)
	m, err := client.ResumeWorkload(t.Context(), &poolwrightv1.ResumeWorkloadRequest{Workload: "batch"})
	require.NoError(t, err)
	assert.Equal(t, "it moves", m.GetPause().GetReason())
	_, err = client.ResumeWorkload(t.Context(), &poolwrightv1.ResumeWorkloadRequest{Workload: "batch"})
	assert.Equal(t, codes.NotFound, status.Code(err))
	list, err := client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{Workload: "batch"})
	require.NoError(t, err, "its past is remembered")
	assert.Equal(t, []uint64{1}, sequences(list.GetDecisions()))
}

func TestUnknownWorkloads(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "prod/chat", "dev/chat", "summaries")
	r, client := x.serve(t)
	x.tick(t, "prod/chat", 5)
	for name, hint := range map[string]string{
		"chat":      `there is no workload "chat"; did you mean dev/chat or prod/chat?`,
		"sumaries":  `there is no workload "sumaries"; did you mean summaries?`,
		"elsewhere": `there is no workload "elsewhere"`,
	} {
		errs := map[string]error{}
		_, errs["pause"] = client.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{Workload: name, Reason: "r"})
		_, errs["resume"] = client.ResumeWorkload(t.Context(), &poolwrightv1.ResumeWorkloadRequest{Workload: name})
		_, errs["list"] = client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{Workload: name})
		stream, err := client.WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{Workload: name})
		require.NoError(t, err)
		_, errs["watch"] = stream.Recv()
		for call, err := range errs {
			assert.Equal(t, codes.NotFound, status.Code(err), call)
			assert.Equal(t, hint, status.Convert(err).Message(), call)
		}
	}
	code, answer := r.do(t, http.MethodPost, "/v1/workloads/chat:resume", "", "")
	assert.Equal(t, http.StatusNotFound, code)
	assert.Contains(t, answer, "did you mean dev/chat or prod/chat?")
}

func TestMistakesInRequests(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	r, client := x.serve(t)
	x.tick(t, "chat", 5)
	paths := func(err error) []string {
		s := status.Convert(err)
		require.Equal(t, codes.InvalidArgument, s.Code(), s.Message())
		var paths []string
		for _, v := range s.Details()[0].(*errdetails.BadRequest).GetFieldViolations() {
			paths = append(paths, v.GetField())
		}
		return paths
	}
	_, err := client.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{
		Expiration: &poolwrightv1.PauseWorkloadRequest_Ttl{Ttl: durationpb.New(0)},
	})
	assert.Equal(t, []string{"reason", "ttl", "workload"}, paths(err))
	_, err = client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{PageSize: 1001, View: 7})
	assert.Equal(t, []string{"pageSize", "view"}, paths(err))
	_, err = client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{PageToken: "made-up"})
	assert.Equal(t, []string{"pageToken"}, paths(err))
	_, err = client.PauseWorkload(t.Context(), &poolwrightv1.PauseWorkloadRequest{
		Workload: "chat", Reason: "r", Expiration: &poolwrightv1.PauseWorkloadRequest_ExpireTime{ExpireTime: timestamppb.New(x.now)},
	})
	assert.Equal(t, codes.FailedPrecondition, status.Code(err))

	x.ticks(t, "chat", 3)
	first, err := client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{PageSize: 1})
	require.NoError(t, err)
	_, err = client.ListDecisions(t.Context(), &poolwrightv1.ListDecisionsRequest{PageToken: first.GetNextPageToken(), ChangesOnly: true})
	assert.Equal(t, []string{"pageToken"}, paths(err), "other filters")

	code, answer := r.do(t, http.MethodGet, "/v1/decisions?changeOnly=true&x=1", "", "")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, answer, "changeOnly: unknown parameter; did you mean changesOnly?")
	assert.Contains(t, answer, "x: unknown parameter")
	code, answer = r.do(t, http.MethodPost, "/v1/workloads/chat:pause", "", `{"reson": "r"}`)
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, answer, "did you mean reason?")
	code, answer = r.do(t, http.MethodPost, "/v1/fleet", "", "{}")
	assert.Equal(t, http.StatusMethodNotAllowed, code)
	assert.Contains(t, answer, "use GET")
}

// The answer to a call that needs no loop is not held up by there being none.
func TestNoLoop(t *testing.T) {
	r := start(t)
	_, err := poolwrightv1.NewFleetServiceClient(r.conn).GetFleet(t.Context(), &poolwrightv1.GetFleetRequest{})
	assert.Equal(t, codes.Unimplemented, status.Code(err))
	code, answer := r.do(t, http.MethodGet, "/v1/fleet", "", "")
	assert.Equal(t, http.StatusNotFound, code)
	assert.True(t, json.Valid([]byte(answer)))
}
