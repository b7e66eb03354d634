package calibration

import "github.com/poolwright/poolwright/queueing"

// Device is what is known of one accelerator device.
type Device struct {
	// MemoryBytes is the device's memory, > 0 to learn the room for context.
	MemoryBytes float64
	// MemoryBandwidth is in bytes/s, > 0.
	MemoryBandwidth float64
	// FLOPS is the dense peak at the precision that the model computes in, in
	// operations/s, > 0.
	FLOPS float64
	// InterconnectBandwidth is per device and direction, in bytes/s; 0 = unknown.
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

// FirstPrinciples guesses the profile of a model on a number of devices that share
// its weights (tensor parallelism).
//
// The error lists every mistake in the facts, and is set if the weights leave no
// room for context.
func FirstPrinciples(device Device, devices int, model Architecture) (Guess, error) {
	return Guess{}, nil
}
