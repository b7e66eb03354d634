package queueing_test

import (
	"fmt"

	"github.com/poolwright/poolwright/queueing"
)

// exampleReplica is a model of 8 billion parameters on one accelerator.
var exampleReplica = queueing.Replica{
	Profile: queueing.Profile{
		Alpha: 6.83e-3, // 6.83 ms per iteration
		Beta:  57e-6,   // and 57 µs per running request
		Delta: 2.4e-6,  // 2.4 µs per prompt token
	},
	MaxBatch: 256,
}

var exampleShape = queueing.Shape{
	InputTokens: 512, OutputTokens: 256,
	InputSCV: 1, OutputSCV: 1, ArrivalSCV: 1,
}

func ExampleStation_Evaluate() {
	station, err := queueing.NewStation(exampleReplica, exampleShape)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := station.Evaluate(30)
	fmt.Printf("%v: %.0f of at most %.1f requests/s, %.0f run together\n",
		p.Outcome, p.Throughput, p.SaturationRate, p.Running)
	fmt.Printf("ITL %.1f ms\n", 1e3*p.ITL.Mean())
	fmt.Printf("TTFT %.0f ms, p99 %.0f ms\n", 1e3*p.TTFT.Mean(), 1e3*p.TTFT.Quantile(0.99))
	// Output:
	// steady: 30 of at most 44.3 requests/s, 100 run together
	// ITL 13.1 ms
	// TTFT 21 ms, p99 33 ms
}

func ExampleStation_Capacity() {
	station, err := queueing.NewStation(exampleReplica, exampleShape)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := station.Capacity(queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Quantile: 0.95, Value: 0.5},
		{Metric: queueing.ITL, Value: 0.015},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f requests/s, limited by %v\n", c.Rate, c.Binding)

	c, _ = station.Capacity(queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.ITL, Value: 0.005}}})
	fmt.Printf("feasible: %v, %v is at best %.1f ms\n", c.Feasible, c.Binding, 1e3*c.Best)
	// Output:
	// 34.3 requests/s, limited by itl.mean
	// feasible: false, itl.mean is at best 6.9 ms
}
