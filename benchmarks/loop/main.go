package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/test/scale"
)

// options are what the command line asks for.
type options struct {
	command.Places
	// sizes are numbers of workloads.
	sizes []int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = prepare(ctx)
	}
	if err == nil {
		err = run(ctx, o, measure, os.Stdout)
	}
	command.Exit("loop", err)
}

func parse(args []string, w io.Writer) (options, error) {
	o := options{sizes: []int{25, 100, 400, 1600}}
	set := flag.NewFlagSet("loop", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Report)
	command.Sizes(set, &o.sizes, 10, "sizes", "comma-separated `numbers` of workloads, ascending")
	return o, set.Parse(args)
}

// run measures every size, shows and leaves a report.
func run(ctx context.Context, o options, measure func(context.Context, int) (*scale.Figures, error), w io.Writer) error {
	began := time.Now()
	var all []*scale.Figures
	for _, workloads := range o.sizes {
		f, err := measure(ctx, workloads)
		if err != nil {
			return fmt.Errorf("%d workloads: %w", workloads, err)
		}
		all = append(all, f)
	}
	return o.Show(w, newReport(all), began)
}

// prepare builds what the test runs.
func prepare(ctx context.Context) error {
	c := exec.CommandContext(ctx, "make", "-s", "-C", "..", "--no-print-directory", "build", "controlplane")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}

// measure runs the test with a fleet. It fails as well where it measures what misses a target, which
// the report says.
func measure(ctx context.Context, workloads int) (*scale.Figures, error) {
	folder, err := os.MkdirTemp("", "poolwright-loop")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // in the folder for such things
	file := filepath.Join(folder, "figures.json")
	test := exec.CommandContext(ctx, "go", "test", "-tags", "e2e", "-count", "1", "-v", "-timeout", "40m", "./test/scale", //nolint:gosec // this repository
		"-workloads", strconv.Itoa(workloads), "-figures", file)
	test.Dir = ".."
	test.Stdout, test.Stderr = os.Stderr, os.Stderr
	failed := test.Run()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	var f scale.Figures
	err = json.Unmarshal(text, &f)
	return &f, err
}
