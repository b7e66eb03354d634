package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// simulate is a simulator of one function.
type simulate func(context.Context, *poolwrightv1.Simulation, func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error)

func (s simulate) Simulate(ctx context.Context, m *poolwrightv1.Simulation, progress func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error) {
	return s(ctx, m, progress)
}

// startSimulator serves a simulator that may simulate twice at a time.
func startSimulator(t *testing.T, s server.Simulator, every time.Duration) (*running, poolwrightv1.SimulationServiceClient) {
	t.Helper()
	r := startServices(t, server.Services{
		Optimizer:  server.NewOptimizer(planner.New(lp.Simplex())),
		Simulation: server.NewSimulation(server.SimulationConfig{Simulator: s, Concurrent: 2, Every: every}),
	}, prometheus.NewRegistry())
	return r, poolwrightv1.NewSimulationServiceClient(r.conn)
}

// inSteps reports four steps, and answers with the name of the simulation.
func inSteps(_ context.Context, m *poolwrightv1.Simulation, progress func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error) {
	for i := range int32(4) {
		progress(&poolwrightv1.SimulationProgress{Done: float64(i+1) / 4, RunsDone: i, Runs: 4})
	}
	return &poolwrightv1.SimulationResult{Name: m.GetName(), Seeds: []uint64{1, 2}}, nil
}

// endless simulates until its caller leaves; every beginning and end is told.
func endless(began, ended chan<- struct{}) simulate {
	return func(ctx context.Context, _ *poolwrightv1.Simulation, progress func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error) {
		began <- struct{}{}
		progress(&poolwrightv1.SimulationProgress{Done: 0.5})
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}
}

// receive reads a stream to its end.
func receive(t *testing.T, client poolwrightv1.SimulationServiceClient, m *poolwrightv1.Simulation) ([]*poolwrightv1.SimulateResponse, error) {
	t.Helper()
	stream, err := client.Simulate(t.Context(), m)
	require.NoError(t, err)
	var answers []*poolwrightv1.SimulateResponse
	for {
		answer, err := stream.Recv()
		if err != nil {
			return answers, err
		}
		answers = append(answers, answer)
	}
}

func TestSameSimulationOverGRPCAndREST(t *testing.T) {
	r, client := startSimulator(t, simulate(inSteps), 0)
	overGRPC, err := receive(t, client, &poolwrightv1.Simulation{Name: "day"})
	require.EqualError(t, err, "EOF")
	require.Len(t, overGRPC, 5)
	for i, answer := range overGRPC[:4] {
		assert.InDelta(t, float64(i+1)/4, answer.GetProgress().GetDone(), 0)
	}
	assert.Equal(t, "day", overGRPC[4].GetResult().GetName())

	code, text := r.do(t, http.MethodPost, "/v1/simulate", "application/json", `{"name": "day"}`)
	require.Equal(t, http.StatusOK, code, text)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(t, lines, 5)
	for i, line := range lines {
		inner, ok := strings.CutPrefix(line, `{"result":`)
		require.True(t, ok, line)
		var overREST poolwrightv1.SimulateResponse
		require.NoError(t, protojson.Unmarshal([]byte(strings.TrimSuffix(inner, "}")), &overREST))
		assert.True(t, proto.Equal(overGRPC[i], &overREST), "gRPC %v\nREST %v", overGRPC[i], &overREST)
	}
}

func TestProgressIsToldNowAndThen(t *testing.T) {
	_, client := startSimulator(t, simulate(inSteps), time.Hour)
	answers, err := receive(t, client, &poolwrightv1.Simulation{})
	require.EqualError(t, err, "EOF")
	require.Len(t, answers, 2)
	assert.InDelta(t, 0.25, answers[0].GetProgress().GetDone(), 0)
	assert.NotNil(t, answers[1].GetResult())
}

func TestCallerThatLeavesEndsTheSimulation(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	r, client := startSimulator(t, endless(began, ended), 0)

	ctx, leave := context.WithCancel(t.Context())
	stream, err := client.Simulate(ctx, &poolwrightv1.Simulation{})
	require.NoError(t, err)
	answer, err := stream.Recv()
	require.NoError(t, err)
	assert.InDelta(t, 0.5, answer.GetProgress().GetDone(), 0)
	leave()
	<-ended

	<-began
	ctx, leave = context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/simulate", strings.NewReader("{}"))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close() //nolint:errcheck // only read
	line, err := bufio.NewReader(response.Body).ReadBytes('\n')
	require.NoError(t, err)
	assert.True(t, bytes.Contains(line, []byte(`"done":0.5`)), "%s", line)
	leave()
	<-ended
}

func TestSimulationsAtATimeAreLimited(t *testing.T) {
	began, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	r, client := startSimulator(t, endless(began, ended), 0)
	ctx, leave := context.WithCancel(t.Context())
	for range 2 {
		_, err := client.Simulate(ctx, &poolwrightv1.Simulation{})
		require.NoError(t, err)
		<-began
	}
	_, err := receive(t, client, &poolwrightv1.Simulation{})
	assert.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "2 simulations are running")
	code, answer := r.do(t, http.MethodPost, "/v1/simulate", "application/json", "{}")
	assert.Equal(t, http.StatusTooManyRequests, code, answer)

	leave()
	<-ended
	<-ended
	require.EventuallyWithT(t, func(c *assert.CollectT) { // places are free again
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		stream, err := client.Simulate(ctx, &poolwrightv1.Simulation{})
		require.NoError(c, err)
		_, err = stream.Recv()
		require.NoError(c, err)
	}, 5*time.Second, time.Millisecond)
}

// The end of the server does not wait for a simulation.
func TestEndOfTheServerEndsSimulations(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	r, client := startSimulator(t, endless(began, ended), 0)
	stream, err := client.Simulate(t.Context(), &poolwrightv1.Simulation{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	r.end()
	<-ended
	_, err = stream.Recv()
	assert.Equal(t, codes.Unavailable, status.Code(err))
}

func TestFailedSimulations(t *testing.T) {
	failure := errors.New("the disk is full")
	_, client := startSimulator(t, simulate(func(_ context.Context, m *poolwrightv1.Simulation, _ func(*poolwrightv1.SimulationProgress)) (*poolwrightv1.SimulationResult, error) {
		if m.GetName() == "bad" {
			return nil, message.Violations{{Path: "fleet", Message: "value is required"}}
		}
		return nil, failure
	}), 0)
	_, err := receive(t, client, &poolwrightv1.Simulation{})
	assert.Equal(t, codes.Internal, status.Code(err))
	require.ErrorContains(t, err, failure.Error())
	_, err = receive(t, client, &poolwrightv1.Simulation{Name: "bad"})
	s := status.Convert(err)
	require.Equal(t, codes.InvalidArgument, s.Code())
	require.Len(t, s.Details(), 1)
	assert.Equal(t, "fleet", s.Details()[0].(*errdetails.BadRequest).GetFieldViolations()[0].GetField())
}

// Mistakes in the text of a body are told before anything is simulated.
func TestMistakesInTheTextOfASimulation(t *testing.T) {
	r, _ := startSimulator(t, simulate(inSteps), 0)
	code, answer := r.do(t, http.MethodPost, "/v1/simulate", "application/yaml", "flet: {}\nseeds: [one]\n")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, answer, "flet: unknown field; did you mean fleet?")
	assert.Contains(t, answer, "seeds[0]: expected a whole number")
}
