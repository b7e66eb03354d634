package main

import (
	"path/filepath"
	"strings"

	"github.com/poolwright/poolwright/benchmarks/internal/records"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/queueing"
)

// nominalShare is what random lengths of the load tests average of their nominal
// length.
const nominalShare = 0.9

// manyWorkloads is from how many workloads on one of them is held out in a target.
const manyWorkloads = 6

// closedLoopStudy asks how well the form of an iteration describes measured load
// tests.
func closedLoopStudy(o options) (*study, error) {
	sets, err := readClosedLoop(o.Data)
	if err != nil {
		return nil, err
	}
	fitted, err := fitSets(sets)
	if err != nil {
		return nil, err
	}
	return &study{
		title:   "Closed loop, measured",
		about:   closedLoopAbout,
		targets: closedLoopTargets(fitted),
		tables:  []table.Table{fitTable("ITL by configuration; held out: each workload by the others", fitted)},
		details: []table.Table{profileTable(fitted)},
	}, nil
}

const closedLoopAbout = `Load tests of real machines by a constant number of clients. A profile is fitted by package
` + "`calibration`" + ` to the mean ITL of each configuration with nine samples or more; a workload is a pair of prompt and output
length. TTFT of these tests includes a start-up burst and does not count. Held out: each workload is predicted by a fit
to the others; where there are three workloads only, that is an extrapolation by a factor of eight. Targets are medians over the
samples of all configurations, held out over those of configurations with six workloads or more.`

// readClosedLoop reads closed_loop_sweeps.csv. Rows that occur twice count once.
func readClosedLoop(data string) ([]sampleSet, error) {
	var c collected
	seen := map[string]bool{}
	err := records.Each(filepath.Join(data, "measured", "closed_loop_sweeps.csv"), func(r *records.Record) {
		if row := r.Row(); !seen[row] {
			seen[row] = true
			c.add(closedLoopName(r), closedLoopSample(r), closedLoopOptions(r))
		}
	})
	return c.sets, err
}

// closedLoopName names a configuration.
func closedLoopName(r *records.Record) string {
	_, model, _ := strings.Cut(r.Text("model"), "/")
	parts := []string{
		model, strings.TrimSuffix(r.Text("gpu"), "_sxm"), r.Text("backend"),
		r.Text("backend_version"), r.Text("precision"), "tp" + r.Text("tp"),
	}
	if ep := r.Text("ep"); ep != "1" {
		parts = append(parts, "ep"+ep)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func closedLoopSample(r *records.Record) calibration.Sample {
	return calibration.Sample{
		Group:        r.Text("isl") + "/" + r.Text("osl"),
		Concurrency:  calibration.Of(r.Number("concurrency")),
		InputTokens:  calibration.Of(nominalShare * r.Number("isl")),
		OutputTokens: calibration.Of(nominalShare * r.Number("osl")),
		ITL:          calibration.Of(r.Milliseconds("tpot_ms")),
		TTFT:         calibration.Of(r.Milliseconds("ttft_ms")),
	}
}

// closedLoopOptions leaves TTFT out, which includes the start-up burst.
func closedLoopOptions(r *records.Record) calibration.Options {
	o := calibration.Options{
		SquareRoot: calibration.SquareRootNever,
		Ignore:     []calibration.Use{{Kind: calibration.ClosedLoop, Metric: queueing.TTFT}},
	}
	if mixtureOfExperts(r.Text("model")) {
		o.SquareRoot = calibration.SquareRootAlways
	}
	return o
}

// mixtureOfExperts tells whether a model is one; the others are dense.
func mixtureOfExperts(model string) bool {
	return !strings.Contains(model, "Llama")
}

// closedLoopTargets are those of the design: medians over all samples of a kind, held
// out those of configurations with many workloads only.
func closedLoopTargets(sets []fittedSet) []target {
	errors := map[string]deviations{}
	for i := range sets {
		f := &sets[i]
		kind := "dense"
		if f.options.SquareRoot == calibration.SquareRootAlways {
			kind = "mixture of experts"
		}
		errors[kind] = append(errors[kind], f.inSample()...)
		if f.groups >= manyWorkloads {
			errors[kind+", held out"] = append(errors[kind+", held out"], f.heldOut()...)
		}
	}
	return []target{
		{"dense, in sample, median", errors["dense"].quantile(0.5), 0.025},
		{"dense, held-out workload, median", errors["dense, held out"].quantile(0.5), 0.05},
		{"mixture of experts, in sample, median", errors["mixture of experts"].quantile(0.5), 0.02},
		{"mixture of experts, held-out workload, median", errors["mixture of experts, held out"].quantile(0.5), 0.04},
	}
}
