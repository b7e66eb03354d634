package instance

import (
	"math"
	"math/rand/v2"
)

// accelerator is a device type. Prices are those of public clouds, speeds are
// relative to the first and of the size that serving engines reach.
type accelerator struct {
	name         string
	pricePerHour float64
	memory       float64 // gigabytes
	speed        float64
}

// accelerators lists n of them. Those beyond the eighth are the first ones again in
// another zone, somewhat dearer.
func accelerators(n int) []accelerator {
	types := [...]accelerator{
		{name: "H100", pricePerHour: 7.516, memory: 80, speed: 1},
		{name: "A100", pricePerHour: 3.67, memory: 80, speed: 0.39},
		{name: "L40S", pricePerHour: 1.86, memory: 48, speed: 0.3},
		{name: "A10G", pricePerHour: 1.01, memory: 24, speed: 0.14},
		{name: "L4", pricePerHour: 0.7, memory: 24, speed: 0.105},
		{name: "H200", pricePerHour: 9.984, memory: 141, speed: 1.3},
		{name: "MI300X", pricePerHour: 7.86, memory: 192, speed: 1.1},
		{name: "A40", pricePerHour: 1.28, memory: 48, speed: 0.18},
	}
	chosen := make([]accelerator, n)
	for i := range chosen {
		chosen[i] = types[i%len(types)]
		if zone := i / len(types); zone > 0 {
			chosen[i].name += string(rune('a' + zone))
			chosen[i].pricePerHour = round(chosen[i].pricePerHour*(1+0.1*float64(zone)), 3)
		}
	}
	return chosen
}

const (
	largestReplica = 8
	// usableMemory is what an engine may fill with weights and KV cache; weights take
	// at most weightShare of it.
	usableMemory, weightShare = 0.9, 0.9
	// parallelEfficiency is kept at each doubling of the devices of a replica.
	parallelEfficiency = 0.93
	// halfRoom is the share of memory left to the KV cache at which a device reaches
	// half of its speed.
	halfRoom = 0.3
	// doubling is the chance that a variant of twice the devices is offered as well,
	// unsupported that an accelerator is not offered for a model.
	doubling, unsupported = 0.27, 0.05
	// spread of capacities about the rule, of requests of one model about the usual
	// one: standard deviations of the logarithm.
	capacitySpread, requestSpread = 0.13, 0.6
)

// weights returns the gigabytes of the weights of a model. Small models are the
// most used.
func weights(r *rand.Rand) float64 {
	sizes := [...]float64{6, 8, 14, 14, 16, 16, 16, 16, 26, 30, 40, 54, 64, 70, 110, 130, 150, 240, 260, 405}
	return sizes[r.IntN(len(sizes))]
}

// leastDevices returns the smallest power of two of devices that hold the weights;
// 0 if none up to largestReplica does.
func (a accelerator) leastDevices(weights float64) int {
	for devices := 1; devices <= largestReplica; devices *= 2 {
		if weights <= weightShare*usableMemory*a.memory*float64(devices) {
			return devices
		}
	}
	return 0
}

// throughput returns what devices of the accelerator sustain together, relative to
// one of unit speed with unlimited memory.
func (a accelerator) throughput(devices int, weights float64) float64 {
	n := float64(devices)
	room := 1 - weights/(usableMemory*a.memory*n)
	return a.speed * n * math.Pow(parallelEfficiency, math.Log2(n)) * room / (room + halfRoom)
}

// round rounds to so many decimal digits, so that problems can be printed and read
// back and don't hang on the last bit of a logarithm.
func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}
