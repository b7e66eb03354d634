package server_test

import (
	"bufio"
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/controller"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// watch begins a stream that ends with the test, or by calling what is returned.
func watch(t *testing.T, client poolwrightv1.FleetServiceClient, m *poolwrightv1.WatchDecisionsRequest) (next func() *poolwrightv1.WatchDecisionsResponse, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	stream, err := client.WatchDecisions(ctx, m)
	require.NoError(t, err)
	return func() *poolwrightv1.WatchDecisionsResponse {
		t.Helper()
		answer, err := stream.Recv()
		require.NoError(t, err)
		return answer
	}, cancel
}

// A watcher that comes back with the last sequence number it has seen gets every decision
// exactly once.
func TestWatchGoesOnWhereItEnded(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	_, client := x.serve(t)
	x.ticks(t, "chat", 3)
	var seen []uint64
	request := &poolwrightv1.WatchDecisionsRequest{AfterSequence: proto.Uint64(0)}
	for range 4 {
		next, end := watch(t, client, request)
		x.ticks(t, "chat", 2)
		for len(seen) < 4 || len(seen)%3 != 0 {
			d := next().GetDecision()
			seen = append(seen, d.GetSequence())
			request.AfterSequence = proto.Uint64(d.GetSequence())
			x.ticks(t, "chat", 1)
		}
		end()
		x.ticks(t, "chat", 2)
		next, end = watch(t, client, request)
		d := next().GetDecision()
		seen = append(seen, d.GetSequence())
		request.AfterSequence = proto.Uint64(d.GetSequence())
		end()
	}
	for i, sequence := range seen {
		assert.EqualValues(t, i+1, sequence)
	}
}

func TestWatchBeginsWithTheNewest(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "prod/chat", "batch")
	_, client := x.serve(t)
	next, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{})
	x.tick(t, "prod/chat", 15)
	assert.EqualValues(t, 1, next().GetDecision().GetSequence(), "the first of all")
	x.tick(t, "batch", 5)
	late, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{})
	assert.EqualValues(t, 2, late().GetDecision().GetSequence())
	selected, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{
		AfterSequence: proto.Uint64(0), Workload: "prod/chat", ChangesOnly: true, View: poolwrightv1.Decision_FULL,
	})
	d := selected().GetDecision()
	assert.EqualValues(t, 1, d.GetSequence())
	assert.Len(t, d.GetPlan().GetWorkloads(), 1)
	assert.NotEmpty(t, d.GetTrail())
	x.tick(t, "prod/chat", 15)
	x.tick(t, "prod/chat", 25)
	assert.EqualValues(t, 4, selected().GetDecision().GetSequence())
}

func TestWatchSaysWhatIsGone(t *testing.T) {
	x := newCluster(controller.HistoryConfig{Entries: 3}, "chat")
	_, client := x.serve(t)
	x.ticks(t, "chat", 9)
	next, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{AfterSequence: proto.Uint64(4)})
	missed := next().GetMissed()
	assert.EqualValues(t, 5, missed.GetFirstSequence())
	assert.EqualValues(t, 7, missed.GetOldestSequence())
	for want := uint64(7); want <= 9; want++ {
		assert.Equal(t, want, next().GetDecision().GetSequence())
	}
}

func TestWatchFromTheFuture(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	_, client := x.serve(t)
	x.ticks(t, "chat", 2)
	stream, err := client.WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{AfterSequence: proto.Uint64(3)})
	require.NoError(t, err)
	_, err = stream.Recv()
	assert.Equal(t, codes.OutOfRange, status.Code(err))
	next, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{AfterSequence: proto.Uint64(2)})
	x.ticks(t, "chat", 1)
	assert.EqualValues(t, 3, next().GetDecision().GetSequence())
}

// A watcher that does not read holds nothing up, and is told what it has missed.
func TestSlowWatcher(t *testing.T) {
	x := newCluster(controller.HistoryConfig{Entries: 5}, "chat")
	_, client := x.serve(t)
	x.ticks(t, "chat", 1)
	next, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{})
	require.EqualValues(t, 1, next().GetDecision().GetSequence())
	newest, _ := x.Newest()
	const last = 500
	for sequence := uint64(2); sequence <= last; sequence++ { // far more than is buffered on the way
		e := newest.Entry
		e.Sequence, e.Failure = sequence, strings.Repeat("x", 100<<10)
		x.Add(e)
	}
	missed := uint64(0)
	for want := uint64(2); want <= last; want++ {
		answer := next()
		if m := answer.GetMissed(); m != nil {
			require.Equal(t, want, m.GetFirstSequence())
			missed += m.GetOldestSequence() - want
			want = m.GetOldestSequence()
			answer = next()
		}
		require.Equal(t, want, answer.GetDecision().GetSequence())
	}
	assert.Greater(t, missed, uint64(last/2))
}

// lines begins a stream over REST, and returns what reads a line of it.
func lines(t *testing.T, r *running, query string) (next func() string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/v1/decisions:watch"+query, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "application/x-ndjson", response.Header.Get("Content-Type"))
	scanner := bufio.NewScanner(response.Body)
	return func() string {
		t.Helper()
		require.True(t, scanner.Scan(), "%v", scanner.Err())
		return scanner.Text()
	}, cancel
}

func TestWatchOverREST(t *testing.T) {
	x := newCluster(controller.HistoryConfig{Entries: 2}, "chat")
	r, client := x.serve(t)
	x.ticks(t, "chat", 3)
	next, _ := lines(t, r, "?afterSequence=0")
	assert.JSONEq(t, `{"result": {"missed": {"firstSequence": "1", "oldestSequence": "2"}}}`, next())
	overGRPC, _ := watch(t, client, &poolwrightv1.WatchDecisionsRequest{AfterSequence: proto.Uint64(1)})
	for sequence := uint64(2); sequence <= 5; sequence++ {
		text, ok := strings.CutPrefix(next(), `{"result":`)
		require.True(t, ok)
		var answer poolwrightv1.WatchDecisionsResponse
		require.NoError(t, protojson.Unmarshal([]byte(strings.TrimSuffix(text, "}")), &answer))
		assert.Equal(t, sequence, answer.GetDecision().GetSequence())
		assert.True(t, proto.Equal(overGRPC(), &answer))
		if sequence >= 3 {
			x.ticks(t, "chat", 1)
		}
	}
	code, answer := r.do(t, http.MethodGet, "/v1/decisions:watch?workload=other", "", "")
	assert.Equal(t, http.StatusNotFound, code, answer)
}

// However many watch, what else is asked over REST is answered.
func TestManyWatchOverREST(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	r, _ := x.serve(t)
	x.ticks(t, "chat", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	get := func(path string) int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, http.NoBody)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response.StatusCode
	}
	for range 300 {
		require.Equal(t, http.StatusOK, get("/v1/decisions:watch"))
	}
	require.Equal(t, http.StatusOK, get("/v1/fleet"))
}

// Streams that the service ends say so, and do not hold it up.
func TestShutdownEndsStreams(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	r, client := x.serve(t)
	x.ticks(t, "chat", 1)
	next, _ := lines(t, r, "")
	next()
	stream, err := client.WatchDecisions(t.Context(), &poolwrightv1.WatchDecisionsRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	began := time.Now()
	r.end()
	_, err = stream.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
	assert.Contains(t, next(), `{"error":{"code":14`)
	require.NoError(t, <-r.done)
	assert.Less(t, time.Since(began), 5*time.Second)
}

// A stream that its caller ends leaves nothing behind.
func TestEndedStreamsLeaveNothing(t *testing.T) {
	x := newCluster(controller.HistoryConfig{}, "chat")
	r, client := x.serve(t)
	x.ticks(t, "chat", 1)
	round := func() {
		for range 10 {
			next, end := watch(t, client, &poolwrightv1.WatchDecisionsRequest{})
			next()
			end()
			line, end := lines(t, r, "")
			line()
			end()
		}
		http.DefaultClient.CloseIdleConnections()
	}
	round() // what is kept for good begins here
	before := 0
	require.Eventually(t, func() bool { // until what ends has ended
		n := runtime.NumGoroutine()
		settled := n == before
		before = n
		return settled
	}, 5*time.Second, 50*time.Millisecond)
	round()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before }, 5*time.Second, 10*time.Millisecond)
}
