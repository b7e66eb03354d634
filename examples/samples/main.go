// Command samples measures a simulated replica as a load test would, for trying out
// calibration: 70B parameters on four accelerators, five workloads at six arrival
// rates each, ten minutes per point, and the limits of the engine. The coefficients that calibration should find
// are those of [truth]. Equal flags give equal output.
//
//	go run ./examples/samples -seed 1 > examples/samples.csv
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	err := write(out, *seed)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "samples:", err)
		os.Exit(1)
	}
}

// truth is the replica that is measured.
func truth() queueing.Replica {
	return queueing.Replica{
		Profile: queueing.Profile{
			Alpha: 11.0e-3, Beta: 0.0534e-3, Kappa: 3.13e-8, Gamma: 2e-3, Delta: 0.0474e-3, TTFTOffset: 19e-3,
		},
		MaxBatch: 256, KVCacheTokens: 900_000, MaxBatchedTokens: 8192,
	}
}

// workload is a shape of requests and the highest rate at which it is measured.
type workload struct {
	name  string
	shape queueing.Shape
	rate  queueing.Rate
}

// workloads differ in what their iterations spend time on: weights, context, prompts.
func workloads() []workload {
	shape := func(in, out queueing.Tokens) queueing.Shape {
		return queueing.Shape{InputTokens: in, OutputTokens: out, InputSCV: 0, OutputSCV: 0, ArrivalSCV: 1}
	}
	return []workload{
		{"chat", shape(500, 250), 12},
		{"summaries", shape(3000, 150), 3},
		{"documents", shape(8000, 400), 0.9},
		{"stories", shape(200, 1500), 2.4},
		{"answers", shape(1200, 80), 7},
	}
}

// The rates of a workload are these shares of its highest one.
const steps = 6

// Each point is a test of this length in seconds, after a warm-up.
const (
	length = 600
	warmUp = 120
)

// write prints a table of measurements.
func write(out io.Writer, seed uint64) error {
	if _, err := fmt.Fprintln(out, "workload,input_tokens,output_tokens,output_tokens_scv,rate_rps,achieved_rps,running,waiting,ttft_ms,tpot_ms,max_num_seqs,max_num_batched_tokens,kv_cache_tokens"); err != nil {
		return err
	}
	engine := truth()
	for i, w := range workloads() {
		for step := 1; step <= steps; step++ {
			rate := w.rate * queueing.Rate(step) / steps
			m, err := measure(w.shape, rate, seed*1000+uint64(i*steps+step))
			if err != nil {
				return err
			}
			t := m.Totals
			if _, err := fmt.Fprintf(out, "%s,%g,%g,%g,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%d,%g,%g\n",
				w.name, w.shape.InputTokens, w.shape.OutputTokens, w.shape.OutputSCV, rate, t.Throughput(),
				t.MeanRunning(), t.MeanWaiting(), 1e3*m.TTFT.Mean(), 1e3*m.ITL.Mean(),
				engine.MaxBatch, engine.MaxBatchedTokens, engine.KVCacheTokens); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure runs one test.
func measure(shape queueing.Shape, rate queueing.Rate, seed uint64) (replica.Measurement, error) {
	r, err := replica.New(truth())
	if err != nil {
		return replica.Measurement{}, err
	}
	arrivals, err := replica.Load{
		Shape: shape, Seed: seed,
		Phases: []replica.Phase{{Duration: warmUp + length, Rate: rate}},
	}.Arrivals()
	if err != nil {
		return replica.Measurement{}, err
	}
	return replica.Measure(r, arrivals, warmUp), nil
}
