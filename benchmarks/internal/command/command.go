// Package command is what the programs that measure have in common: where they read and
// write, and how they end.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
)

// Places are where a program reads and writes.
type Places struct {
	// Data is the folder of third-party data; it may be absent.
	Data string
	// Docs is the folder of documentation to write a page into, none if empty.
	Docs string
	// Problems is the folder of given fleets; it may be absent.
	Problems string
	// Report is the file to leave a report in, none if empty.
	Report string

	set *flag.FlagSet
}

// Place is one of [Places].
type Place int

// The places.
const (
	Data Place = iota
	Docs
	Problems
	Report
)

// Flags adds the flags of some places.
func (p *Places) Flags(set *flag.FlagSet, places ...Place) {
	p.set = set
	for _, place := range places {
		switch place {
		case Data:
			set.StringVar(&p.Data, "data", "../../shared/data", "`folder` of third-party data, left out if absent")
		case Docs:
			set.StringVar(&p.Docs, "docs", "", "write the page into this `folder`")
		case Problems:
			set.StringVar(&p.Problems, "problems", "../../shared/problems", "`folder` of given fleets, left out if absent")
		case Report:
			set.StringVar(&p.Report, "report", "", "leave a report for the page of all benchmarks in this `file`")
		}
	}
}

// Sizes adds a flag of comma-separated numbers, each at least a least one.
func Sizes(set *flag.FlagSet, to *[]int, least int, name, usage string) {
	usage = fmt.Sprintf("%s; %s by default", usage, strings.Trim(strings.ReplaceAll(fmt.Sprint(*to), " ", ","), "[]"))
	set.Func(name, usage, func(text string) error {
		*to = nil
		for field := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < least {
				return fmt.Errorf("%q is no number of at least %d", field, least)
			}
			*to = append(*to, n)
		}
		return nil
	})
}

// Leave writes the report of a program that began at a time, if one is asked for.
func (p *Places) Leave(r *report.Report, began time.Time) error {
	if p.Report == "" {
		return nil
	}
	r.Run = report.Run{
		Date: began.UTC(), Took: time.Since(began), Machine: machine.Describe(), Revision: machine.Revision(), Arguments: p.arguments(),
	}
	return report.Write(p.Report, r)
}

// Show writes the report of a program that began at a time as text, and as [Places.Leave]
// does. It returns [ErrMissed] where the report misses a target.
func (p *Places) Show(w io.Writer, r *report.Report, began time.Time) error {
	if _, err := io.WriteString(w, r.Text()); err != nil {
		return err
	}
	if err := p.Leave(r, began); err != nil {
		return err
	}
	if r.Missed() {
		return ErrMissed
	}
	return nil
}

// arguments are those of the command line that are no places.
func (p *Places) arguments() []string {
	var all []string
	p.set.Visit(func(f *flag.Flag) {
		if !slices.Contains([]string{"data", "docs", "problems", "report"}, f.Name) {
			all = append(all, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})
	return all
}

// ErrMissed says that a target was missed, and that the targets have been shown.
var ErrMissed = errors.New("a target is missed")

// Exit ends a program: with 0 without an error and after its help, with 1 where a target
// was missed, and with 2, saying why, after anything else.
func Exit(program string, err error) {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case errors.Is(err, ErrMissed):
		os.Exit(1)
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(2)
	}
}
