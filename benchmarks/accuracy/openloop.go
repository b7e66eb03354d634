package main

import (
	"fmt"
	"path/filepath"

	"github.com/poolwright/poolwright/benchmarks/internal/records"
	"github.com/poolwright/poolwright/queueing"
)

// lowLoad is the load up to which every row may identify a profile.
const lowLoad = 0.25

// openLoopRow is a steady-state point of simulated_open_loop.csv.
type openLoopRow struct {
	point
	// set names the series, machine what was simulated: one profile fits it.
	set, machine string
	// prompt is the nominal prompt length, which names the shape.
	prompt int
	offset float64
}

// openLoopOffset returns the constant overhead before the first token that the
// simulator adds, by its documentation, in seconds.
func openLoopOffset(backend string) (float64, error) {
	switch backend {
	case "trained-physics":
		return 0.0156, nil
	case "phys":
		return 0.005, nil
	}
	return 0, fmt.Errorf("backend %q is not known", backend)
}

// readOpenLoop reads simulated_open_loop.csv from a folder of third-party data.
func readOpenLoop(data string) ([]openLoopRow, error) {
	var rows []openLoopRow
	err := records.Each(filepath.Join(data, "measured", "simulated_open_loop.csv"), func(r *records.Record) {
		rows = append(rows, openLoopRowOf(r))
	})
	return rows, err
}

func openLoopRowOf(r *records.Record) openLoopRow {
	offset, err := openLoopOffset(r.Text("backend"))
	r.Check(err)
	latency := func(name string) observed {
		return observed{
			mean: r.Milliseconds(name + "_mean"), p50: r.Milliseconds(name + "_p50"),
			p95: r.Milliseconds(name + "_p95"), p99: r.Milliseconds(name + "_p99"),
		}
	}
	row := openLoopRow{
		point: point{
			condition: openLoopCondition(r),
			load:      r.Number("load_frac"),
			ttft:      latency("ttft"), itl: latency("tpot"), e2e: latency("e2e"),
			running: r.Number("batch_mean"),
		},
		set: r.Text("set"), machine: r.Text("backend") + " " + r.Text("gpu"),
		prompt: int(r.Number("in")), offset: offset,
	}
	row.ttft.interval = r.Milliseconds("ttft_ci95")
	row.itl.interval = r.Milliseconds("tpot_ci95")
	return row
}

func openLoopCondition(r *records.Record) condition {
	outputSCV := 0.0
	if r.Text("dist") == "expout" {
		outputSCV = 1
	}
	return condition{
		replica: queueing.Replica{
			MaxBatch:         int(r.Number("max_num_seqs")),
			KVCacheTokens:    queueing.Tokens(r.Number("kv_tokens")),
			MaxBatchedTokens: queueing.Tokens(r.Number("max_batched_tokens")),
		},
		shape: queueing.Shape{
			InputTokens:  queueing.Tokens(r.Number("in_mean")),
			OutputTokens: queueing.Tokens(r.Number("out_mean")),
			OutputSCV:    outputSCV,
			ArrivalSCV:   r.Number("cv2"),
		},
		rate: r.Number("achieved_rps"),
	}
}

// unusable says why the mean of a row is not judged, "" if it is.
func (r *openLoopRow) unusable() string {
	switch {
	case r.load >= 1:
		return "at or beyond saturation"
	case !r.precise():
		return fmt.Sprintf("interval ±%.1f %%", 100*r.ttft.interval/r.ttft.mean)
	}
	return ""
}

// identifies tells whether a row may identify the profile by which rows of a shape
// are judged: never bursty ones or ones of random lengths, of the judged shape those
// of low load only, and of the others all usable ones or, if lowOnly, the same.
func (r *openLoopRow) identifies(prompt int, lowOnly bool) bool {
	if r.shape.ArrivalSCV != 1 || r.shape.OutputSCV != 0 || r.unusable() != "" {
		return false
	}
	return r.load <= lowLoad || !lowOnly && r.prompt != prompt
}

// fitTolerance is the relative error from which on a latency counts as an outlier of
// a fit, beside a row's own interval.
const fitTolerance = 0.01

// measurement returns what a row tells a fit.
func (r *openLoopRow) measurement() measurement {
	return measurement{
		condition: r.condition,
		ttft:      r.ttft.mean, itl: r.itl.mean,
		ttftTolerance: fitTolerance + r.ttft.interval/r.ttft.mean,
		itlTolerance:  fitTolerance + r.itl.interval/r.itl.mean,
	}
}
