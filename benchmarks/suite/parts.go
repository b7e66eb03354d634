package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

// part is a program that leaves a report.
type part struct {
	name string
	// takes is about how long it takes on two cores.
	takes string
	// quick tells whether the program has a short way that gives ratios.
	quick bool
	// places are those of its files and folders that it has beside its report.
	places []command.Place
}

// parts are in the order of the page.
func parts() []part {
	return []part{
		{name: "queueing", takes: "1 min", quick: true},
		{name: "accuracy", takes: "15 min", places: []command.Place{command.Data, command.Docs}},
		{name: "solver", takes: "25 min", quick: true, places: []command.Place{command.Problems, command.Docs}},
		{name: "policies", takes: "1 h", places: []command.Place{command.Data, command.Docs}},
		{name: "forecast", takes: "1 min", places: []command.Place{command.Data, command.Docs}},
		{name: "simulation", takes: "5 min", quick: true},
		{name: "service", takes: "15 min", quick: true},
		{name: "loop", takes: "20 min"},
	}
}

func partNames() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// described lists the parts with the time that they take.
func described() string {
	var all []string
	for _, p := range parts() {
		all = append(all, fmt.Sprintf("%s (%s)", p.name, p.takes))
	}
	return strings.Join(all, ", ")
}

// file is where a part leaves its report.
func (o *options) file(p part) string { return filepath.Join(o.out, p.name+".json") }

// program is where a part is built.
func (o *options) program(p part) string { return filepath.Join(o.out, "bin", p.name) }

func (p part) build(ctx context.Context, o *options) error {
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=auto", "-o", o.program(p), "./"+p.name) //nolint:gosec // a program of this module
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	return build.Run()
}

// run runs a part that was built. That it misses a target is in its report.
func (p part) run(ctx context.Context, o *options) error {
	measure := exec.CommandContext(ctx, o.program(p), p.arguments(o)...) //nolint:gosec // what was built
	measure.Stdout, measure.Stderr = os.Stdout, os.Stderr
	// Interrupted together with this program, it ends what it has begun.
	measure.Cancel = func() error { return measure.Process.Signal(os.Interrupt) }
	err := measure.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	return err
}

func (p part) arguments(o *options) []string {
	arguments := []string{"-report", o.file(p)}
	if slices.Contains(p.places, command.Data) {
		arguments = append(arguments, "-data", o.Data)
	}
	if slices.Contains(p.places, command.Problems) {
		arguments = append(arguments, "-problems", o.Problems)
	}
	if o.quick {
		arguments = append(arguments, "-quick")
	} else if slices.Contains(p.places, command.Docs) && len(o.arguments) == 0 {
		arguments = append(arguments, "-docs", o.Docs)
	}
	return append(arguments, o.arguments...)
}

// reports reads what parts have left; those that have not are left out.
func (o *options) reports() (map[string]*report.Report, error) {
	all := map[string]*report.Report{}
	for _, p := range parts() {
		r, err := report.Read(o.file(p))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all[p.name] = r
	}
	return all, nil
}
