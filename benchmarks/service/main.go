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
	// sizes are numbers of workloads, clients numbers of clients.
	sizes, clients []int
	// repeats is how often every server gets its turn, turn about how long that takes.
	repeats int
	turn    time.Duration
	// answers is the folder of what to answer, as a server without a service behind it.
	answers string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case err != nil:
	case o.answers != "":
		err = echo(ctx, o.answers, os.Stdout)
	default:
		err = run(ctx, o, os.Stdout)
	}
	command.Exit("service", err)
}

func parse(args []string, w io.Writer) (options, error) {
	o := options{sizes: []int{1, 20, 200, 1000}, clients: []int{1, 16}}
	set := flag.NewFlagSet("service", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Report)
	command.Sizes(set, &o.sizes, 1, "sizes", "comma-separated `numbers` of workloads")
	command.Sizes(set, &o.clients, 1, "clients", "comma-separated `numbers` of clients")
	set.IntVar(&o.repeats, "repeats", 7, "how `often` every server gets its turn")
	set.DurationVar(&o.turn, "turn", time.Second, "about how long a turn of one client takes")
	set.StringVar(&o.answers, "echo", "", "answer with what is in this `folder`; used by this program itself")
	quick := set.Bool("quick", false, "measure a single size, shortly")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if *quick {
		o.sizes, o.clients, o.repeats, o.turn = []int{judged}, []int{1}, 5, 300*time.Millisecond
	}
	if o.repeats < 1 {
		return o, fmt.Errorf("repeats: %d < 1", o.repeats)
	}
	return o, nil
}

// run measures, shows and leaves a report.
func run(ctx context.Context, o options, w io.Writer) error {
	began := time.Now()
	cells, err := measureAll(ctx, o, os.Stderr)
	if err != nil {
		return err
	}
	return o.Show(w, newReport(cells, o), began)
}
