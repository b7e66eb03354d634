package server_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/server"
)

// decoding is points of a replica with α = 8 ms, β = 0.1 ms and κ = 1e-4 ms per token.
func decoding() *poolwrightv1.Measurements {
	m := &poolwrightv1.Measurements{Options: &poolwrightv1.CalibrationOptions{HeldOut: true}}
	for _, context := range []float64{100, 400, 1600, 3000} {
		for _, batch := range []float64{1, 4, 16, 64} {
			m.Samples = append(m.Samples, &poolwrightv1.Sample{
				Group: map[bool]string{true: "short", false: "long"}[context < 1000],
				Batch: proto.Float64(batch), ContextTokens: proto.Float64(context),
				ItlMs: proto.Float64(8 + 0.1*batch + 1e-4*batch*context),
			})
		}
	}
	return m
}

// facts are those of Llama 3.1 8B on an H100.
func facts() (*poolwrightv1.Device, *poolwrightv1.ModelFacts) {
	return &poolwrightv1.Device{Name: "H100"}, &poolwrightv1.ModelFacts{
		Parameters: 8e9, Layers: 32, HiddenSize: 4096, KvHeads: proto.Int32(8), HeadSize: proto.Int32(128),
	}
}

func calibrate(t *testing.T, r *running, m *poolwrightv1.Measurements) *poolwrightv1.Calibration {
	t.Helper()
	overGRPC, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Calibrate(t.Context(), m)
	require.NoError(t, err)
	body, err := protojson.Marshal(m)
	require.NoError(t, err)
	code, answer := r.do(t, http.MethodPost, "/v1/calibrate", "application/json", string(body))
	require.Equal(t, http.StatusOK, code, answer)
	var overREST poolwrightv1.Calibration
	require.NoError(t, protojson.Unmarshal([]byte(answer), &overREST))
	require.True(t, proto.Equal(overGRPC, &overREST), "gRPC %v\nREST %v", overGRPC, &overREST)
	return overGRPC
}

func TestSameCalibrationOverGRPCAndREST(t *testing.T) {
	c := calibrate(t, start(t), decoding())
	assert.False(t, c.GetEstimated())
	assert.InDelta(t, 8, c.GetProfile().GetAlphaMs(), 1e-3)
	assert.InDelta(t, 0.1, c.GetProfile().GetBetaMs(), 1e-4)
	assert.InDelta(t, 1e-4, c.GetProfile().GetKappaMs(), 1e-7)
	assert.Len(t, c.GetCoefficients(), 8)
	assert.Len(t, c.GetResiduals(), 16)
	assert.EqualValues(t, 16, c.GetErrors().GetItl().GetCount())
	assert.Zero(t, c.GetErrors().GetTtft().GetCount())
	assert.Len(t, c.GetHeldOut().GetGroups(), 2)
	assert.Nil(t, c.KvCacheTokens)
}

func TestEstimateFromFacts(t *testing.T) {
	m := &poolwrightv1.Measurements{}
	m.Device, m.Model = facts()
	c := calibrate(t, start(t), m)
	assert.True(t, c.GetEstimated())
	// 16 GB of weights at 3.35 TB/s take 4.8 ms at least.
	assert.Greater(t, c.GetProfile().GetAlphaMs(), 4.8)
	assert.Less(t, c.GetProfile().GetAlphaMs(), 20.0)
	assert.Greater(t, c.GetKvCacheTokens(), 1e5)
	assert.NotEmpty(t, c.GetNotes())
	for _, coefficient := range c.GetCoefficients() {
		assert.False(t, coefficient.GetIdentified())
	}
}

// Facts stand in for what samples don't tell, here for the time of prompts.
func TestFactsCompleteSamples(t *testing.T) {
	r := start(t)
	estimate := &poolwrightv1.Measurements{}
	estimate.Device, estimate.Model = facts()
	guess := calibrate(t, r, estimate)
	m := decoding()
	m.Device, m.Model = facts()
	c := calibrate(t, r, m)
	assert.False(t, c.GetEstimated())
	assert.InDelta(t, 8, c.GetProfile().GetAlphaMs(), 1e-2)
	assert.InEpsilon(t, guess.GetProfile().GetDeltaMs(), c.GetProfile().GetDeltaMs(), 1e-9)
	assert.InEpsilon(t, guess.GetKvCacheTokens(), c.GetKvCacheTokens(), 1e-9)
}

func TestEveryViolationOfMeasurements(t *testing.T) {
	m := decoding()
	m.Samples[2].ItlMs = nil
	m.Samples[5].Batch = proto.Float64(0)
	m.Model = &poolwrightv1.ModelFacts{}
	want := []string{"device", "model.hiddenSize", "model.layers", "model.parameters", "samples[2]", "samples[5].batch"}
	r := start(t)
	_, err := poolwrightv1.NewOptimizerServiceClient(r.conn).Calibrate(t.Context(), m)
	s := status.Convert(err)
	require.Equal(t, codes.InvalidArgument, s.Code())
	require.Len(t, s.Details(), 1)
	var paths []string
	for _, v := range s.Details()[0].(*errdetails.BadRequest).GetFieldViolations() {
		paths = append(paths, v.GetField())
	}
	assert.Equal(t, want, paths)

	code, answer := r.do(t, http.MethodPost, "/v1/calibrate", "application/yaml", "samples: [{batch: 0, itlMs: fast}]\noptions: {ignored: []}\n")
	assert.Equal(t, http.StatusBadRequest, code)
	for _, want := range []string{"samples[0].itlMs: expected a number", "options.ignored: unknown field", "samples[0].batch: must be"} {
		assert.Contains(t, answer, want)
	}
}

// What a fit cannot do is the caller's bad input.
func TestNothingToFit(t *testing.T) {
	m := decoding()
	m.Options = &poolwrightv1.CalibrationOptions{Ignore: []*poolwrightv1.IgnoredMetric{{Metric: poolwrightv1.Sample_ITL}}}
	_, err := poolwrightv1.NewOptimizerServiceClient(start(t).conn).Calibrate(t.Context(), m)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	assert.Contains(t, err.Error(), "no sample has a metric that counts")

	m = &poolwrightv1.Measurements{}
	m.Device, m.Model = facts()
	m.Model.Parameters = 8e12
	_, err = poolwrightv1.NewOptimizerServiceClient(start(t).conn).Calibrate(t.Context(), m)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	assert.Contains(t, err.Error(), "no room")
}

// Nothing is fitted for a client who has left.
func TestCalibrationEndsWithItsClient(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	o := server.NewOptimizer(planner.New(lp.Simplex()))
	_, err := o.Calibrate(ctx, decoding())
	require.NoError(t, err)
	leave()
	_, err = o.Calibrate(ctx, decoding())
	require.Equal(t, codes.Canceled, status.Code(err), err)
}
