package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer/lp"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/report"
	"github.com/poolwright/poolwright/simulation/sweep"
	"github.com/poolwright/poolwright/sources"
)

// ErrMissed reports a simulation, already printed, in no run of which every SLO held.
var ErrMissed = errors.New("in no run were as many requests within every SLO as must be")

// SimulateRequest asks what becomes of an imagined fleet.
type SimulateRequest struct {
	// File holds the simulation; "-" is standard input.
	File string
	// Seeds are those in the place of the simulation's; none = those.
	Seeds []uint
	// Autoscalers to be compared; the zero value is those of the simulation.
	Autoscalers AutoscalerChoice
	// Ledger is the file that the decisions of the one run are kept in; empty = none.
	Ledger string

	// Sweep is what is varied, such as pools.H100=8..64:8, and Shard the part of the sweep
	// to be simulated; empty = all.
	Sweep []string
	Shard string

	Printed

	// Engine as in Request.
	Engine string
}

// Printed is where and how results are written.
type Printed struct {
	// Output is the form: table, json, csv or html.
	Output Choice
	// Series is for csv: windows in the place of totals.
	Series bool
	// To is the file to be written; empty = standard output.
	To string
	// Report is a file for an HTML page; empty = none.
	Report string
}

// NewSimulateRequest returns a request without a file.
func NewSimulateRequest() *SimulateRequest {
	return &SimulateRequest{Printed: Printed{Output: Choice{Names: []string{"TABLE", "JSON", "CSV", "HTML"}, value: "TABLE"}}}
}

// Simulate runs a simulation, or the points of a sweep, and prints what becomes of the fleet.
// It tells on log how far it is. The error is an [*InputError] for bad input, and
// [ErrMissed] when a result was printed without a run in which every SLO held.
func Simulate(ctx context.Context, r *SimulateRequest, in io.Reader, out, log io.Writer) error {
	if err := r.check(); err != nil {
		return &InputError{err}
	}
	engine, err := lp.ByName(r.Engine)
	if err != nil {
		return &InputError{err}
	}
	m, err := r.simulation(in)
	if err != nil {
		return &InputError{err}
	}
	if err := r.writable(); err != nil {
		return err
	}
	s := simulator{engine: engine, name: r.Engine, ledger: r.Ledger, open: beside(r.File)}
	if len(r.Sweep) > 0 {
		return r.sweep(ctx, m, &s, out, log)
	}
	shown := newProgress(log)
	result, err := s.Simulate(ctx, m, func(p *poolwrightv1.SimulationProgress) { shown.at(p.GetDone(), runsText(p)) })
	shown.end()
	if err != nil {
		return simulationError(r.File, err)
	}
	if err := r.write(out, result); err != nil {
		return err
	}
	if !anyMet(result) {
		return ErrMissed
	}
	return nil
}

// check reports options that don't go together.
func (r *SimulateRequest) check() error {
	var mistakes []error
	refuse := func(wrong bool, text string) {
		if wrong {
			mistakes = append(mistakes, errors.New(text))
		}
	}
	swept := len(r.Sweep) > 0
	refuse(r.Shard != "" && !swept, "--shard: is a part of a sweep: give --sweep")
	refuse(r.Ledger != "" && swept, "--ledger: is of one run, not of a sweep")
	refuse(r.Report != "" && swept, "--report: is of one simulation, not of a sweep")
	refuse(r.Output.String() == "html" && swept, "--output: html is of one simulation, not of a sweep")
	refuse(r.Series && swept, "--series: a sweep keeps none")
	refuse(r.Series && r.Output.String() != "csv", "--series: is for csv only: json and html have them anyway")
	return errors.Join(mistakes...)
}

// simulation reads a simulation, and puts into it what the request has in its place.
func (r *SimulateRequest) simulation(in io.Reader) (*poolwrightv1.Simulation, error) {
	data, err := readFile(r.File, in)
	if err != nil {
		return nil, err
	}
	m, err := sources.ReadSimulation(data, beside(r.File))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	if len(r.Seeds) > 0 {
		m.Seeds = nil
		for _, seed := range r.Seeds {
			m.Seeds = append(m.Seeds, uint64(seed))
		}
	}
	return m, r.Autoscalers.apply(m)
}

// sweep runs the points of a sweep that are asked for. A shard does not say whether any SLO
// held: that is for who merges them.
func (r *SimulateRequest) sweep(ctx context.Context, m *poolwrightv1.Simulation, s *simulator, out, log io.Writer) error {
	points, shard, err := r.points(m)
	if err != nil {
		return &InputError{err}
	}
	shown := newProgress(log)
	result, err := points.Run(ctx, shard, s.point, func(done, of int) {
		shown.at(float64(done)/float64(of), fmt.Sprintf("%d of %d points", done, of))
	})
	shown.end()
	if err != nil {
		return simulationError(r.File, err)
	}
	if err := r.writeSweep(out, result); err != nil {
		return err
	}
	if shard == sweep.Whole && !anyPointMet(result) {
		return ErrMissed
	}
	return nil
}

// points are those of the sweep, and which of them are asked for.
func (r *SimulateRequest) points(m *poolwrightv1.Simulation) (*sweep.Sweep, sweep.Shard, error) {
	var mistakes []error
	var dimensions []sweep.Dimension
	for _, text := range r.Sweep {
		d, err := sweep.Parse(text)
		mistakes = append(mistakes, err)
		dimensions = append(dimensions, d)
	}
	shard, err := shardOf(r.Shard)
	if err := errors.Join(append(mistakes, err)...); err != nil {
		return nil, shard, err
	}
	points, err := sweep.New(m, dimensions)
	return points, shard, err
}

// completionIndex is where a Job of Kubernetes tells its pods which of them they are.
const completionIndex = "JOB_COMPLETION_INDEX"

// shardOf reads index/count, or a count whose index the environment has; empty is all.
func shardOf(text string) (sweep.Shard, error) {
	if text == "" {
		return sweep.Whole, nil
	}
	if !strings.Contains(text, "/") {
		index, ok := os.LookupEnv(completionIndex)
		if !ok {
			return sweep.Shard{}, fmt.Errorf("--shard: %s: which one? Write index/count, or set %s", text, completionIndex)
		}
		text = index + "/" + text
	}
	return sweep.ParseShard(text)
}

// anyPointMet tells whether every SLO held at any point.
func anyPointMet(m *poolwrightv1.Sweep) bool {
	return slices.ContainsFunc(m.GetResults(), func(p *poolwrightv1.SweepPoint) bool { return anyMet(p.GetResult()) })
}

// write writes a result, and the page about it.
func (p *Printed) write(out io.Writer, m *poolwrightv1.SimulationResult) error {
	var reported error
	if p.Report != "" {
		if err := toFile(p.Report, func(w io.Writer) error { return report.HTML(w, m) }); err != nil {
			reported = fmt.Errorf("write the report: %w", err)
		}
	}
	return errors.Join(reported, p.to(out, func(w io.Writer) error {
		switch {
		case p.Output.String() == "json":
			return writeDocument(w, m, document.MarshalJSON)
		case p.Output.String() == "html":
			return report.HTML(w, m)
		case p.Series:
			return report.SeriesCSV(w, m)
		case p.Output.String() == "csv":
			return report.CSV(w, m)
		}
		return writeTable(w, m)
	}))
}

func (p *Printed) writeSweep(out io.Writer, m *poolwrightv1.Sweep) error {
	return p.to(out, func(w io.Writer) error {
		switch p.Output.String() {
		case "json":
			return writeDocument(w, m, document.MarshalJSON)
		case "csv":
			return report.SweepCSV(w, m)
		}
		return writeTable(w, m)
	})
}

// writable returns why a file could not be written, before there is anything to lose.
func (p *Printed) writable() error {
	var mistakes []error
	if err := writable(p.To); p.To != "" && err != nil {
		mistakes = append(mistakes, fmt.Errorf("write the result: %w", err))
	}
	if err := writable(p.Report); p.Report != "" && err != nil {
		mistakes = append(mistakes, fmt.Errorf("write the report: %w", err))
	}
	return errors.Join(mistakes...)
}

// to writes to the file that is asked for, or to out.
func (p *Printed) to(out io.Writer, write func(io.Writer) error) error {
	var err error
	if p.To == "" {
		err = write(out)
	} else {
		err = toFile(p.To, write)
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// simulationError tells bad input and being interrupted from failures.
func simulationError(file string, err error) error {
	switch {
	case errors.As(err, new(message.Violations)):
		return &InputError{fmt.Errorf("%s: %w", file, err)}
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return err
}
