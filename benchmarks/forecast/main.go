package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(o, os.Stdout)
	}
	command.Exit("forecast", err)
}

func parse(args []string, w io.Writer) (command.Places, error) {
	var o command.Places
	set := flag.NewFlagSet("forecast", flag.ContinueOnError)
	set.SetOutput(w)
	o.Flags(set, command.Data, command.Docs, command.Report)
	return o, set.Parse(args)
}

// run measures, shows and writes.
func run(o command.Places, w io.Writer) error {
	began := time.Now()
	file := filepath.Join(o.Data, "traces", "servegen_rates_14d_10min.csv.gz")
	if _, err := os.Stat(file); err != nil {
		_, err := fmt.Fprintf(w, "left out, there is no %s\n", file)
		return err
	}
	all, err := readSeries(file)
	if err != nil {
		return err
	}
	p := newPage(measureAll(all))
	if _, err := io.WriteString(w, p.text()); err != nil {
		return err
	}
	if o.Docs != "" {
		if err := os.WriteFile(filepath.Join(o.Docs, pageFile), []byte(p.markdown()), 0o600); err != nil {
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
