package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/sample"
)

// benchmark is something to simulate, and what is asked of it.
type benchmark struct {
	name     string
	replicas int
	requests float64
	// rate is the least number of requests per second of processor time, megabytes the most
	// memory held; 0 = anything.
	rate, megabytes float64
	// simulate serves about so many requests with replicas, and returns how many.
	simulate func(replicas int, requests float64) (int, error)
}

// cases are in the order of the table; the first is what the others are compared with.
func cases() []benchmark {
	all := []benchmark{{name: "a replica alone", replicas: 1, requests: 3e6, simulate: alone}}
	least := map[int]float64{1: 500_000, 64: 200_000}
	for _, replicas := range []int{1, 4, 16, 64, 256, 1024} {
		all = append(all, benchmark{name: byReplicas, replicas: replicas, requests: 3e6, rate: least[replicas], simulate: constant})
	}
	for _, requests := range []float64{1e5, 1e6, 1e7} {
		all = append(all, benchmark{name: byRequests, replicas: 64, requests: requests, simulate: constant})
	}
	// 10 million in two minutes.
	return append(all, benchmark{name: "a day under the production loop", replicas: 64, requests: 1e7, rate: 1e7 / 120, megabytes: 1000, simulate: day})
}

// The cases whose growth is fitted.
const (
	byReplicas = "fleet, by replicas"
	byRequests = "fleet, by requests"
)

// measurement is what a simulation took.
type measurement struct {
	Requests int
	// Processor time, of all cores.
	Processor time.Duration
	// Memory is the most that the process held, in bytes.
	Memory int64
}

// measured is a benchmark and what its repetitions took.
type measured struct {
	benchmark
	all []measurement
}

// rates are requests per second of processor time.
func (m *measured) rates() []float64 {
	return m.each(func(x measurement) float64 { return float64(x.Requests) / x.Processor.Seconds() })
}

func (m *measured) memory() float64 {
	return sample.Summarize(m.each(func(x measurement) float64 { return float64(x.Memory) / 1e6 })).Median
}

func (m *measured) each(figure func(measurement) float64) []float64 {
	values := make([]float64, len(m.all))
	for i, x := range m.all {
		values[i] = figure(x)
	}
	return values
}

// measureAll repeats all cases in turn with a share of their requests.
func measureAll(ctx context.Context, o options) ([]measured, error) {
	var all []measured
	for _, b := range cases() {
		all = append(all, measured{benchmark: b})
	}
	for range o.repeats {
		for i := range all {
			m, err := ask(ctx, i, o.share)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].name, err)
			}
			all[i].all = append(all[i].all, m)
		}
	}
	return all, nil
}

// ask measures a case in a process of its own.
func ask(ctx context.Context, i int, share float64) (measurement, error) {
	var m measurement
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	var out bytes.Buffer
	child := exec.CommandContext(ctx, self, "-case", fmt.Sprint(i), "-share", fmt.Sprint(share)) //nolint:gosec // this program itself
	child.Stdout, child.Stderr = &out, os.Stderr
	if err := child.Run(); err != nil {
		return m, err
	}
	err = json.Unmarshal(out.Bytes(), &m)
	return m, err
}

// probe simulates a case, and prints what it took.
func probe(i int, share float64, w io.Writer) error {
	if i >= len(cases()) {
		return fmt.Errorf("no case %d", i)
	}
	b := cases()[i]
	used := machine.ProcessorTime()
	n, err := b.simulate(b.replicas, share*b.requests)
	if err != nil {
		return err
	}
	m := measurement{Requests: n, Processor: machine.ProcessorTime() - used}
	if m.Memory, err = machine.PeakMemory(os.Getpid()); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(m)
}
