package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	// out is the folder of reports and programs.
	out string
	// only are the parts to run, all if empty.
	only []string
	// resume leaves out parts that have left a report.
	resume bool
	quick  bool
	// arguments go to the only part.
	arguments []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	command.Exit("suite", err)
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("suite", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Data, command.Docs, command.Problems)
	set.StringVar(&o.out, "out", "../out/bench", "`folder` of what parts leave")
	only := set.String("only", "", "comma-separated `parts` to run; none = only write the page; there are "+described())
	set.BoolVar(&o.resume, "resume", false, "run only the parts that have left no report since all were asked for")
	set.BoolVar(&o.quick, "quick", false, "measure shortly, write no page, and fail where a ratio is far below what it was")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if name != "none" && !slices.Contains(partNames(), name) {
			return o, fmt.Errorf("no part %q", name)
		}
	}
	o.arguments = set.Args()
	if len(o.arguments) > 0 && len(o.only) != 1 {
		return o, errors.New("arguments are for a single part: name it by -only")
	}
	return o, nil
}

// run measures, and writes the page or judges ratios.
func run(ctx context.Context, o options, w io.Writer) error {
	if o.only == nil && !o.resume {
		if err := o.forget(); err != nil {
			return err
		}
	}
	wanted := slices.DeleteFunc(parts(), func(p part) bool { return !o.wants(p) })
	// All before the first is run: what that writes into the docs is no change of the commit to measure.
	for _, p := range wanted {
		if err := p.build(ctx, &o); err != nil {
			return fmt.Errorf("%s: build: %w", p.name, err)
		}
	}
	if err := o.measure(ctx, wanted, w); err != nil {
		return err
	}
	if o.quick {
		return o.judge(ctx, wanted, w)
	}
	found, err := o.reports()
	if err != nil {
		return err
	}
	if o.Docs == "" {
		return nil
	}
	return writePage(o.Docs, found)
}

// measure runs parts that were built. Those that fail are no reason to leave out the others.
func (o *options) measure(ctx context.Context, wanted []part, w io.Writer) error {
	var failed []error
	for _, p := range wanted {
		began := time.Now()
		if _, err := fmt.Fprintf(w, "== %s\n", p.name); err != nil {
			return err
		}
		if err := p.run(ctx, o); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		if ctx.Err() != nil {
			return errors.Join(append(failed, ctx.Err())...)
		}
		if _, err := fmt.Fprintf(w, "== %s: %s\n", p.name, time.Since(began).Round(time.Second)); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// judge shows the ratios of all parts that were asked for, and returns command.ErrMissed if one is too low or
// was not measured. Parts of which that is so are measured once more, those that were just measured:
// what else the machine does may have lengthened turns of one side, and a regression is still there.
func (o *options) judge(ctx context.Context, measured []part, w io.Writer) error {
	low, err := o.guard(w)
	if err != nil {
		return err
	}
	again := slices.DeleteFunc(slices.Clone(measured), func(p part) bool { return !slices.Contains(low, p.name) })
	if len(again) > 0 {
		if err := o.measure(ctx, again, w); err != nil {
			return err
		}
		if low, err = o.guard(w); err != nil {
			return err
		}
	}
	if len(low) > 0 {
		return command.ErrMissed
	}
	return nil
}

// asks tells whether a part was asked for.
func (o *options) asks(p part) bool {
	return (o.only == nil || slices.Contains(o.only, p.name)) && (!o.quick || p.quick)
}

// wants tells whether a part is to be run.
func (o *options) wants(p part) bool {
	if !o.asks(p) {
		return false
	}
	if o.resume {
		_, err := os.Stat(o.file(p)) //nolint:gosec // the folder that was asked for
		return err != nil
	}
	return true
}

// forget removes the reports of all parts.
func (o *options) forget() error {
	for _, p := range parts() {
		if err := os.Remove(o.file(p)); err != nil && !errors.Is(err, os.ErrNotExist) { //nolint:gosec // the folder that was asked for
			return err
		}
	}
	return nil
}
