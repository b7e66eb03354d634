package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// shape is the mean lengths of a request, in tokens.
type shape struct {
	input, output float64
}

// serviceClass is a kind of use with its own latency limit and rank.
type serviceClass struct {
	name     string
	shape    shape
	itl      float64 // seconds
	priority int32
}

var serviceClasses = []serviceClass{
	{name: "interactive", shape: shape{input: 400, output: 150}, itl: 0.030, priority: 1},
	{name: "chat", shape: shape{input: 1150, output: 210}, itl: 0.050, priority: 2},
	{name: "reasoning", shape: shape{input: 700, output: 1200}, itl: 0.050, priority: 2},
	{name: "retrieval", shape: shape{input: 4000, output: 200}, itl: 0.080, priority: 3},
	{name: "batch", shape: shape{input: 1000, output: 500}, itl: 0.150, priority: 4},
}

const (
	nodeSize = 8
	// Switching costs in parts of the replica's price per hour.
	switchUp, switchDown = 0.1, 0.03
	// variantShare is the share of the possible variants that a workload declares.
	variantShare = 0.6
	// poolSlack is the pools' size over what the demand needs when every workload
	// spreads over its variants in proportion to their requests/s per price. Little,
	// so that workloads compete for the accelerators that suit them best.
	poolSlack = 1.05
)

// generate returns a fleet of so many workloads. Equal arguments give equal
// fleets.
func generate(workloads int, seed uint64) *poolwrightv1.Fleet {
	random := rand.New(rand.NewPCG(seed, 0))
	fleet := &poolwrightv1.Fleet{}
	needed := make(map[string]float64, len(accelerators))
	for i := range workloads {
		fleet.Workloads = append(fleet.Workloads, newWorkload(random, i, needed))
	}
	for _, a := range accelerators {
		nodes := math.Ceil(poolSlack * needed[a.name] / nodeSize)
		fleet.Pools = append(fleet.Pools, &poolwrightv1.Pool{
			Accelerator:  a.name,
			PricePerHour: a.pricePerHour,
			Capacity:     proto.Int32(int32(nodes) * nodeSize),
		})
	}
	return fleet
}

// newWorkload draws a workload and adds the devices that it needs to needed, by
// accelerator.
func newWorkload(random *rand.Rand, index int, needed map[string]float64) *poolwrightv1.Workload {
	m, class, options := drawUse(random)
	best, value := options[0], 0.0
	for _, o := range options {
		value += o.value()
		if o.value() > best.value() {
			best = o
		}
	}
	// From a fifth of the cheapest replica to eight of them, evenly in the logarithm.
	rate := significant(best.capacity * 0.2 * math.Exp(random.Float64()*math.Log(40)))
	w := &poolwrightv1.Workload{
		Name:         fmt.Sprintf("w%04d", index+1),
		Namespace:    fmt.Sprintf("team-%02d", 1+random.IntN(20)),
		Model:        m.name,
		ServiceClass: class.name,
		Priority:     proto.Int32(class.priority),
		Load: &poolwrightv1.Load{
			ArrivalRate:  rate,
			InputTokens:  class.shape.input,
			OutputTokens: class.shape.output,
		},
	}
	running := random.IntN(len(options))
	// The fleet follows a demand that was up to 30 % lower or higher.
	before := rate * (0.7 + 0.6*random.Float64())
	for i, o := range options {
		v := o.variant()
		if i == running {
			v.CurrentReplicas = int32(math.Ceil(before / o.capacity))
		}
		w.Variants = append(w.Variants, v)
		replicas := rate / o.capacity * o.value() / value
		needed[o.replica.accelerator.name] += replicas * float64(o.replica.devices)
	}
	return w
}

// option is a replica with its capacity for one service class.
type option struct {
	replica  replica
	capacity float64 // requests/s
}

// value returns the requests/s per price that the option buys.
func (o option) value() float64 {
	return o.capacity / o.replica.price()
}

// drawUse draws a model, a service class and at least two options that serve it.
func drawUse(random *rand.Rand) (model, serviceClass, []option) {
	for {
		m := models[random.IntN(len(models))]
		class := serviceClasses[random.IntN(len(serviceClasses))]
		var declared []option
		for _, o := range options(m, class) {
			if random.Float64() < variantShare {
				declared = append(declared, o)
			}
		}
		if len(declared) >= 2 {
			return m, class, declared
		}
	}
}

// options returns the replicas that hold the class's limit, in the order of the
// accelerators.
func options(m model, class serviceClass) []option {
	var found []option
	for _, a := range accelerators {
		for _, r := range replicas(m, a) {
			if c := significant(r.capacity(class.shape, class.itl)); c > 0 {
				found = append(found, option{replica: r, capacity: c})
			}
		}
	}
	return found
}

func (o option) variant() *poolwrightv1.Variant {
	price := o.replica.price()
	return &poolwrightv1.Variant{
		Name:              fmt.Sprintf("%s-x%d", strings.ToLower(o.replica.accelerator.name), o.replica.devices),
		Accelerator:       o.replica.accelerator.name,
		DevicesPerReplica: proto.Int32(int32(o.replica.devices)),
		CapacityRps:       o.capacity,
		SwitchingCost: &poolwrightv1.SwitchingCost{
			Up:   significant(switchUp * price),
			Down: significant(switchDown * price),
		},
	}
}

// significant rounds to three significant decimal digits: estimates deserve no
// more, and so the file is the same on every processor.
func significant(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	if err != nil {
		panic(fmt.Sprintf("round %v: %v", x, err))
	}
	return rounded
}
