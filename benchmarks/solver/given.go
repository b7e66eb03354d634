package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/sources"
)

// knownOptima are proven, by file name.
func knownOptima() map[string]float64 {
	return map[string]float64{
		"h01_v10_g3_tight": 346.969, "h03_v30_g5_tight": 1731.297431, "h04_v100_g5_tight": 5877.358148, "h08_v1000_g5_tight": 42608.372918,
	}
}

const givenAbout = `Fleets that are not part of this repository, read from a folder beside it where there is one, with optima known
beforehand. "Above" is the objective above the known optimum. Of the greedy strategies the section above tells.`

// givenSection solves the fleets of a folder.
func givenSection(_ context.Context, o options) (*section, error) {
	files, err := filepath.Glob(filepath.Join(o.Problems, "*.json.gz"))
	if err != nil {
		return nil, err
	}
	s := &section{title: "Given fleets", about: givenAbout}
	if len(files) == 0 {
		s.about += "\n\nThere was none in this run."
		return s, nil
	}
	t := table.Table{Title: "Given fleets", Columns: table.Columns("fleet", "workloads", "ms to 0.1 %", "gap %", "above %", "ms to optimum", "gap", "above %")}
	beside := greedyTable("fleet")
	for _, file := range files {
		problem, err := readProblem(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		near, err := solve(problem, optimizer.Options{RelativeGap: relativeGap}, o.limit)
		if err != nil {
			return nil, err
		}
		exact, err := solve(problem, optimizer.Options{}, o.limit)
		if err != nil {
			return nil, err
		}
		above := func(measured) string { return "-" }
		if known, ok := knownOptima()[name]; ok {
			above = func(m measured) string { return fmt.Sprintf("%.2g", 100*(m.Objective/known-1)) }
			s.targets = append(s.targets, target{name: name + ": above the known optimum", measured: 100 * (near.Objective/known - 1), bound: 0.1, unit: " %"})
		}
		t.Add(name, fmt.Sprint(len(problem.Workloads)), format(milliseconds(near.cpu)), format(100*near.Gap), above(near),
			format(milliseconds(exact.cpu)), format(exact.Gap), above(exact))
		var greedy comparison
		if err := greedy.add(problem, exact.Bound); err != nil {
			return nil, err
		}
		beside.Add(append([]string{name}, greedy.row()...)...)
		s.targets = append(s.targets,
			target{name: name + ": proven gap", measured: 100 * near.Gap, bound: 0.1, unit: " %"},
			target{name: name + ": proven gap when the optimum is asked for", measured: exact.Gap, bound: 1e-6})
		if name == "h04_v100_g5_tight" {
			s.targets = append(s.targets, target{name: name + ": time to 0.1 %", measured: milliseconds(near.cpu), bound: 1000, unit: " ms"})
		}
	}
	s.tables = []table.Table{t, beside}
	return s, nil
}

// readProblem reads a compressed fleet.
func readProblem(file string) (*optimizer.Problem, error) {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	decoded, err := sources.ReadFleet(data)
	if err != nil {
		return nil, err
	}
	fleet, err := message.Fleet(decoded)
	if err != nil {
		return nil, err
	}
	sizes, err := planner.New(lp.Simplex()).Capacities(fleet)
	if err != nil {
		return nil, err
	}
	return fleet.Problem(sizes), nil
}
