package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	// only are the sections wanted, all if empty.
	only []string
	// instances is the number of problems of each kind and size, largest the largest
	// size in workloads.
	instances uint64
	largest   int
	// limit is the most processor time of one solve.
	limit time.Duration
	// peerLimit is that of one run of another solver.
	peerLimit time.Duration
	// strict makes a missed target a failure.
	strict bool
	// quick measures only what gives ratios.
	quick bool
	// cores is how many processors Go uses by itself, which limits of the container and GOMAXPROCS lower.
	cores int
	pace  *pace
	// probe is a single problem to solve in a process of its own.
	probe string
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	// One core: nothing runs beside the solver.
	o.cores = runtime.GOMAXPROCS(1)
	switch {
	case err != nil:
	case o.probe != "":
		err = probe(o.probe, os.Stdout)
	default:
		err = run(context.Background(), o, os.Stdout)
	}
	command.Exit("solver", err)
}

func parse(args []string, w io.Writer) (options, error) {
	o := options{pace: &pace{}}
	set := flag.NewFlagSet("solver", flag.ContinueOnError)
	set.SetOutput(w)
	only := set.String("only", "", "comma-separated `sections` to run: "+strings.Join(sectionNames(), ", "))
	set.Uint64Var(&o.instances, "instances", 20, "problems of each kind and size")
	set.IntVar(&o.largest, "largest", 10_000, "largest size in workloads")
	set.DurationVar(&o.limit, "limit", 3*time.Second, "most processor time of one solve")
	set.DurationVar(&o.peerLimit, "peer-limit", 30*time.Second, "most time of one run of another solver")
	o.Flags(set, command.Docs, command.Problems, command.Report)
	set.BoolVar(&o.quick, "quick", false, "measure only what gives the ratios that a change must not make worse")
	set.BoolVar(&o.strict, "strict", false, "fail if a target is missed")
	set.StringVar(&o.probe, "probe", "", "solve one `problem`, given as JSON, and print what it took; used by this program itself")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(sectionNames(), name) {
			return o, fmt.Errorf("no section %q", name)
		}
	}
	if o.Docs != "" && (len(o.only) > 0 || o.instances != 20 || o.largest != 10_000) {
		return o, errors.New("-docs is of all sections and sizes as they are by default")
	}
	return o, nil
}

// run measures, shows and writes. It returns command.ErrMissed if a target was missed and
// that counts.
func run(ctx context.Context, o options, w io.Writer) error {
	began := time.Now()
	var page page
	for _, s := range sections() {
		if o.quick != (s.name == quickSection) || len(o.only) > 0 && !slices.Contains(o.only, s.name) {
			continue
		}
		made, err := s.make(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if _, err := io.WriteString(w, made.text()); err != nil {
			return err
		}
		page.sections = append(page.sections, made)
	}
	if _, err := io.WriteString(w, page.verdict()+o.pace.line()); err != nil {
		return err
	}
	if o.Docs != "" {
		if err := page.write(ctx, o); err != nil {
			return err
		}
	}
	if err := o.Leave(page.report(ctx, o.pace.line()), began); err != nil {
		return err
	}
	if o.strict && page.missed() > 0 {
		return command.ErrMissed
	}
	return nil
}

// maker makes one section.
type maker struct {
	name string
	make func(context.Context, options) (*section, error)
}

// quickSection is the one that a quick run makes, and no other does.
const quickSection = "ratios"

// sections lists them in the order of the page.
func sections() []maker {
	return []maker{
		{"kinds", kindsSection},
		{"warm", warmSection},
		{"small", smallSection},
		{"footprint", footprintSection},
		{"greedy", greedySection},
		{"peers", peersSection},
		{"mixes", mixesSection},
		{"given", givenSection},
		{quickSection, ratiosSection},
	}
}

func sectionNames() []string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}
