package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// simulatedStudy compares package simulation with an independent simulator.
func simulatedStudy(o options) (*study, error) {
	rows, err := readOpenLoop(o.Data)
	if err != nil {
		return nil, err
	}
	fits, err := judgeOpenLoop(rows, true)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r openLoopRow) bool { return r.unusable() != "" })
	all := make([]simulated, len(rows))
	errs := make([]error, len(rows))
	parallel(len(rows), func(i int) {
		all[i], errs[i] = simulateRow(&rows[i], openLoopFitOf(fits, &rows[i]).profile)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	beside, err := rivals(asRows(all))
	if err != nil {
		return nil, err
	}
	unseen := slices.DeleteFunc(slices.Clone(all), func(s simulated) bool { return s.row.identifies(0, true) })
	return &study{
		title:   "Simulated fleet, independent simulator",
		about:   simulatedAbout,
		targets: simulatedTargets(all), standings: rivalStandings("our simulator", beside),
		listings: []table.Table{simulatedRows(all)},
		tables: []table.Table{
			simulatedErrors("Errors over usable rows", all),
			simulatedErrors("Errors over usable rows without those of low load that are fitted", unseen),
			rivalTable(beside),
		},
	}, nil
}

const simulatedAbout = `The same rows, and what ` + "`simulation.Cluster`" + ` with one replica makes of them: each of 100,000 requests, the
first fifth of which don't count, goes through router and replica. Rows are those that are judged by their means above, profiles those
fitted to rows with a load of at most 0.25. What differs is the iterations themselves, not only a model of them. The inferno family beside ours is judged as above, with what our simulator makes of the
rows in place of what the other one did.`

// asRows are the rows with what the simulation makes of them in place of what was observed.
func asRows(all []simulated) []openLoopRow {
	rows := make([]openLoopRow, len(all))
	for i := range all {
		rows[i] = *all[i].row
		rows[i].ttft, rows[i].itl = all[i].ttft, all[i].itl
	}
	return rows
}

// simulatedRequests is the number of requests of a row, simulatedWarmup of those that do
// not count.
const (
	simulatedRequests = 100_000
	simulatedWarmup   = simulatedRequests / 5
)

// simulated is a row and what the simulation makes of it.
type simulated struct {
	row       *openLoopRow
	ttft, itl observed
}

// simulateRow serves the load of a row on one replica.
func simulateRow(r *openLoopRow, profile queueing.Profile) (simulated, error) {
	load := replica.Load{
		Shape: r.shape, Phases: replica.Constant(queueing.Rate(r.rate)), Requests: simulatedRequests, Seed: uint64(r.prompt), //nolint:gosec // > 0
	}
	arrivals, err := load.Arrivals()
	if err != nil {
		return simulated{}, err
	}
	machine := r.replica
	machine.Profile = profile
	var ttft, itl []float64
	start := time.Unix(0, 0)
	cluster, err := simulation.New(simulation.Config{
		Start: start,
		Fleet: planner.Fleet{
			Pools: []planner.Pool{{Name: "pool"}},
			Workloads: []planner.Workload{{
				Name: "workload", Shape: r.shape,
				Variants: []planner.Variant{{Name: "variant", Pools: []int{0}, DevicesPerReplica: 1, Replica: &machine, CurrentReplicas: 1}},
			}},
		},
		Requests: func(yield func(trace.Request) bool) {
			for q := range arrivals {
				if !yield(trace.Request{At: q.Arrival, Input: q.Input, Output: q.Output}) {
					return
				}
			}
		},
		Gateway: simulation.DefaultGateway(),
		OnRequest: func(r simulation.Record) {
			ttft = append(ttft, r.TTFT)
			if r.Output > 1 {
				itl = append(itl, r.ITL)
			}
		},
	})
	if err != nil {
		return simulated{}, err
	}
	end := start.Add(time.Duration(2 * simulatedRequests / r.rate * float64(time.Second)))
	if err := cluster.Run(context.Background(), nil, end, nil); err != nil {
		return simulated{}, err
	}
	if len(ttft) != simulatedRequests {
		return simulated{}, fmt.Errorf("%d of %d requests ended", len(ttft), simulatedRequests)
	}
	return simulated{row: r, ttft: summarize(ttft[simulatedWarmup:]), itl: summarize(itl[min(simulatedWarmup, len(itl)):])}, nil
}

// summarize returns the mean and the quantiles of values, all 0 without any.
func summarize(values []float64) observed {
	n := len(values)
	if n == 0 {
		return observed{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	quantile := func(q float64) float64 { return values[min(n-1, int(q*float64(n)))] }
	return observed{mean: sum / float64(n), p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99)}
}

// simulatedMetric is a quantity that simulated rows are judged by.
type simulatedMetric struct {
	name string
	pair func(*simulated) (is, was float64)
}

func simulatedMetrics() []simulatedMetric {
	all := []simulatedMetric{}
	for _, l := range []struct {
		name string
		pair func(*simulated) (is, was *observed)
	}{
		{"ITL", func(s *simulated) (is, was *observed) { return &s.itl, &s.row.itl }},
		{"TTFT", func(s *simulated) (is, was *observed) { return &s.ttft, &s.row.ttft }},
	} {
		for _, q := range []struct {
			name string
			of   func(*observed) float64
		}{
			{"mean", func(o *observed) float64 { return o.mean }},
			{"p50", func(o *observed) float64 { return o.p50 }},
			{"p95", func(o *observed) float64 { return o.p95 }},
			{"p99", func(o *observed) float64 { return o.p99 }},
		} {
			all = append(all, simulatedMetric{l.name + " " + q.name, func(s *simulated) (float64, float64) {
				is, was := l.pair(s)
				return q.of(is), q.of(was)
			}})
		}
	}
	return all
}

// error is the relative error of a row, NaN where it was not observed.
func (m *simulatedMetric) error(s *simulated) float64 {
	is, was := m.pair(s)
	if was == 0 {
		return math.NaN()
	}
	return relative(is, was)
}

func simulatedDeviations(all []simulated) map[string]deviations {
	errors := map[string]deviations{}
	for _, m := range simulatedMetrics() {
		for i := range all {
			if e := m.error(&all[i]); !math.IsNaN(e) {
				errors[m.name] = append(errors[m.name], e)
			}
		}
	}
	return errors
}

func simulatedTargets(all []simulated) []target {
	errors := simulatedDeviations(all)
	return []target{
		{"ITL mean, median", errors[meanITL].quantile(0.5), 0.02},
		{"TTFT mean, median", errors[meanTTFT].quantile(0.5), 0.06},
		{"TTFT mean, p90", errors[meanTTFT].quantile(0.9), 0.15},
		{"TTFT p95, median", errors[p95TTFT].quantile(0.5), 0.10},
	}
}

func simulatedErrors(title string, all []simulated) table.Table {
	t := table.Table{Title: title + ", %", Columns: table.Columns("metric", "points", "median", "p90", "largest", "bias")}
	errors := simulatedDeviations(all)
	for _, m := range simulatedMetrics() {
		if d := errors[m.name]; len(d) > 0 {
			t.Add(m.name, count(len(d)), percent(d.quantile(0.5)), percent(d.quantile(0.9)), percent(d.quantile(1)), signedPercent(d.bias()))
		}
	}
	return t
}

func simulatedRows(all []simulated) table.Table {
	t := table.Table{
		Title: "Every usable row: errors in %",
		Columns: table.Columns("set", "in", "out", "ca²", "load", "!ITL", "!sim", "ITL mean", "p50", "p95", "p99",
			"!TTFT", "!sim", "TTFT mean", "p50", "p95", "p99"),
	}
	for i := range all {
		s := &all[i]
		row := []string{s.row.set, count(s.row.prompt), format(float64(s.row.shape.OutputTokens)), format(s.row.shape.ArrivalSCV), format(s.row.load)}
		for k, m := range simulatedMetrics() {
			if k%4 == 0 {
				is, was := m.pair(s)
				row = append(row, milli(was), milli(is))
			}
			row = append(row, signedPercent(m.error(s)))
		}
		t.Add(row...)
	}
	return t
}
