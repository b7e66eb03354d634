package message_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

func readMeasurements(t *testing.T, text string) *poolwrightv1.Measurements {
	t.Helper()
	var m poolwrightv1.Measurements
	require.NoError(t, document.Unmarshal([]byte(text), &m))
	return &m
}

func TestMissingQuantitiesStayMissing(t *testing.T) {
	measured, err := message.Measurements(readMeasurements(t, `
samples:
- {concurrency: 4, inputTokens: 0, outputTokens: 10, ttftMs: 20}
- {arrivalRate: 2, inputTokens: 100, outputTokens: 10, waiting: 0, itlMs: 8, group: chat, weight: 2}
`))
	require.NoError(t, err)
	assert.Equal(t, []calibration.Sample{
		{
			Concurrency: calibration.Of(4), InputTokens: calibration.Of(0), OutputTokens: calibration.Of(10), TTFT: calibration.Of(0.02),
		},
		{
			ArrivalRate: calibration.Of(2), InputTokens: calibration.Of(100), OutputTokens: calibration.Of(10), Waiting: calibration.Of(0),
			ITL: calibration.Of(0.008), Group: "chat", Weight: calibration.Of(2),
		},
	}, measured.Samples)
	assert.Nil(t, measured.Facts)
	assert.Equal(t, calibration.Options{}, measured.Options)
}

func TestCalibrationOptions(t *testing.T) {
	measured, err := message.Measurements(readMeasurements(t, `
samples: [{inputTokens: 100, ttftMs: 20}]
options:
  ignore: [{metric: TTFT, kind: CLOSED_LOOP}, {metric: ITL}]
  squareRoot: NEVER
  prior: {alphaMs: 8, ttftOffsetMs: 5}
  maxBatch: 64
  kvCacheTokens: 1e5
  maxBatchedTokens: 2048
  prefillMode: BLOCKING
  speculativeAcceptedTokens: 1.5
`))
	require.NoError(t, err)
	assert.Equal(t, calibration.Options{
		Ignore: []calibration.Use{
			{Kind: calibration.ClosedLoop, Metric: queueing.TTFT},
			{Kind: calibration.DecodePoint, Metric: queueing.ITL},
			{Kind: calibration.PrefillPoint, Metric: queueing.ITL},
			{Kind: calibration.ClosedLoop, Metric: queueing.ITL},
			{Kind: calibration.OpenLoop, Metric: queueing.ITL},
		},
		SquareRoot: calibration.SquareRootNever,
		Prior:      queueing.Profile{Alpha: 0.008, TTFTOffset: 0.005},
		MaxBatch:   64, KVCacheTokens: 1e5, MaxBatchedTokens: 2048, PrefillMode: queueing.Blocking, AcceptedTokens: 1.5,
	}, measured.Options)
}

// facts of Llama 3.1 8B.
const llama = `model: {parameters: 8e9, layers: 32, hiddenSize: 4096, kvHeads: 8, headSize: 128`

func TestDevicesByName(t *testing.T) {
	for name, bandwidth := range map[string]float64{
		"H100": 3350e9, "h100": 3350e9, "NVIDIA H100 80GB": 3350e9, "h100_sxm": 3350e9, "H100-PCIe": 2000e9, "h100 nvl": 3900e9,
		"A100-SXM4-80GB": 2039e9, "a100-40gb": 1555e9, "H200_SXM": 4800e9, "AMD Instinct MI300X": 5300e9, "l40s": 864e9,
	} {
		measured, err := message.Measurements(readMeasurements(t, "device: {name: "+name+"}\n"+llama+"}"))
		require.NoError(t, err, name)
		assert.InDelta(t, bandwidth, measured.Facts.Device.MemoryBandwidth, 1, name)
		assert.Equal(t, 1, measured.Facts.Devices)
		assert.Empty(t, measured.Facts.Notes)
	}
	_, err := message.Measurements(readMeasurements(t, "device: {name: H1000}\n"+llama+"}"))
	require.ErrorContains(t, err, `device.name: "H1000" is not built in: give memoryBandwidth and flops, or one of A10, A100,`)
}

func TestEveryBuiltInDeviceFindsItself(t *testing.T) {
	for _, name := range message.Accelerators() {
		measured, err := message.Measurements(readMeasurements(t, "device: {name: "+name+"}\n"+llama+"}"))
		require.NoError(t, err, name)
		d := measured.Facts.Device
		// Between the smallest and the largest device: a slip of a power of ten shows.
		within(t, 16e9, d.MemoryBytes, 288e9, name)
		within(t, 300e9, d.MemoryBandwidth, 8000e9, name)
		within(t, 65e12, d.FLOPS, 2517e12, name)
		within(t, 16e9, d.InterconnectBandwidth, 900e9, name)
	}
}

func within(t *testing.T, low, value, high float64, what string) {
	t.Helper()
	assert.GreaterOrEqual(t, value, low, what)
	assert.LessOrEqual(t, value, high, what)
}

func TestPrecisionChoosesThePeak(t *testing.T) {
	for precision, want := range map[string]struct{ flops, bytes float64 }{
		"BF16": {989e12, 2}, "FP8": {1979e12, 1}, "FP4": {1979e12, 0.5},
	} {
		measured, err := message.Measurements(readMeasurements(t, "device: {name: H100, count: 2}\n"+llama+", precision: "+precision+"}"))
		require.NoError(t, err)
		assert.InDelta(t, want.flops, measured.Facts.Device.FLOPS, 1e9, precision)
		assert.InDelta(t, want.bytes, measured.Facts.Model.BytesPerParameter, 0, precision)
		assert.Equal(t, 2, measured.Facts.Devices)
		if precision == "FP4" {
			assert.Equal(t, []string{"H100 does not compute in 4 bits; taken at 8 bits"}, measured.Facts.Notes)
		}
	}
}

func TestFactsTakePrecedenceOverNames(t *testing.T) {
	measured, err := message.Measurements(readMeasurements(t, "device: {name: H100, memoryBytes: 9.6e10, flops: 1e15}\n"+llama+", bytesPerParameter: 1.1}"))
	require.NoError(t, err)
	assert.Equal(t, calibration.Device{MemoryBytes: 9.6e10, MemoryBandwidth: 3350e9, FLOPS: 1e15, InterconnectBandwidth: 450e9}, measured.Facts.Device)
	assert.InDelta(t, 1.1, measured.Facts.Model.BytesPerParameter, 0)
}

func TestEveryMistakeInMeasurements(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing": {"options: {}", "samples: give samples, or device and model"},
		"samples": {
			`
samples:
- {concurrency: 0, inputTokens: 1, outputTokens: 2, itlMs: 5}
- {batch: 4, contextTokens: 100}
- {inputTokens: 100}
- {concurrency: 4, itlMs: 5}
- {arrivalRate: 4, running: 2, itlMs: 5}
- {concurrency: 4, batch: 4, inputTokens: 1, outputTokens: 2, itlMs: 5}
- {concurrency: 4, inputTokens: 1, outputTokens: 2}
- {concurrency: 4, inputTokens: 1, outputTokens: 1, itlMs: 5}
- {batch: 4, contextTokens: 100, inputTokens: 5, itlMs: 5}
`,
			`samples[0].concurrency: must be greater than or equal to 1 and less than or equal to 1000000
samples[1]: a decoding batch needs batch, contextTokens and itlMs
samples[2]: a single prompt needs ttftMs
samples[3]: a constant number of clients needs inputTokens and outputTokens beside concurrency
samples[4]: traffic needs arrivalRate, inputTokens and outputTokens
samples[5]: batch and concurrency do not go together: a sample is a decoding batch, a constant number of clients or traffic at a rate
samples[6]: give itlMs, ttftMs or both
samples[7].itl: an output of 1 token has none
samples[8].inputTokens: a decode point has none`,
		},
		"facts": {
			"device: {count: 0}\nmodel: {parameters: 8e9, activeParameters: 9e9, layers: 32}\noptions: {prior: {alphaMs: -1}, heldOut: true}",
			`device.count: must be greater than or equal to 1 and less than or equal to 1024
device.flops: give it, or the name of a device that is built in
device.memoryBandwidth: give it, or the name of a device that is built in: ` + strings.Join(message.Accelerators(), ", ") + `
model.activeParameters: 9e+09 are more than the 8e+09 parameters
model.hiddenSize: must be greater than or equal to 1 and less than or equal to 10000000
model.kvBytesPerToken: give it, or kvHeads and headSize
options.heldOut: needs samples of at least two groups; there are 0
options.prior: give either a prior, or device and model to estimate it from
options.prior.alphaMs: must be greater than or equal to 0 and less than or equal to 1000000000`,
		},
		"half of the facts": {"device: {name: H100}", "model: needed with a device\nsamples: give samples, or device and model"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := message.Measurements(readMeasurements(t, test.text))
			require.EqualError(t, err, test.want)
		})
	}
}

func TestLimitsOfMeasurements(t *testing.T) {
	sample := func(group string) *poolwrightv1.Sample {
		return &poolwrightv1.Sample{Group: group, InputTokens: proto.Float64(1), TtftMs: proto.Float64(1)}
	}
	many := &poolwrightv1.Measurements{Options: &poolwrightv1.CalibrationOptions{HeldOut: true}}
	for i := range 1000 {
		many.Samples = append(many.Samples, sample(strings.Repeat("x", i%51)))
	}
	_, err := message.Measurements(many)
	require.EqualError(t, err, "options.heldOut: 51 groups of 1000 samples are more than allowed: their product is limited to 50000")
	many.Samples = many.Samples[:0]
	for i := range 201 {
		many.Samples = append(many.Samples, sample(strings.Repeat("x", i%201)))
	}
	_, err = message.Measurements(many)
	require.EqualError(t, err, "options.heldOut: 201 groups are more than the 200 allowed")
	for len(many.GetSamples()) <= 20_000 {
		many.Samples = append(many.Samples, sample(""))
	}
	_, err = message.Measurements(many)
	require.EqualError(t, err, "samples: 20001 are more than the 20000 allowed")
}

// What JSON cannot hold is absent, and digits that say nothing are left out.
func TestEstimate(t *testing.T) {
	m := message.Estimate(&calibration.Estimate{
		Profile: queueing.Profile{Beta: 0.1 * 0.3 / 1e3},
		Coefficients: []calibration.Coefficient{
			{Term: calibration.Alpha, Confidence: calibration.Interval{High: math.Inf(1)}, Reason: "no samples"},
			{Term: calibration.Beta, Value: 0.1 * 0.3 / 1e3, StandardError: 0.001, Confidence: calibration.Interval{Low: 0.002, High: 0.004}, Identified: true},
		},
		Residuals: []calibration.Residual{{Sample: 3, Group: "chat", Kind: calibration.OpenLoop, Metric: queueing.TTFT, Observed: 0.1, Predicted: 0.11, Error: 0.1, Counts: true, Outlier: true}},
		Errors:    calibration.Summary{TTFT: calibration.Errors{Count: 1, Median: 0.1, P90: 0.1, Max: 0.1, Mean: 0.1}},
		Notes:     []string{"note"},
	}, false)
	data, err := document.MarshalJSON(m)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(data, &got))
	coefficients := got["coefficients"].([]any)
	assert.Equal(t, map[string]any{"name": "alphaMs", "valueMs": 0.0, "lowMs": 0.0, "identified": false, "reason": "no samples"}, coefficients[0])
	assert.Equal(t, map[string]any{
		"name": "betaMs", "valueMs": 0.03, "standardErrorMs": 1.0, "lowMs": 2.0, "highMs": 4.0, "identified": true, "reason": "",
	}, coefficients[1])
	assert.Equal(t, map[string]any{
		"sample": 3.0, "group": "chat", "kind": "OPEN_LOOP", "metric": "TTFT",
		"observedMs": 100.0, "predictedMs": 110.0, "error": 0.1, "counts": true, "outlier": true,
	}, got["residuals"].([]any)[0])
	assert.NotContains(t, got, "heldOut")
	assert.NotContains(t, got, "kvCacheTokens")
	assert.Equal(t, false, got["estimated"])
}

func TestGuess(t *testing.T) {
	m := message.Guess(&calibration.Guess{Profile: queueing.Profile{Alpha: 0.005}, KVCacheTokens: 1000})
	assert.True(t, m.GetEstimated())
	assert.InDelta(t, 5, m.GetProfile().GetAlphaMs(), 0)
	assert.InDelta(t, 1000, m.GetKvCacheTokens(), 0)
}
