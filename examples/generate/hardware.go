package main

import "math"

// accelerator is what a data sheet says about one device, with an illustrative
// price.
type accelerator struct {
	name      string
	memory    float64 // bytes
	bandwidth float64 // bytes/s
	flops     float64 // dense FLOP/s at the precision of weightBytes
	// weightBytes is 1 where the device computes in FP8, 2 where in BF16.
	weightBytes  float64
	pricePerHour float64
}

var accelerators = []accelerator{
	{name: "A100", memory: 85.9e9, bandwidth: 2.039e12, flops: 312e12, weightBytes: 2, pricePerHour: 2.1},
	{name: "H100", memory: 85.5e9, bandwidth: 3.35e12, flops: 1979e12, weightBytes: 1, pricePerHour: 3.9},
	{name: "H200", memory: 150.7e9, bandwidth: 4.8e12, flops: 1979e12, weightBytes: 1, pricePerHour: 5},
	{name: "L40S", memory: 48.3e9, bandwidth: 0.864e12, flops: 733e12, weightBytes: 1, pricePerHour: 1},
	{name: "MI300X", memory: 206e9, bandwidth: 5.3e12, flops: 2615e12, weightBytes: 1, pricePerHour: 4},
}

// model is what a model card says.
type model struct {
	name       string
	parameters float64
	// active parameters work on one token; fewer than all in a mixture of experts.
	active float64
	// shared parameters are read for every batch, the rest are experts.
	shared float64
	// expertShare is the share of the experts that one token visits.
	expertShare float64
	// kvBytes is the KV cache of one token, keys and values in BF16.
	kvBytes float64
}

var models = []model{
	{name: "llama-3.2-3b", parameters: 3.2e9, active: 3.2e9, shared: 3.2e9, kvBytes: 28 * 8 * 128 * 4},
	{name: "llama-3.1-8b", parameters: 8.03e9, active: 8.03e9, shared: 8.03e9, kvBytes: 32 * 8 * 128 * 4},
	{name: "qwen2.5-32b", parameters: 32.8e9, active: 32.8e9, shared: 32.8e9, kvBytes: 64 * 8 * 128 * 4},
	{name: "llama-3.1-70b", parameters: 70.6e9, active: 70.6e9, shared: 70.6e9, kvBytes: 80 * 8 * 128 * 4},
	{name: "qwen3-30b-a3b", parameters: 30.5e9, active: 3.3e9, shared: 1.5e9, expertShare: 8.0 / 128, kvBytes: 48 * 4 * 128 * 4},
	{name: "qwen3-235b-a22b", parameters: 235e9, active: 22e9, shared: 7.9e9, expertShare: 8.0 / 128, kvBytes: 94 * 4 * 128 * 4},
}

// Efficiencies of real engines against the data sheet, of the size of those of
// the fitted profiles in the README.
const (
	hostSeconds         = 0.003 // scheduling and launches, per iteration
	bandwidthEfficiency = 0.8
	computeEfficiency   = 0.4
	parallelEfficiency  = 0.93 // per doubling of devices
	usableMemory        = 0.9
	maxBatch            = 256
)

// replica is one way to run a model.
type replica struct {
	model       model
	accelerator accelerator
	devices     int
}

// replicas returns the smallest power of two of devices whose memory is at least
// one and a half times the weights, and its double; none beyond a node of eight.
func replicas(m model, a accelerator) []replica {
	devices := 1
	for float64(devices)*a.memory*usableMemory < 1.5*m.parameters*a.weightBytes {
		devices *= 2
	}
	var fitting []replica
	for _, d := range []int{devices, 2 * devices} {
		if d <= 8 {
			fitting = append(fitting, replica{model: m, accelerator: a, devices: d})
		}
	}
	return fitting
}

// effectiveDevices discounts tensor parallelism for its communication.
func (r replica) effectiveDevices() float64 {
	return float64(r.devices) * math.Pow(parallelEfficiency, math.Log2(float64(r.devices)))
}

// price returns the price of one replica per hour.
func (r replica) price() float64 {
	return float64(r.devices) * r.accelerator.pricePerHour
}

// iteration returns the time of one decoding step of a batch by the roofline of
// memory bandwidth: every weight that the batch touches and every KV entry is
// read once.
func (r replica) iteration(batch int, context float64) float64 {
	n := float64(batch)
	experts := 1 - math.Pow(1-r.model.expertShare, n)
	weights := r.model.shared + (r.model.parameters-r.model.shared)*experts
	bytes := weights*r.accelerator.weightBytes + n*context*r.model.kvBytes
	return hostSeconds + bytes/(bandwidthEfficiency*r.accelerator.bandwidth*r.effectiveDevices())
}

// prefill returns the time that one prompt adds by the roofline of compute: two
// operations per active parameter and token.
func (r replica) prefill(tokens float64) float64 {
	return 2 * r.model.active * tokens / (computeEfficiency * r.accelerator.flops * r.effectiveDevices())
}

// capacity returns the requests/s at the largest batch whose inter-token latency,
// prefill included, stays within itl; 0 when no batch does. In steady state every
// request of the batch brings one prompt in output iterations.
func (r replica) capacity(s shape, itl float64) float64 {
	room := r.accelerator.memory*usableMemory*float64(r.devices) - r.model.parameters*r.accelerator.weightBytes
	batchLimit := min(maxBatch, int(room/(r.model.kvBytes*(s.input+s.output))))
	rate := 0.0
	for batch := 1; batch <= batchLimit; batch++ {
		n := float64(batch)
		step := r.iteration(batch, s.input+s.output/2) + n*r.prefill(s.input)/s.output
		if step > itl {
			break
		}
		rate = n / (s.output * step)
	}
	return rate
}
