package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	command.Places
	// only are the studies wanted, all if empty.
	only []string
	// details lists every point.
	details bool
	// otherShapes fits the profiles of the open-loop study to rows of other shapes too.
	otherShapes bool
	// half is the half of the simulated grid to judge; quick judges less of it.
	half  string
	quick bool
}

// The halves of the simulated grid.
const (
	tuningHalf = "tuning"
	reportHalf = "report"
)

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(o, os.Stdout)
	}
	command.Exit("accuracy", err)
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Data, command.Docs, command.Report)
	only := set.String("only", "", "comma-separated `studies` to run: "+strings.Join(studyNames(), ", "))
	set.BoolVar(&o.details, "v", false, "list every point")
	set.BoolVar(&o.otherShapes, "other-shapes", false, "open-loop: fit to rows of other shapes too, not only to those of low load")
	set.StringVar(&o.half, "half", reportHalf, "oracle: the `half` of the grid to judge, tuning or report")
	set.BoolVar(&o.quick, "quick", false, "oracle: a smaller grid")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if o.Docs != "" && (*only != "" || o.quick || o.half != reportHalf || o.otherShapes) {
		return o, errors.New("-docs is of all studies as they are by default")
	}
	if o.half != tuningHalf && o.half != reportHalf {
		return o, fmt.Errorf("no half %q", o.half)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(studyNames(), name) {
			return o, fmt.Errorf("no study %q", name)
		}
	}
	return o, nil
}

// run makes the studies, shows them, and returns command.ErrMissed if a target was missed. It
// writes the document only if no study was left out.
func run(o options, w io.Writer) error {
	began := time.Now()
	var studies []*study
	complete := true
	for _, c := range comparisons() {
		if len(o.only) > 0 && !slices.Contains(o.only, c.name) {
			continue
		}
		if _, err := os.Stat(o.Data); c.thirdParty && err != nil {
			complete = false
			if err := show(w, "%s: left out, there is no %s\n", c.name, o.Data); err != nil {
				return err
			}
			continue
		}
		s, err := c.make(o)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := show(w, "%s", s.text(o.details)); err != nil {
			return err
		}
		studies = append(studies, s)
	}
	if o.Docs != "" && complete {
		if err := writeDocument(o.Docs, studies); err != nil {
			return err
		}
	}
	if err := o.Leave(newReport(studies), began); err != nil {
		return err
	}
	return verdict(w, studies)
}

// verdict lists the targets that were missed.
func verdict(w io.Writer, studies []*study) error {
	var missed []string
	for _, s := range studies {
		missed = append(missed, s.missed()...)
	}
	if len(missed) == 0 {
		return nil
	}
	if err := show(w, "\nMissed:\n- %s\n", strings.Join(missed, "\n- ")); err != nil {
		return err
	}
	return command.ErrMissed
}

func show(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format, args...)
	return err
}

// comparison makes one study.
type comparison struct {
	name string
	// thirdParty studies need the data folder.
	thirdParty bool
	make       func(options) (*study, error)
}

// comparisons lists the studies in the order of the document.
func comparisons() []comparison {
	return []comparison{
		{"open-loop", true, openLoopStudy},
		{"simulated", true, simulatedStudy},
		{"closed-loop", true, closedLoopStudy},
		{"grids", true, gridStudy},
		{"trace", true, traceStudy},
		{"drift", false, driftStudy},
		{"oracle", false, oracleStudy},
	}
}

func studyNames() []string {
	var names []string
	for _, c := range comparisons() {
		names = append(names, c.name)
	}
	return names
}
