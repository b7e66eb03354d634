package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	binary    string
	rate      float64
	factor    float64
	clients   int
	workloads int
	interval  time.Duration
	warm      time.Duration
	steady    time.Duration
	overload  time.Duration
	recovery  time.Duration
	quick     bool
	awake     bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, &o, os.Stdout)
	}
	command.Exit("soak", err)
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("soak", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Docs)
	set.StringVar(&o.binary, "binary", "../bin/poolwright", "the `program`")
	set.Float64Var(&o.rate, "rate", 200, "`calls` per second")
	set.Float64Var(&o.factor, "factor", 10, "how many `times` as many calls are too many")
	set.IntVar(&o.clients, "clients", 64, "`connections` that calls come from")
	set.IntVar(&o.workloads, "workloads", 20, "`workloads` in each call")
	set.DurationVar(&o.interval, "interval", time.Second, "`time` between cycles of the loop; so short that the history of decisions is full before memory is compared")
	set.DurationVar(&o.steady, "duration", 30*time.Minute, "`time` at the rate; at its multiple it is a sixth of it")
	set.BoolVar(&o.quick, "quick", false, "two minutes in place of forty, an eighth of the calls, a fifth of the cycles, too many calls at once whatever the machine in place of the multiple, and no judgement on times")
	set.BoolVar(&o.awake, "awake", true, "let no processor rest, so that the host of this machine does not give it to others")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	o.warm, o.overload, o.recovery = 30*time.Second, o.steady/6, max(o.steady/10, 20*time.Second)
	if o.quick {
		o.rate /= 8 // which any machine should bear
		o.interval *= 5
		o.warm, o.steady, o.overload, o.recovery = 10*time.Second, time.Minute, 30*time.Second, 20*time.Second
	}
	if !(o.rate > 0 && o.factor >= 1) || o.clients < 1 || o.workloads < 1 || o.steady < 10*time.Second || o.interval <= 0 {
		return o, errors.New("rates, numbers and times must be positive, the factor at least 1 and the duration at least 10 s")
	}
	return o, nil
}

// run measures, prints what came of it, and writes it into a page if one is asked for.
func run(ctx context.Context, o *options, out io.Writer) error {
	began := time.Now()
	measured, err := soak(ctx, o, out)
	if err != nil {
		return err
	}
	page := measured.page(o, began)
	if _, err := io.WriteString(out, page); err != nil {
		return err
	}
	if o.Docs != "" {
		if err := os.WriteFile(filepath.Join(o.Docs, "soak.md"), []byte(page), 0o644); err != nil { //nolint:gosec // a page for everybody
			return err
		}
	}
	if missed(measured.targets(o)) {
		return command.ErrMissed
	}
	return nil
}

// soaked is what was measured, phase by phase.
type soaked struct {
	version                    string
	steady, overload, recovery phase
}

// phase is a time in which calls came at one rate.
type phase struct {
	rate, seconds float64
	calls         tally
	windows       []window
	// clients and server are processors that they used, stolen those that the host gave to others
	// meanwhile.
	clients, server, stolen float64
	samples                 []sample
	// late is the longest time between two cycles, in intervals.
	late float64
}

func soak(ctx context.Context, o *options, out io.Writer) (*soaked, error) {
	if o.awake {
		stop, err := keepAwake(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	p, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	l, err := newLoad(o, p.grpc)
	if err != nil {
		return nil, err
	}
	defer l.close() //nolint:errcheck // nothing is sent any more
	s := &soaked{version: p.version}
	for _, step := range []struct {
		name   string
		rate   float64
		length time.Duration
		into   *phase
	}{
		{"warming up", o.rate, o.warm, &phase{}},
		{"at the rate", o.rate, o.steady, &s.steady},
		{overloading, o.rate * o.factor, o.overload, &s.overload},
		{"getting over it", o.rate, settle, &phase{}},
		{"at the rate again", o.rate, o.recovery, &s.recovery},
	} {
		if _, err := fmt.Fprintf(out, "%s, for %s\n", step.name, step.length); err != nil {
			return nil, err
		}
		call := func() []window { return l.call(ctx, step.rate, step.length) }
		if o.quick && step.name == overloading {
			step.rate = math.NaN()
			call = func() []window { return l.flood(ctx, step.length) }
		}
		if *step.into, err = l.phase(ctx, p, call, step.rate, o.interval); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return s, p.end()
}

// overloading is the phase in which there are too many calls.
const overloading = "at the multiple"

// settle is the time in which what waits after an overload is to be done.
const settle = 3 * time.Second
