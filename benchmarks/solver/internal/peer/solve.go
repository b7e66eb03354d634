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
	r := run{solver: s, problem: problem, gap: gap, limit: limit}
	var a Answer
	priorities := Unpenalized(problem)
	settled := map[int]float64{}
	for _, priority := range priorities {
		settled[priority] = 0
	}
	if err := r.stage(ctx, compact.Stage{Settled: settled}, &a); err != nil || a.Status != Infeasible || len(priorities) == 0 {
		return a, err
	}
	err := r.levels(ctx, priorities, &a)
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
	one, err := r.solver.Run(ctx, program, r.gap, r.limit)
	if err != nil {
		return err
	}
	a.First = a.CPU + one.First
	a.CPU += one.CPU
	if a.Status = one.Status; a.Status > Feasible {
		return nil
	}
	a.Replicas = one.Replicas
	if a.Objective, err = program.Judge(a.Replicas); err != nil {
		return fmt.Errorf("peer: %s: plan: %w", r.solver.Name, err)
	}
	return nil
}

// Run is what a solver made of one program.
type Run struct {
	Status Status
	// Replicas count with Status Optimal or Feasible.
	Replicas [][][]int
	// CPU is the processor time of the command, reading included. First is that of
	// the first plan, CPU where the solver does not tell.
	CPU, First time.Duration
}

// Run solves one program to a relative gap, in so much time.
func (s Solver) Run(ctx context.Context, program *compact.Program, gap float64, limit time.Duration) (Run, error) {
	folder, err := os.MkdirTemp("", "peer")
	if err != nil {
		return Run{}, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	model, solution := filepath.Join(folder, "model.mps"), filepath.Join(folder, "solution")
	for file, text := range map[string]string{model: program.MPS(), solution: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return Run{}, err
		}
	}
	arguments := s.arguments(model, solution, gap, limit)
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...) //nolint:gosec // one of the commands of this package
	log, err := command.CombinedOutput()
	// Exit codes of these commands also say that there is no solution.
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		return Run{}, fmt.Errorf("peer: %s: %w", s.Name, err)
	}
	text, err := os.ReadFile(filepath.Clean(solution))
	if err != nil {
		return Run{}, err
	}
	o, err := s.parse(string(log), string(text), program.Names())
	if err != nil {
		return Run{}, err
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	r := Run{Status: o.status, Replicas: program.Replicas(o.values), CPU: used, First: used}
	if o.firstKnown {
		r.First = time.Duration(o.first * float64(time.Second))
	}
	return r, nil
}
