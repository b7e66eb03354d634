package main

import (
	"flag"
	"io"
	"os"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	effort
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(o, os.Stdout)
	}
	command.Exit("queueing", err)
}

func parse(args []string, w io.Writer) (options, error) {
	o := options{effort: effort{repeats: 9, turn: 5 * time.Millisecond}}
	set := flag.NewFlagSet("queueing", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Report)
	quick := set.Bool("quick", false, "measure shortly")
	err := set.Parse(args)
	if *quick {
		o.effort = effort{repeats: 25, turn: 200 * time.Microsecond}
	}
	return o, err
}

// run measures, shows and leaves a report.
func run(o options, w io.Writer) error {
	began := time.Now()
	results, err := study(o.effort)
	if err != nil {
		return err
	}
	owns, err := measureOwn(o.effort)
	if err != nil {
		return err
	}
	r := newReport(results, owns, o.effort)
	if _, err := io.WriteString(w, r.Text()); err != nil {
		return err
	}
	return o.Leave(r, began)
}
