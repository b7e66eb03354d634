package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/poolwright/poolwright/benchmarks/solver/internal/compact"
	"github.com/poolwright/poolwright/optimizer"
)

// Answer is what a solver made of a problem.
type Answer struct {
	// Status is Optimal only if every run was.
	Status Status
	// Levels are the unmet demand of priorities without penalty, in their order; none
	// if all is served.
	Levels []Level
	// Objective is judged from the plan; like Replicas it counts only with Status
	// Optimal or Feasible.
	Objective float64
	Replicas  [][][]int
	// CPU is the processor time of all runs, reading included. First is that of the
	// first plan of the last run, CPU where the solver does not tell.
	CPU, First time.Duration
}

// Level is the unmet demand of one priority, in requests/s.
type Level struct {
	Priority int
	Unmet    float64
}

// Solve solves a problem to a relative gap. Limit is that of each run: one, or,
// where demand without penalty can't all be served, another one per priority and a
// last one for cost.
func (s Solver) Solve(ctx context.Context, problem *optimizer.Problem, gap float64, limit time.Duration) (Answer, error) {
	folder, err := os.MkdirTemp("", "peer")
	if err != nil {
		return Answer{}, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	r := run{solver: s, folder: folder, problem: problem, gap: gap, limit: limit}
	var a Answer
	priorities := Unpenalized(problem)
	settled := map[int]float64{}
	for _, priority := range priorities {
		settled[priority] = 0
	}
	if err := r.stage(ctx, compact.Stage{Settled: settled}, &a); err != nil || a.Status != Infeasible || len(priorities) == 0 {
		return a, err
	}
	err = r.levels(ctx, priorities, &a)
	return a, err
}

// levels settles unmet demand priority by priority, and then minimises cost.
func (r *run) levels(ctx context.Context, priorities []int, a *Answer) error {
	settled := map[int]float64{}
	worst := Optimal
	for _, priority := range priorities {
		if err := r.stage(ctx, compact.Stage{Priority: priority, Settled: settled}, a); err != nil || a.Status > Feasible {
			return err
		}
		worst = max(worst, a.Status)
		settled[priority] = a.Objective
		a.Levels = append(a.Levels, Level{Priority: priority, Unmet: a.Objective})
	}
	err := r.stage(ctx, compact.Stage{Settled: settled}, a)
	a.Status = max(a.Status, worst)
	return err
}

// Unpenalized lists the priorities of demand without penalty, increasing.
func Unpenalized(problem *optimizer.Problem) []int {
	var priorities []int
	for i := range problem.Workloads {
		if w := &problem.Workloads[i]; !w.Penalized && w.Demand > 0 {
			priorities = append(priorities, w.Priority)
		}
	}
	slices.Sort(priorities)
	return slices.Compact(priorities)
}

// run is what the runs for one problem have in common.
type run struct {
	solver  Solver
	folder  string
	problem *optimizer.Problem
	gap     float64
	limit   time.Duration
}

// stage solves one stage and updates the answer.
func (r *run) stage(ctx context.Context, at compact.Stage, a *Answer) error {
	program, err := compact.New(r.problem, at)
	if err != nil {
		return err
	}
	o, cpu, err := r.command(ctx, program)
	if err != nil {
		return err
	}
	a.First = a.CPU + cpu
	if o.firstKnown {
		a.First = a.CPU + time.Duration(o.first*float64(time.Second))
	}
	a.CPU += cpu
	if a.Status = o.status; a.Status > Feasible {
		return nil
	}
	a.Replicas = program.Replicas(o.values)
	if a.Objective, err = program.Judge(a.Replicas); err != nil {
		return fmt.Errorf("peer: %s: plan: %w", r.solver.Name, err)
	}
	return nil
}

// command writes the program and runs the solver on it. It returns the processor
// time of the command.
func (r *run) command(ctx context.Context, program *compact.Program) (outcome, time.Duration, error) {
	model, solution := filepath.Join(r.folder, "model.mps"), filepath.Join(r.folder, "solution")
	for file, text := range map[string]string{model: program.MPS(), solution: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return outcome{}, 0, err
		}
	}
	arguments := r.solver.arguments(model, solution, r.gap, r.limit)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...) //nolint:gosec // one of the commands of this package
	log, err := command.CombinedOutput()
	// Exit codes of these commands also say that there is no solution.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		return outcome{}, 0, fmt.Errorf("peer: %s: %w", r.solver.Name, err)
	}
	text, err := os.ReadFile(filepath.Clean(solution))
	if err != nil {
		return outcome{}, 0, err
	}
	o, err := r.solver.parse(string(log), string(text), program.Names())
	return o, command.ProcessState.UserTime() + command.ProcessState.SystemTime(), err
}
