package replica_test

import (
	"fmt"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// A model of 8 billion parameters at two thirds of what it sustains.
func ExampleMeasure() {
	r, err := replica.New(queueing.Replica{
		Profile:          queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Delta: 0.0000024},
		MaxBatch:         256,
		MaxBatchedTokens: 2048,
	})
	if err != nil {
		panic(err)
	}
	arrivals, err := replica.Load{
		Shape:  queueing.Shape{InputTokens: 512, OutputTokens: 256, InputSCV: 0.5, OutputSCV: 1, ArrivalSCV: 1},
		Phases: replica.Constant(30), Requests: 50_000, Seed: 1,
	}.Arrivals()
	if err != nil {
		panic(err)
	}
	m := replica.Measure(r, arrivals, 60)
	fmt.Printf("TTFT %.0f ms on average, %.0f ms for 95 %%\n", 1000*m.TTFT.Mean(), 1000*m.TTFT.Quantile(0.95))
	fmt.Printf("ITL %.1f ms\n", 1000*m.ITL.Mean())
	fmt.Printf("batch %.0f\n", m.Totals.MeanRunning())
	// Output:
	// TTFT 21 ms on average, 28 ms for 95 %
	// ITL 13.1 ms
	// batch 101
}

func ExampleReplica_Step() {
	r, err := replica.New(queueing.Replica{Profile: queueing.Profile{Alpha: 0.010, Delta: 0.0001}, MaxBatch: 8})
	if err != nil {
		panic(err)
	}
	r.Arrive(replica.Request{ID: 7, Arrival: 1, Input: 100, Output: 3})
	for r.Running()+r.Waiting() > 0 {
		for _, c := range r.Step() {
			fmt.Printf("request %d: TTFT %v, ITL %v\n", c.ID, c.TTFT().Duration(), c.ITL().Duration())
		}
	}
	// Output: request 7: TTFT 20ms, ITL 10ms
}
