package queueing_test

import (
	"fmt"

	"github.com/poolwright/poolwright/queueing"
)

func ExampleEvaluateSeries() {
	station, err := queueing.NewStation(exampleReplica, exampleShape)
	if err != nil {
		fmt.Println(err)
		return
	}
	var windows []queueing.Window
	for _, rate := range []queueing.Rate{30, 60, 60, 30, 30} {
		windows = append(windows, queueing.Window{Station: station, Rate: rate, Length: 15})
	}
	results, left := queueing.EvaluateSeries(nil, windows, queueing.Backlog{})
	for _, w := range results {
		fmt.Printf("%v: TTFT %.1f s\n", w.Outcome, w.TTFT)
	}
	fmt.Printf("%.0f left waiting\n", left.Queued)

	slo := queueing.SLO{Limits: []queueing.Limit{{Metric: queueing.TTFT, Value: 2}}}
	c, err := queueing.CapacityOfSeries(windows, queueing.Backlog{}, slo)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("up to a peak of %.0f requests/s, limited by %v in window %d\n", c.PeakRate, c.Binding, c.Window)
	// Output:
	// steady: TTFT 0.0 s
	// saturated: TTFT 0.8 s
	// saturated: TTFT 5.5 s
	// steady: TTFT 5.8 s
	// steady: TTFT 1.4 s
	// 0 left waiting
	// up to a peak of 52 requests/s, limited by ttft.mean in window 2
}

func ExampleTandem() {
	prefill := exampleReplica
	prefill.MaxBatchedTokens = 4096
	tandem, err := queueing.NewTandem(queueing.Disaggregated{
		Prefill:         prefill,
		Decode:          exampleReplica,
		PrefillReplicas: 1,
		DecodeReplicas:  4,
		Transfer:        queueing.Transfer{Base: 0.005, PerToken: 10e-6},
	}, exampleShape)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := tandem.Capacity(queueing.SLO{Limits: []queueing.Limit{
		{Metric: queueing.TTFT, Value: 0.1},
		{Metric: queueing.ITL, Value: 0.012},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f requests/s, limited by %v\n", c.Rate, c.Binding)
	fmt.Printf("%.0f decode replicas for one that computes prompts\n", c.Ratio)
	// Output:
	// 116 requests/s, limited by itl.mean
	// 16 decode replicas for one that computes prompts
}
