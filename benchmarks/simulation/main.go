package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	// share of the requests to simulate.
	share float64
	// repeats is how often.
	repeats int
	// single is the case to simulate in this process, -1 for none.
	single int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case err != nil:
	case o.single >= 0:
		err = probe(o.single, o.share, os.Stdout)
	default:
		err = run(ctx, o, os.Stdout)
	}
	command.Exit("simulation", err)
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("simulation", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Report)
	set.Float64Var(&o.share, "share", 1, "`share` of the requests to simulate, in (0, 1]")
	set.IntVar(&o.repeats, "repeats", 6, "how `often` every case is simulated")
	set.IntVar(&o.single, "case", -1, "simulate one `case`, given as its number, and print what it took; used by this program itself")
	quick := set.Bool("quick", false, "simulate a small share, three times")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if *quick {
		o.share, o.repeats = 0.03, 3
	}
	if !(o.share > 0 && o.share <= 1) {
		return o, fmt.Errorf("share: %v is not in (0, 1]", o.share)
	}
	if o.repeats < 1 {
		return o, fmt.Errorf("repeats: %d < 1", o.repeats)
	}
	return o, nil
}

// run measures, shows and leaves a report.
func run(ctx context.Context, o options, w io.Writer) error {
	began := time.Now()
	all, err := measureAll(ctx, o)
	if err != nil {
		return err
	}
	return o.Show(w, newReport(all), began)
}
