//go:build cgo && clp

package lp

import (
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Clp answers by itself what has a solution: the pure Go engine steps in only for
// problems without one.
func TestClpNeedsNoHelpWithOptima(t *testing.T) {
	clp, _ := Clp()
	optima, infeasible, fallBacks := 0, 0, 0
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 8))
		solver := load(t, clp, master(r, 30, 4, 25)).(*clpSolver)
		for range 80 {
			before := solver.fallBacks
			s := solver.Solve(0)
			switch s.Status {
			case Optimal:
				optima++
				if solver.fallBacks > before {
					t.Errorf("seed %d: Clp left an optimum to the other engine", seed)
				}
			case Infeasible:
				infeasible++
				fallBacks += solver.fallBacks - before
			}
			j := r.IntN(len(solver.given.cost))
			value := float64(r.IntN(5) / 4)
			solver.SetBounds(j, value, value)
		}
	}
	if optima == 0 || infeasible == 0 {
		t.Fatalf("%d optima and %d infeasible problems", optima, infeasible)
	}
	t.Logf("%d optima; %d of %d infeasible problems left to the other engine", optima, fallBacks, infeasible)
}

// Solving must leave the process's signal handling to Go.
func TestClpLeavesSignalsAlone(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	clp, _ := Clp()
	solveOnce(t, clp, master(rand.New(rand.NewPCG(1, 2)), 20, 3, 20))
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-signals:
	case <-time.After(10 * time.Second):
		t.Fatal("the interrupt did not arrive")
	}
}

// A solver that is never closed is freed with its Go memory.
func TestClpFreesForgottenSolvers(t *testing.T) {
	clp, _ := Clp()
	freed := make(chan struct{})
	func() {
		solver, err := clp.New(master(rand.New(rand.NewPCG(1, 2)), 20, 3, 20))
		if err != nil {
			t.Fatal(err)
		}
		solver.Solve(0)
		runtime.AddCleanup(solver.(*clpSolver), func(c chan struct{}) { close(c) }, freed)
	}()
	for range 10 {
		runtime.GC()
	}
	select {
	case <-freed:
	case <-time.After(10 * time.Second):
		t.Fatal("the solver is still reachable")
	}
}

func TestClpAfterClose(t *testing.T) {
	clp, _ := Clp()
	solver, err := clp.New(&Problem{Columns: []Column{{Upper: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	solver.Close()
	solver.AddColumns([]Column{{Upper: 1}})
	solver.SetBounds(0, 0, 2)
	if s := solver.Solve(0); s.Status != IterationLimit || solver.Err() == nil {
		t.Fatalf("status %v, error %v", s.Status, solver.Err())
	}
}
