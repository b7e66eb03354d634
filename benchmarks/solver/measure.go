package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/optimizer"
)

// relativeGap is the gap to be proven.
const relativeGap = 1e-3

// measured is a solve and its processor time.
type measured struct {
	*optimizer.Solution
	cpu time.Duration
}

// fewest is the processor time over which short solves are repeated.
const fewest = 5 * time.Millisecond

// solve solves a problem, for at most so much processor time, and takes the mean
// time of as many solves as fill a few milliseconds.
func solve(problem *optimizer.Problem, o optimizer.Options, limit time.Duration) (measured, error) {
	// What drawing the problem left behind is not the solver's to clean up.
	runtime.GC()
	start := machine.ProcessorTime()
	o.Stop = func() bool { return machine.ProcessorTime()-start > limit }
	var m measured
	for n := 1; ; n++ {
		var err error
		if m.Solution, err = optimizer.Solve(problem, o); err != nil {
			return m, err
		}
		if used := machine.ProcessorTime() - start; used >= fewest {
			m.cpu = used / time.Duration(n)
			return m, nil
		}
	}
}

// pace is what a fixed piece of work took before solves, in milliseconds: how fast the machine was.
type pace struct{ took []float64 }

func (p *pace) sample() { p.took = append(p.took, milliseconds(machine.FixedWork())) }

// line says what it was, nothing if it was not looked at.
func (p *pace) line() string {
	if len(p.took) == 0 {
		return ""
	}
	return fmt.Sprintf("A fixed piece of work, timed before solves, took %.3f ms at least, %.3f on the median, %.3f at p95. Other times roughly follow it.\n",
		quantile(p.took, 0), quantile(p.took, 0.5), quantile(p.took, 0.95))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// quantile is the least value that at least the share q of them does not exceed.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
