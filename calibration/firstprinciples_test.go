package calibration

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

var (
	// round is a device whose facts make figures that can be worked out by hand.
	round = Device{MemoryBytes: 100e9, MemoryBandwidth: 1e12, FLOPS: 1e15, InterconnectBandwidth: 100e9}
	// eight is a dense model with 8 billion weights and 131,072 bytes of KV per token.
	eight = Architecture{Parameters: 8e9, BytesPerParameter: 2, Layers: 32, HiddenSize: 4096, KVHeads: 8, HeadSize: 128}
)

func TestFirstPrinciplesByHand(t *testing.T) {
	g, err := FirstPrinciples(round, 1, eight)
	require.NoError(t, err)
	assertProfile(t, queueing.Profile{
		Alpha:      16e9/0.8e12 + 32*20e-6,
		Beta:       30e-6,
		Kappa:      131072 / 0.8e12,
		Gamma:      1.6e-3,
		Delta:      16e9 / 0.5e15,
		Epsilon:    2 * 32 * 4096 / 0.2e15,
		TTFTOffset: 10e-3,
	}, g.Profile, 1e-12)
	assert.Equal(t, queueing.Tokens(math.Floor((90e9-16e9)/131072)), g.KVCacheTokens)
	require.Len(t, g.Notes, 1)

	// Four devices share the work, and wait for each other.
	g, err = FirstPrinciples(round, 4, eight)
	require.NoError(t, err)
	assert.InEpsilon(t, 4e9/0.8e12+32*50e-6, g.Profile.Alpha, 1e-12)
	assert.InEpsilon(t, 131072/3.2e12, g.Profile.Kappa, 1e-12)
	assert.InEpsilon(t, 4e9/0.5e15+8*32*4096*0.75/100e9, g.Profile.Delta, 1e-12)
	assert.Equal(t, queueing.Tokens(math.Floor((360e9-16e9)/131072)), g.KVCacheTokens)
}

func TestFirstPrinciplesAreEstimates(t *testing.T) {
	g, err := FirstPrinciples(round, 2, eight)
	require.NoError(t, err)
	require.Len(t, g.Coefficients, terms)
	for i, c := range g.Coefficients {
		assert.Equal(t, Term(i), c.Term)
		assert.Equal(t, coefficientsOf(g.Profile)[i], c.Value)
		assert.False(t, c.Identified)
		assert.Contains(t, c.Reason, "nothing was measured")
		if c.Value > 0 {
			assert.GreaterOrEqual(t, c.Confidence.High, 2*c.Value)
			assert.LessOrEqual(t, c.Confidence.Low, c.Value/2)
		}
	}
	unlinked := round
	unlinked.InterconnectBandwidth = 0
	g, err = FirstPrinciples(unlinked, 2, eight)
	require.NoError(t, err)
	assert.Contains(t, g.Notes[1], "interconnect is unknown")
}

func TestFirstPrinciplesOfAMixtureOfExperts(t *testing.T) {
	model := eight
	model.Parameters, model.ActiveParameters = 40e9, 8e9
	g, err := FirstPrinciples(round, 1, model)
	require.NoError(t, err)
	// One request reads a fifth of the weights, 64 read all but a millionth.
	overhead := 32 * 50e-6
	assert.InEpsilon(t, 16e9/0.8e12+overhead, g.Profile.Alpha+g.Profile.Sigma, 1e-12)
	assert.InEpsilon(t, 80e9/0.8e12*(1-math.Pow(0.8, 64))+overhead, g.Profile.Alpha+8*g.Profile.Sigma, 1e-12)
	assert.InEpsilon(t, 16e9/0.12e15, g.Profile.Delta, 1e-12)

	// A tenth is less than the square root grows by: α is the overhead.
	model.ActiveParameters = 4e9
	g, err = FirstPrinciples(round, 1, model)
	require.NoError(t, err)
	assert.InEpsilon(t, overhead, g.Profile.Alpha, 1e-12)
	assert.InEpsilon(t, 80e9/0.8e12*(1-math.Pow(0.9, 64)), 8*g.Profile.Sigma, 1e-12)

	all := eight
	all.ActiveParameters = all.Parameters
	want, err := FirstPrinciples(round, 1, eight)
	require.NoError(t, err)
	g, err = FirstPrinciples(round, 1, all)
	require.NoError(t, err)
	assert.Equal(t, want, g, "a model whose weights are all active is dense")
}

func TestFirstPrinciplesOfMeasuredMachines(t *testing.T) {
	h200 := Device{MemoryBytes: 141e9, MemoryBandwidth: 4.8e12, FLOPS: 1979e12, InterconnectBandwidth: 450e9}
	llama := Architecture{Parameters: 8.03e9, BytesPerParameter: 1, Layers: 32, HiddenSize: 4096, KVHeads: 8, HeadSize: 128}
	g, err := FirstPrinciples(h200, 1, llama)
	require.NoError(t, err)
	// Published: 4.4 ms for one request at a context of 350, 945,029 tokens of room.
	l := newLoad(Sample{Batch: Of(1), ContextTokens: Of(350)}, Options{})
	c := coefficientsOf(g.Profile)
	assert.InEpsilon(t, 4.38e-3, l.itl(&c), 0.5)
	assert.InEpsilon(t, 945029, float64(g.KVCacheTokens), 0.05)
}

func TestFirstPrinciplesWithoutMemory(t *testing.T) {
	unknown := round
	unknown.MemoryBytes = 0
	g, err := FirstPrinciples(unknown, 1, eight)
	require.NoError(t, err)
	assert.Zero(t, g.KVCacheTokens)

	small := round
	small.MemoryBytes = 16e9
	_, err = FirstPrinciples(small, 1, eight)
	require.ErrorContains(t, err, "leave no room for context")
	_, err = FirstPrinciples(small, 2, eight)
	require.NoError(t, err)
}

func TestFirstPrinciplesNamesEveryMistake(t *testing.T) {
	_, err := FirstPrinciples(Device{MemoryBytes: -1, InterconnectBandwidth: math.NaN()}, 0, Architecture{ActiveParameters: 5})
	for _, want := range []string{
		"devices: 0 is not in", "device.memoryBytes: -1", "device.memoryBandwidth: 0", "device.flops: 0",
		"device.interconnectBandwidth: NaN", "model.parameters: 0", "model.activeParameters: 5", "model.bytesPerParameter: 0",
		"model.layers: 0", "model.hiddenSize: 0", "model.kvHeads: 0", "model.headSize: 0",
	} {
		require.ErrorContains(t, err, want)
	}
	model := eight
	model.KVBytesPerToken = math.Inf(1)
	_, err = FirstPrinciples(round, 1, model)
	require.ErrorContains(t, err, "model.kvBytesPerToken: +Inf")
	model = eight
	model.KVBytesPerValue = -1
	_, err = FirstPrinciples(round, 1, model)
	require.ErrorContains(t, err, "model.kvBytesPerValue: -1")
	slow := round
	slow.MemoryBandwidth, slow.MemoryBytes = leastSpeed, maxBytes
	model = eight
	model.Parameters = 1e13
	_, err = FirstPrinciples(slow, 1, model)
	require.ErrorContains(t, err, "the facts make alpha")
}
