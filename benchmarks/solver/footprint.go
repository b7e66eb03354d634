package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/internal/instance"
	"github.com/poolwright/poolwright/optimizer"
)

// task is what a process of its own solves.
type task struct {
	instance.Params
	// TimeLimit ends the solve by the clock; Limit by processor time.
	TimeLimit, Limit time.Duration
	// Cores is how many processors the solver may use at once.
	Cores int
}

// took is what it took.
type took struct {
	Gap      float64
	Proven   bool
	Feasible bool
	// Elapsed is by the clock, CPU processor time. Later is Elapsed of the same solve once more.
	Elapsed, CPU, Later time.Duration
	// Faults are page faults of the solve, and FaultTime is what one takes, where there is a time limit.
	Faults    int64
	FaultTime time.Duration
	// PeakMemory of the process in bytes, the problem included.
	PeakMemory int64
}

// probe solves the problem described and prints what it took.
func probe(description string, w io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(description), &t); err != nil {
		return err
	}
	runtime.GOMAXPROCS(t.Cores)
	problem := instance.Generate(t.Params)
	s, r, err := t.solve(problem)
	if err != nil {
		return err
	}
	e, err := problem.Evaluate(s.Replicas())
	if err != nil {
		return err
	}
	r.Feasible = len(e.Violations) == 0 && s.Demand != optimizer.Infeasible
	if r.PeakMemory, err = machine.PeakMemory(os.Getpid()); err != nil {
		return err
	}
	if t.TimeLimit > 0 {
		_, again, err := t.solve(problem)
		if err != nil {
			return err
		}
		r.Later = again.Elapsed
		if r.FaultTime, err = machine.FaultTime(); err != nil {
			return err
		}
	}
	return json.NewEncoder(w).Encode(r)
}

func (t *task) solve(problem *optimizer.Problem) (*optimizer.Solution, took, error) {
	runtime.GC() // as in solve
	o := optimizer.Options{RelativeGap: relativeGap}
	begin, start, faults := time.Now(), machine.ProcessorTime(), machine.PageFaults()
	o.Stop = func() bool {
		return t.TimeLimit > 0 && time.Since(begin) > t.TimeLimit || machine.ProcessorTime()-start > t.Limit
	}
	s, err := optimizer.Solve(problem, o)
	if err != nil {
		return nil, took{}, err
	}
	return s, took{
		Gap: s.Gap, Proven: s.Proof == optimizer.Optimal,
		Elapsed: time.Since(begin), CPU: machine.ProcessorTime() - start, Faults: machine.PageFaults() - faults,
	}, nil
}

// ask runs a task in a process of its own.
func ask(ctx context.Context, t task) (took, error) {
	var r took
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	description, err := json.Marshal(t)
	if err != nil {
		return r, err
	}
	var out bytes.Buffer
	command := exec.CommandContext(ctx, self, "-probe", string(description)) //nolint:gosec // this program itself
	command.Stdout, command.Stderr = &out, os.Stderr
	if err := command.Run(); err != nil {
		return r, fmt.Errorf("probe: %w", err)
	}
	err = json.Unmarshal(out.Bytes(), &r)
	return r, err
}

const footprintAbout = `Every problem is solved in a process of its own, once what drawing it left behind is collected. Memory is the
most that the process held (VmHWM), the problem included, on one core. With a time limit the solver is stopped by the clock, in five
processes each, on one core and on all: the table has medians of what the first solve of a process took by the clock, as a caller waits for it, of the
same solve once more, as in a server, which has memory by then, and of the processor time of the first on all cores together; the longest first one; the page faults of the
first, which come with memory that is new to a process; and whether the plans of the first ones are feasible, breaking no limit, judged from the problem.`

// stops is the number of processes in which a solve is stopped.
const stops = 5

// footprintSection measures memory by size, and time limits.
func footprintSection(ctx context.Context, o options) (*section, error) {
	s := &section{title: "Memory and time limits"}
	memory := table.Table{Title: "Peak memory", Columns: table.Columns("kind", "workloads", "pools", "MB", "gap %")}
	limited := table.Table{Title: "Stopped after 10 ms", Columns: table.Columns("kind", "workloads", "pools", "cores", "first ms", "longest ms", "later ms", "processor ms", "faults", "gap %", "feasible")}
	counts := slices.Compact([]int{1, o.cores})
	most, first, later, feasible := 0.0, make([]float64, len(counts)), make([]float64, len(counts)), 1.0
	var faultTimes []float64
	for _, workloads := range sizes(o.largest) {
		all := []setting{ofKind(instance.Tight), byPriority(), largeShort()}
		for _, kind := range all {
			t := task{Params: kind.Params, Limit: o.limit, Cores: 1}
			t.Workloads = workloads
			r, err := ask(ctx, t)
			if err != nil {
				return nil, err
			}
			megabytes := float64(r.PeakMemory) / 1e6
			most = math.Max(most, megabytes)
			memory.Add(kind.name, fmt.Sprint(workloads), fmt.Sprint(kind.Pools), format(megabytes), format(100*r.Gap))
			if workloads < sizes(o.largest)[len(sizes(o.largest))-1] {
				continue
			}
			t.TimeLimit = 10 * time.Millisecond
			for k, cores := range counts {
				t.Cores = cores
				var firsts, laters, processor, faults, gaps []float64
				fits := true
				for range stops {
					o.pace.sample()
					if r, err = ask(ctx, t); err != nil {
						return nil, err
					}
					firsts, laters = append(firsts, milliseconds(r.Elapsed)), append(laters, milliseconds(r.Later))
					processor, gaps = append(processor, milliseconds(r.CPU)), append(gaps, 100*r.Gap)
					faults, faultTimes = append(faults, float64(r.Faults)), append(faultTimes, 1e3*milliseconds(r.FaultTime))
					fits = fits && r.Feasible
				}
				median, again := quantile(firsts, 0.5), quantile(laters, 0.5)
				limited.Add(kind.name, fmt.Sprint(workloads), fmt.Sprint(kind.Pools), fmt.Sprint(cores), format(median), format(slices.Max(firsts)), format(again),
					format(quantile(processor, 0.5)), fmt.Sprintf("%.0f", quantile(faults, 0.5)), format(quantile(gaps, 0.5)), fmt.Sprint(fits))
				first[k], later[k] = math.Max(first[k], median), math.Max(later[k], again)
				if !fits {
					feasible = 0
				}
			}
		}
	}
	s.about = fmt.Sprintf("%s One took %.2g µs on one thread alone, the median over all these processes.", footprintAbout, quantile(faultTimes, 0.5))
	s.tables = []table.Table{memory, limited}
	s.targets = []target{{name: "peak memory", measured: most, bound: 300, unit: " MB"}}
	const stopped = "stopped after 10 ms on the largest problem: "
	within := func(solve string, cores int, measured float64) target {
		return target{name: fmt.Sprintf("%stime to plan, bound and gap, %s solve, median, cores: %d", stopped, solve, cores), measured: measured, bound: 25, unit: " ms"}
	}
	for k, cores := range counts {
		s.targets = append(s.targets, within("first", cores, first[k]), within("later", cores, later[k]))
	}
	s.targets = append(s.targets, target{name: stopped + "plans that are feasible", measured: 100 * feasible, bound: 100, atLeast: true, unit: " %"})
	return s, nil
}
