package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// The methods that are measured.
const (
	optimize = "Optimize"
	capacity = "Capacity"
)

// path is where REST has a method.
func path(method string) string {
	return map[string]string{optimize: "/v1/optimize", capacity: "/v1/capacity"}[method]
}

// fleet has so many workloads, each with a variant on three accelerators, whose capacities
// follow from profiles.
func fleet(workloads int) *poolwrightv1.Fleet {
	accelerators := []struct {
		name        string
		price       float64
		alpha, beta float64
	}{{"H100", 4, 8, 0.05}, {"A100", 2.2, 12, 0.09}, {"L40S", 1.1, 20, 0.2}}
	m := &poolwrightv1.Fleet{}
	for _, a := range accelerators {
		m.Pools = append(m.Pools, &poolwrightv1.Pool{Accelerator: a.name, PricePerHour: a.price, Capacity: proto.Int32(int32(4 * workloads))}) //nolint:gosec // small
	}
	for i := range workloads {
		w := &poolwrightv1.Workload{
			Name: fmt.Sprintf("workload-%04d", i),
			Load: &poolwrightv1.Load{
				ArrivalRate: 2 + float64(i*7%40), InputTokens: float64(200 + i*37%1000), OutputTokens: float64(100 + i*53%400),
			},
			Slo: &poolwrightv1.SLO{
				Ttft: &poolwrightv1.LatencyLimits{P95: durationpb.New(1e9)}, Itl: &poolwrightv1.LatencyLimits{Mean: durationpb.New(5e7)},
			},
		}
		for _, a := range accelerators {
			w.Variants = append(w.Variants, &poolwrightv1.Variant{
				Name: "on-" + a.name, Accelerator: a.name, MaxBatch: proto.Int32(128), DevicesPerReplica: proto.Int32(1),
				Profile: &poolwrightv1.Profile{AlphaMs: a.alpha, BetaMs: a.beta, DeltaMs: 0.004},
			})
		}
		m.Workloads = append(m.Workloads, w)
	}
	return m
}

// payload is a call as bytes of both ways.
type payload struct {
	method    string
	workloads int
	fleet     *poolwrightv1.Fleet
	// binary and text are what is asked.
	binary, text []byte
}

func newPayload(method string, workloads int) (*payload, error) {
	p := &payload{method: method, workloads: workloads, fleet: fleet(workloads)}
	var err error
	if p.binary, err = proto.Marshal(p.fleet); err != nil {
		return nil, err
	}
	p.text, err = protojson.Marshal(p.fleet)
	return p, err
}

func (p *payload) String() string { return fmt.Sprintf("%s-%d", p.method, p.workloads) }
