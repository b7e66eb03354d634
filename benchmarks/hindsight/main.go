// Hindsight computes the bound of package simulation/hindsight on recorded arrivals, beside
// the figures that the data come with.
//
// The arrivals are third-party data from a folder outside the repository. Without the
// folder nothing is computed. The program exits with status 1 when a figure differs.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/hindsight"
	"github.com/poolwright/poolwright/simulation/trace"
)

func main() {
	data, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = run(data, os.Stdout)
	}
	command.Exit("hindsight", err)
}

func parse(args []string, w io.Writer) (string, error) {
	var p command.Places
	set := flag.NewFlagSet("hindsight", flag.ContinueOnError)
	set.SetOutput(w)
	p.Flags(set, command.Data)
	err := set.Parse(args)
	return p.Data, err
}

// capacity is what a replica sustains in the figures of the data, in requests/s.
const capacity = 44.2

// recorded is a trace with the figures that it comes with, in device-seconds.
type recorded struct {
	name string
	// windows have a constant rate.
	windows int
	window  time.Duration
	// needed by replicas that serve, and by as many as the peak needs all the time.
	needed, static float64
}

var traces = []recorded{
	{name: "diurnalA", windows: 30, window: time.Minute, needed: 3720, static: 5400},
	{name: "stepA", windows: 5, window: 10 * time.Minute, needed: 5400, static: 9000},
}

// startups are those for which the bound is shown; the figures of the data have none.
var startups = []time.Duration{0, 30 * time.Second, time.Minute, 4 * time.Minute}

// run computes and shows.
func run(data string, w io.Writer) error {
	t := table.Table{Title: "Device-seconds in hindsight", Columns: table.Columns("trace", "start-up", "serving", "with start-ups", "static peak")}
	differs := false
	for _, r := range traces {
		file := filepath.Join(data, "autoscale", r.name+".csv.gz")
		if _, err := os.Stat(file); err != nil { //nolint:gosec // the folder that was asked for
			if _, err := fmt.Fprintf(w, "left out, there is no %s\n", file); err != nil {
				return err
			}
			continue
		}
		rates, err := ratesOf(file, r)
		if err != nil {
			return err
		}
		for _, startup := range startups {
			s, err := hindsight.Find(input(r, rates, startup), nil)
			if err != nil {
				return err
			}
			static := s.StaticPricePerHour * r.window.Hours() * float64(r.windows)
			t.Add(r.name, startup.String(), number(s.ServingDeviceSeconds), number(s.DeviceSeconds), number(static))
			differs = differs || !equal(s.ServingDeviceSeconds, r.needed) || !equal(static, r.static)
		}
	}
	if _, err := io.WriteString(w, t.Text()); err != nil {
		return err
	}
	if differs {
		return command.ErrMissed
	}
	return nil
}

func number(x float64) string { return fmt.Sprintf("%.0f", x) }

func equal(a, b float64) bool { return math.Abs(a-b) < 1e-6*b }

func ratesOf(file string, r recorded) ([]float64, error) {
	source, err := trace.Read(trace.File{Name: file, Open: func() (io.ReadCloser, error) {
		return os.Open(file) //nolint:gosec // a file of the folder that was asked for
	}})
	if err != nil {
		return nil, err
	}
	return trace.Rates(trace.Workload{Name: r.name, Source: source}, 1, r.window.Seconds(), r.windows)
}

// input is a pool of 16 devices at a price of 1 per second, of which one serves at the
// start.
func input(r recorded, rates []float64, startup time.Duration) hindsight.Input {
	in := hindsight.Input{
		Fleet: planner.Fleet{
			Pools: []planner.Pool{{
				Name: "H100", Accelerator: "H100", PricePerHour: 3600, Capacity: optimizer.Bound{Limited: true, Value: 16},
			}},
			Workloads: []planner.Workload{{Name: r.name, Priority: 1, Variants: []planner.Variant{{
				Name: "h100", Pools: []int{0}, DevicesPerReplica: 1, Capacity: capacity, Startup: startup, CurrentReplicas: 1,
			}}}},
		},
	}
	for _, rate := range rates {
		in.Windows = append(in.Windows, hindsight.Window{Length: r.window, Rates: []queueing.Rate{queueing.Rate(rate)}})
	}
	return in
}
