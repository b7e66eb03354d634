package main

import (
	"context"
	"embed"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/poolwright/poolwright/examples"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/sweep"
	"github.com/poolwright/poolwright/sources"
)

//go:embed scenarios/*.yaml
var templates embed.FS

// scenario is one fleet and its traffic.
type scenario struct {
	name string
	// recorded traffic is in a file of the folder of data.
	recorded bool
	file     string
	// startups are those that it is run with; none = as it says, and it is a whole day or an
	// hour that all autoscalers are compared on.
	startups []time.Duration
	// step is when the rate jumps; 0 = it does not.
	step time.Duration
}

var scenarios = []scenario{
	{name: "day"},
	{name: "azure2023_conv", recorded: true, file: "traces/azure2023_conv.csv.gz"},
	{name: "servegen_msmall_24h", recorded: true, file: "traces/servegen_msmall_24h.csv.gz"},
	{name: "servegen_mmid_24h", recorded: true, file: "traces/servegen_mmid_24h.csv.gz"},
	{
		name: "diurnalA", recorded: true, file: "autoscale/diurnalA.csv.gz",
		startups: []time.Duration{30 * time.Second, time.Minute, 4 * time.Minute},
	},
	{
		name: "stepA", recorded: true, file: "autoscale/stepA.csv.gz", step: 10 * time.Minute,
		startups: []time.Duration{30 * time.Second, time.Minute, 4 * time.Minute},
	},
}

// read returns the simulation.
func (s *scenario) read(open message.Opener) (*poolwrightv1.Simulation, error) {
	data := examples.Day
	if s.recorded {
		var err error
		if data, err = templates.ReadFile("scenarios/" + s.name + ".yaml"); err != nil {
			return nil, err
		}
	}
	return sources.ReadSimulation(data, open)
}

// run adds what becomes of the scenario to a page, and shows what takes long at once.
func (s *scenario) run(ctx context.Context, o options, p *page, out io.Writer) error {
	open := message.Opener(func(name string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(o.Data, name)) //nolint:gosec // a file of the folder that was asked for
	})
	m, err := s.read(open)
	if err != nil {
		return err
	}
	if len(s.startups) == 0 {
		m.Seeds = m.GetSeeds()[:min(len(m.GetSeeds()), max(1, o.seeds))]
		d, err := compare(ctx, m, open, o.compares(s.name))
		if err != nil {
			return err
		}
		d.name = s.name
		if d.bands, err = bands(ctx, m, open); err != nil {
			return err
		}
		p.days = append(p.days, d)
		t := d.table()
		_, err = io.WriteString(out, t.Text())
		return err
	}
	for _, startup := range s.startups {
		varied, err := withStartup(m, startup)
		if err != nil {
			return err
		}
		t, err := s.follow(ctx, varied, open, startup)
		if err != nil {
			return err
		}
		p.transients = append(p.transients, t)
	}
	return nil
}

// withStartup returns a simulation whose one variant takes a time to start.
func withStartup(m *poolwrightv1.Simulation, startup time.Duration) (*poolwrightv1.Simulation, error) {
	points, err := sweep.New(m, []sweep.Dimension{{Path: "workloads[0].variants[0].startup", Values: []string{startup.String()}}})
	if err != nil {
		return nil, err
	}
	return points.At(0)
}
