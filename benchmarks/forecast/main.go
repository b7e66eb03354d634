package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
)

// options are what the command line asks for.
type options struct {
	// data is the folder of third-party data; it may be absent.
	data string
	// docs is the folder of documentation to write, none if empty.
	docs string
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(o, os.Stdout)
	}
	command.Exit("forecast", err)
}

func parse(args []string, w io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("forecast", flag.ContinueOnError)
	set.SetOutput(w)
	set.StringVar(&o.data, "data", "../../shared/data", "`folder` of third-party data")
	set.StringVar(&o.docs, "docs", "", "write the page into this `folder`")
	return o, set.Parse(args)
}

// run measures, shows and writes.
func run(o options, w io.Writer) error {
	file := filepath.Join(o.data, "traces", "servegen_rates_14d_10min.csv.gz")
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
	if o.docs != "" {
		if err := os.WriteFile(filepath.Join(o.docs, "forecast-accuracy.md"), []byte(p.markdown()), 0o600); err != nil {
			return err
		}
	}
	if p.missed() {
		return command.ErrMissed
	}
	return nil
}
