package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	// only is a part of the names of the scenarios to be run, all if empty.
	only string
	// grid is the scenarios that other autoscalers are compared on, by parts of their names.
	grid []string
	// seeds is the most of each scenario's seeds that are run.
	seeds int
}

// full tells whether nothing is left out.
func (o *options) full() bool {
	return o.only == "" && slices.Equal(o.grid, []string{""}) && o.seeds == allSeeds
}

// allSeeds is the number of seeds of every scenario.
const allSeeds = 3

// compares tells whether other autoscalers are compared on a scenario.
func (o *options) compares(name string) bool {
	return slices.ContainsFunc(o.grid, func(part string) bool { return strings.Contains(name, part) })
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout, os.Stderr)
	}
	command.Exit("policies", err)
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("policies", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Data, command.Docs, command.Report)
	set.StringVar(&o.only, "only", "", "run the scenarios whose names contain this `text`")
	grid := set.String("grid", "", "compare other autoscalers, in all settings of their grids, on scenarios whose names contain one of these comma-separated `texts`; none = on none")
	set.IntVar(&o.seeds, "seeds", allSeeds, "run no more than so `many` seeds of each day")
	err := set.Parse(args)
	o.grid = strings.Split(*grid, ",")
	return o, err
}

// run compares, shows and writes.
func run(ctx context.Context, o options, out, log io.Writer) error {
	if o.Docs != "" && o.only != "" {
		return errors.New("the page is of all scenarios: leave -only out")
	}
	began := time.Now()
	p := page{date: began, options: o}
	missing := false
	for _, s := range scenarios {
		if !strings.Contains(s.name, o.only) {
			continue
		}
		if s.recorded {
			if _, err := os.Stat(filepath.Join(o.Data, s.file)); err != nil {
				missing = true
				fmt.Fprintf(out, "left out, there is no %s\n", filepath.Join(o.Data, s.file)) //nolint:errcheck // what follows will fail
				continue
			}
		}
		fmt.Fprintf(log, "%s %s\n", time.Since(began).Round(time.Second), s.name) //nolint:errcheck // only progress
		if err := s.run(ctx, o, &p, out); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	p.took = time.Since(began)
	if _, err := io.WriteString(out, p.text()); err != nil {
		return err
	}
	if o.Docs != "" && !missing {
		if err := p.write(o.Docs); err != nil {
			return err
		}
	}
	if err := o.Leave(p.report(), began); err != nil {
		return err
	}
	if p.missed() {
		return command.ErrMissed
	}
	return nil
}
