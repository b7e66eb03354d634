package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

func main() {
	share, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(share, os.Stdout)
	}
	command.Exit("simulation", err)
}

// parse returns the share of requests to simulate.
func parse(args []string, w io.Writer) (share float64, err error) {
	set := flag.NewFlagSet("simulation", flag.ContinueOnError)
	set.SetOutput(w)
	set.Float64Var(&share, "share", 1, "`share` of the requests to simulate, in (0, 1]")
	if err := set.Parse(args); err != nil {
		return 0, err
	}
	if !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("share: %v is not in (0, 1]", share)
	}
	return share, nil
}

// run measures and shows.
func run(share float64, w io.Writer) error {
	t := table.Table{
		Title: "Simulated requests of 512/256 tokens at ρ 0.7, chunk 2048, on " + machine.Describe(),
		Columns: table.Columns("what", "requests", "processor s", "elapsed s", "requests/s", "target", "× target",
			"× replica alone", "memory, MB", "target", "met"),
	}
	alone, missed := 0.0, false
	for _, c := range cases() {
		m, err := measure(&c, share)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if alone == 0 {
			alone = m.rate()
		}
		t.Add(row(&c, &m, alone)...)
		missed = missed || !c.met(&m)
	}
	if _, err := io.WriteString(w, t.Text()); err != nil {
		return err
	}
	if missed {
		return command.ErrMissed
	}
	return nil
}

func row(c *benchmark, m *measurement, alone float64) []string {
	met, times := "yes", "–"
	if !c.met(m) {
		met = "**no**"
	}
	if c.rate > 0 {
		times = fmt.Sprintf("%.1f", m.rate()/c.rate)
	}
	return []string{
		c.name, fmt.Sprint(m.requests), fmt.Sprintf("%.2f", m.processor.Seconds()), fmt.Sprintf("%.2f", m.elapsed.Seconds()),
		fmt.Sprintf("%.0f", m.rate()), limit("≥", c.rate), times, fmt.Sprintf("%.2f", m.rate()/alone),
		fmt.Sprintf("%.0f", m.megabytes), limit("<", c.megabytes), met,
	}
}

// limit writes a target, if there is one.
func limit(sign string, value float64) string {
	if value == 0 {
		return "–"
	}
	return fmt.Sprintf("%s %.0f", sign, value)
}
