package calibration

import (
	"errors"
	"fmt"
	"math"

	"github.com/poolwright/poolwright/queueing"
)

// Device is what is known of one accelerator device.
type Device struct {
	// MemoryBytes is the device's memory; 0 = unknown, and then so is the room for
	// context.
	MemoryBytes float64
	// MemoryBandwidth is in bytes/s, > 0.
	MemoryBandwidth float64
	// FLOPS is the dense peak at the precision that the model computes in, in
	// operations/s, > 0.
	FLOPS float64
	// InterconnectBandwidth is per device and direction, in bytes/s; 0 = unknown, and
	// then its time is left out.
	InterconnectBandwidth float64
}

// Architecture is what is known of a model.
type Architecture struct {
	// Parameters is the number of weights, > 0.
	Parameters float64
	// ActiveParameters is the number of weights that compute one token: fewer than
	// Parameters in a mixture of experts. 0 means all.
	ActiveParameters float64
	// BytesPerParameter is 2 for 16-bit weights, 1 for 8-bit, 0.5 for 4-bit ones.
	BytesPerParameter float64
	// Layers and HiddenSize are ≥ 1.
	Layers, HiddenSize int
	// KVBytesPerToken is the room that one token takes in the KV cache. 0 means
	// 2·Layers·KVHeads·HeadSize·KVBytesPerValue.
	KVBytesPerToken float64
	// KVHeads, HeadSize and KVBytesPerValue count only without KVBytesPerToken.
	// KVBytesPerValue 0 means 2.
	KVHeads, HeadSize int
	KVBytesPerValue   float64
}

// Guess is a profile that nobody measured.
type Guess struct {
	Profile queueing.Profile
	// Coefficients has one entry per term. Confidence holds the value within the
	// documented factor; none is Identified.
	Coefficients []Coefficient
	// KVCacheTokens is the room for context on all devices; 0 if MemoryBytes is 0.
	KVCacheTokens queueing.Tokens
	// Notes say in words what to know about the guess.
	Notes []string
}

// What engines reach of what devices promise, and what they spend beside: rounded
// medians of measurements, see [FirstPrinciples] for how far off.
const (
	// bandwidthShare is the share of the memory bandwidth.
	bandwidthShare = 0.8
	// computeShare is the share of the peak that the matrices of a prompt reach,
	// mixtureComputeShare that of a mixture of experts, where each expert gets few
	// tokens, and attentionShare that of attention, which computes in 16 bits.
	computeShare, mixtureComputeShare, attentionShare = 0.5, 0.12, 0.2
	// layerOverhead is the time per layer and iteration beside reading, on one device;
	// sharedLayerOverhead is added where devices wait for each other, mixtureOverhead
	// where tokens are sent to experts.
	layerOverhead, sharedLayerOverhead, mixtureOverhead = 20e-6, 30e-6, 30e-6
	// requestOverhead is the time per running request: scheduling and sampling.
	requestOverhead = 30e-6
	// promptLayerOverhead is the time per layer of a prompt, whose iteration can't
	// replay a recorded graph of kernels.
	promptLayerOverhead = 50e-6
	// serverOverhead is the time in server and API before the first token.
	serverOverhead = 10e-3
	// memoryShare is the share of the memory that engines use by default.
	memoryShare = 0.9
	// mixtureBatch is the batch at which σ√n is exact.
	mixtureBatch = 64
)

// guessFactors are the factors within which fitted coefficients of engines since 2025
// were, and those of prefill of all, with few exceptions.
var guessFactors = [terms]float64{
	Alpha: 2.5, Beta: 5, Kappa: 2, Sigma: 2.5, Gamma: 10, Delta: 2.5, Epsilon: 6, TTFTOffset: 3,
}

// FirstPrinciples guesses the profile of a model on a number of devices that share
// its weights (tensor parallelism).
//
//	α = weights/(N·bandwidth·0.8) + layers·(20 µs + 30 µs if N > 1)
//	β = 30 µs
//	κ = KV bytes per token/(N·bandwidth·0.8)
//	γ = layers·50 µs
//	δ = 2·parameters/(N·FLOPS·0.5) + 8·layers·hidden·(N−1)/N/interconnect
//	ε = 2·layers·hidden/(N·FLOPS·0.2)
//	ttftOffset = 10 ms
//
// An iteration reads all weights once, and the KV cache of every running request. A
// prompt token takes two operations per weight, and two all-reduces per layer of its
// 16-bit hidden state, each of which moves 2(N−1)/N times that over every link. Causal
// attention takes 2·layers·hidden operations per squared prompt token. See S. Williams,
// A. Waterman, D. Patterson, "Roofline" (2009), and R. Pope et al., "Efficiently
// Scaling Transformer Inference" (2022).
//
// A mixture of experts reads the share 1 − (1 − active/all)ⁿ of its weights for n
// running requests, as if every weight were of an expert and experts were chosen at
// random; α and σ are such that α + σ√n is that at n = 1 and n = 64, or only at the
// latter where α would be negative. It spends 30 µs
// more per layer and reaches a share of 0.12 of the peak in δ, which counts active
// parameters only.
//
// How far off it is: on 487 points of closed-loop tests of Llama-3.1 8B and 70B by
// vLLM, SGLang and TensorRT-LLM on 1 to 8 H100, H200 and B200, half of the measured ITL
// are within a factor of 1.11 of the guess and nine of ten within 1.30; on 377 points of
// four mixtures of experts within 1.09 and 1.42. Engines of 2023 on A100 and H100 took
// 1.7 times as long in the median, and nine of ten points at most 3 times. Coefficients
// are further off than ITL, which is their sum: Confidence is a factor of 2 to 10. The
// room for context was 1 % above that of a simulated A100, and 4 % below that of an H200.
//
// The error lists every mistake in the facts, and is set if the weights leave no
// room for context.
func FirstPrinciples(device Device, devices int, model Architecture) (Guess, error) {
	if err := validateFacts(device, devices, model); err != nil {
		return Guess{}, err
	}
	g := Guess{
		Profile: guess(device, float64(devices), model).profile(),
		Notes:   []string{"nothing was measured: the profile follows from facts about device and model; coefficients may be off by a factor of 2 to 10, latencies, their sums, by less"},
	}
	for t, value := range coefficientsOf(g.Profile) {
		if value > maxSeconds {
			return Guess{}, fmt.Errorf("calibration: the facts make %s %.3g s, more than %g s", Term(t), value, maxSeconds)
		}
	}
	if devices > 1 && device.InterconnectBandwidth == 0 {
		g.Notes = append(g.Notes, "the interconnect is unknown: delta leaves out the time of sharing results among devices")
	}
	for t, value := range coefficientsOf(g.Profile) {
		factor := guessFactors[t]
		g.Coefficients = append(g.Coefficients, Coefficient{
			Term:       Term(t),
			Value:      value,
			Confidence: Interval{value / factor, value * factor},
			Reason:     fmt.Sprintf("nothing was measured; within a factor of %g by experience", factor),
		})
	}
	if device.MemoryBytes == 0 {
		return g, nil
	}
	room := float64(devices)*device.MemoryBytes*memoryShare - model.weightBytes()
	if room < model.kvBytes() {
		return Guess{}, fmt.Errorf("calibration: weights of %.3g bytes leave no room for context in %d devices of %.3g bytes, of which %g can be used",
			model.weightBytes(), devices, device.MemoryBytes, memoryShare)
	}
	g.KVCacheTokens = queueing.Tokens(math.Floor(room / model.kvBytes()))
	return g, nil
}

// guess returns the coefficients for n devices.
func guess(device Device, n float64, model Architecture) coefficients {
	layers, hidden := float64(model.Layers), float64(model.HiddenSize)
	active := model.ActiveParameters
	compute, overhead := computeShare, layerOverhead
	if active == 0 {
		active = model.Parameters
	}
	if active < model.Parameters {
		compute = mixtureComputeShare
		overhead += mixtureOverhead
	}
	if n > 1 {
		overhead += sharedLayerOverhead
	}
	read := model.weightBytes() / (n * device.MemoryBandwidth * bandwidthShare)
	base, root := mixtureShares(active / model.Parameters)
	c := coefficients{
		Alpha:      read*base + layers*overhead,
		Beta:       requestOverhead,
		Kappa:      model.kvBytes() / (n * device.MemoryBandwidth * bandwidthShare),
		Sigma:      read * root,
		Gamma:      layers * promptLayerOverhead,
		Delta:      2 * active / (n * device.FLOPS * compute),
		Epsilon:    2 * layers * hidden / (n * device.FLOPS * attentionShare),
		TTFTOffset: serverOverhead,
	}
	if device.InterconnectBandwidth > 0 {
		c[Delta] += 8 * layers * hidden * (n - 1) / n / device.InterconnectBandwidth
	}
	return c
}

// mixtureShares returns base and root such that base + root·√n is the share of its
// weights that a mixture of experts reads for n requests, of which each reads active.
func mixtureShares(active float64) (base, root float64) {
	most := 1 - math.Pow(1-active, mixtureBatch)
	root = (most - active) / (math.Sqrt(mixtureBatch) - 1)
	if root > active {
		return 0, most / math.Sqrt(mixtureBatch)
	}
	return active - root, root
}

func (a *Architecture) weightBytes() float64 { return a.Parameters * a.BytesPerParameter }

func (a *Architecture) kvBytes() float64 {
	if a.KVBytesPerToken > 0 {
		return a.KVBytesPerToken
	}
	bytes := a.KVBytesPerValue
	if bytes == 0 {
		bytes = 2
	}
	return 2 * float64(a.Layers) * float64(a.KVHeads) * float64(a.HeadSize) * bytes
}

// Bounds of valid facts, far from any machine.
const (
	maxDevices    = 1024
	maxBytes      = 1e15
	maxBandwidth  = 1e18
	leastSpeed    = 1e6
	maxFLOPS      = 1e21
	maxParameters = 1e15
	maxLayers     = 1e5
	maxHidden     = 1e7
	maxKVBytes    = 1e12
	maxValueBytes = 16
)

func validateFacts(device Device, devices int, model Architecture) error {
	var v violations
	v.within("devices", float64(devices), 1, maxDevices)
	v.within("device.memoryBytes", device.MemoryBytes, 0, maxBytes)
	v.within("device.memoryBandwidth", device.MemoryBandwidth, leastSpeed, maxBandwidth)
	v.within("device.flops", device.FLOPS, leastSpeed, maxFLOPS)
	if device.InterconnectBandwidth != 0 {
		v.within("device.interconnectBandwidth", device.InterconnectBandwidth, leastSpeed, maxBandwidth)
	}
	v.within("model.parameters", model.Parameters, 1, maxParameters)
	v.within("model.activeParameters", model.ActiveParameters, 0, model.Parameters)
	v.within("model.bytesPerParameter", model.BytesPerParameter, 1.0/maxValueBytes, maxValueBytes)
	v.within("model.layers", float64(model.Layers), 1, maxLayers)
	v.within("model.hiddenSize", float64(model.HiddenSize), 1, maxHidden)
	if model.KVBytesPerToken != 0 {
		v.within("model.kvBytesPerToken", model.KVBytesPerToken, 1, maxKVBytes)
		return errors.Join(v...)
	}
	v.within("model.kvHeads", float64(model.KVHeads), 1, maxLayers)
	v.within("model.headSize", float64(model.HeadSize), 1, maxLayers)
	if model.KVBytesPerValue != 0 {
		v.within("model.kvBytesPerValue", model.KVBytesPerValue, 1.0/maxValueBytes, maxValueBytes)
	}
	return errors.Join(v...)
}
