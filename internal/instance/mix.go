package instance

import (
	"math"
	"math/rand/v2"

	"github.com/poolwright/poolwright/optimizer"
)

// Mix draws one model that serves requests of many shapes, as a problem without
// limits on devices: input × output lengths in 10 × 6 buckets with shares as uneven
// as those of recorded traffic, on four accelerators of which each suits other
// shapes best. That is the setting of T. Griggs et al., "Mélange: Cost Efficient
// Large Language Model Serving by Exploiting GPU Heterogeneity" (2024).
func Mix(rate float64, seed uint64) *optimizer.Problem {
	r := rand.New(rand.NewPCG(seed, 0))
	w := optimizer.Workload{Name: "mix", Priority: 1, Demand: rate}
	var shapes []requestShape
	total := 0.0
	for _, input := range [...]float64{12, 37, 75, 175, 375, 750, 1500, 3000, 6000, 12_000} {
		for _, output := range [...]float64{12, 37, 75, 175, 375, 750} {
			shapes = append(shapes, requestShape{input, output})
			share := math.Exp(1.5 * r.NormFloat64())
			w.Shapes = append(w.Shapes, optimizer.Shape{Share: share})
			total += share
		}
	}
	for s := range w.Shapes {
		w.Shapes[s].Share /= total
	}
	problem := &optimizer.Problem{}
	for g, d := range mixDevices() {
		problem.Pools = append(problem.Pools, optimizer.Pool{Name: d.name})
		v := optimizer.Variant{Name: d.name, DevicesPerReplica: 1, Placements: []optimizer.Placement{{Pool: g, PricePerHour: d.pricePerHour}}}
		for _, s := range shapes {
			v.ShapeCapacities = append(v.ShapeCapacities, round(d.capacity(s)*math.Exp(0.1*r.NormFloat64()), 4))
		}
		w.Variants = append(w.Variants, v)
	}
	problem.Workloads = []optimizer.Workload{w}
	return problem
}

// requestShape is lengths in tokens.
type requestShape struct{ input, output float64 }

// mixDevice is what a data sheet says of a device, times usual efficiencies.
type mixDevice struct {
	name         string
	pricePerHour float64
	memory       float64 // bytes
	bandwidth    float64 // bytes/s
	prefill      float64 // tokens/s
}

func mixDevices() []mixDevice {
	return []mixDevice{
		{name: "L4", pricePerHour: 0.7, memory: 24e9, bandwidth: 0.24e12, prefill: 3500},
		{name: "A10G", pricePerHour: 1.01, memory: 24e9, bandwidth: 0.48e12, prefill: 4000},
		{name: "A100", pricePerHour: 3.67, memory: 80e9, bandwidth: 1.6e12, prefill: 9000},
		{name: "H100", pricePerHour: 7.516, memory: 80e9, bandwidth: 2.7e12, prefill: 25_000},
	}
}

// capacity is the requests/s of one shape alone: a batch as large as memory holds
// decodes as fast as weights and KV cache are read, and prompts add their time.
func (d mixDevice) capacity(s requestShape) float64 {
	const weightBytes, kvBytes, longestStep, largestBatch = 14e9, 0.13e6, 0.12, 256
	context := s.input + s.output/2
	batch := min(largestBatch, math.Floor((usableMemory*d.memory-weightBytes)/(kvBytes*(s.input+s.output))))
	if batch < 1 {
		return 0
	}
	step := (weightBytes + batch*context*kvBytes) / d.bandwidth
	if step > longestStep {
		return 0
	}
	return 1 / (s.input/d.prefill + s.output*step/batch)
}
