package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// CSV writes a row for each autoscaler and workload, below the names of the columns. Those
// that begin with fleet_ are of all workloads together. Latencies are in seconds, lower and
// upper are the ends of 95 % confidence intervals, and what is not known is empty.
func CSV(w io.Writer, r *poolwrightv1.SimulationResult) error {
	return SweepCSV(w, &poolwrightv1.Sweep{Results: []*poolwrightv1.SweepPoint{{Result: r}}})
}

// SweepCSV writes the rows of [CSV] for each point of a sweep, with a column for each of its
// dimensions before the others.
func SweepCSV(w io.Writer, s *poolwrightv1.Sweep) error {
	t := newTable(w)
	columns := columns()
	var names []string
	for _, d := range s.GetDimensions() {
		names = append(names, d.GetPath())
	}
	for _, c := range columns {
		names = append(names, c.name)
	}
	t.row(names)
	for _, p := range s.GetResults() {
		for _, a := range p.GetResult().GetAutoscalers() {
			for _, workload := range a.GetWorkloads() {
				cells := slices.Clone(p.GetValues())
				for _, c := range columns {
					cells = append(cells, c.value(part{a, workload}))
				}
				t.row(cells)
			}
		}
	}
	return t.end()
}

// part is what one row is about.
type part struct {
	fleet    *poolwrightv1.AutoscalerResult
	workload *poolwrightv1.WorkloadResult
}

type column struct {
	name  string
	value func(part) string
}

func columns() []column {
	return slices.Concat(
		[]column{
			{"autoscaler", func(p part) string { return p.fleet.GetName() }},
			{"workload", func(p part) string { return p.workload.GetWorkload() }},
			{"service_class", func(p part) string { return p.workload.GetServiceClass() }},
			{"requests", func(p part) string { return number(p.workload.GetRequests()) }},
			{"objective", func(p part) string { return optional(p.workload.Objective) }},
		},
		estimate("attainment", func(p part) *poolwrightv1.Estimate { return p.workload.GetAttainment() }),
		estimate("unmet_requests", func(p part) *poolwrightv1.Estimate { return p.workload.GetUnmetRequests() }),
		latency("ttft", func(p part) *poolwrightv1.LatencyEstimate { return p.workload.GetTtft() }),
		latency("itl", func(p part) *poolwrightv1.LatencyEstimate { return p.workload.GetItl() }),
		estimate("fleet_attainment", func(p part) *poolwrightv1.Estimate { return p.fleet.GetAttainment() }),
		estimate("fleet_unmet_requests", func(p part) *poolwrightv1.Estimate { return p.fleet.GetUnmetRequests() }),
		estimate("fleet_cost", func(p part) *poolwrightv1.Estimate { return p.fleet.GetCost() }),
		estimate("fleet_device_hours", func(p part) *poolwrightv1.Estimate { return p.fleet.GetDeviceHours() }),
		estimate("fleet_scale_events", func(p part) *poolwrightv1.Estimate { return p.fleet.GetScaleEvents() }),
		estimate("fleet_regret", func(p part) *poolwrightv1.Estimate { return p.fleet.GetRegret() }),
	)
}

func estimate(name string, of func(part) *poolwrightv1.Estimate) []column {
	return []column{
		{name, func(p part) string { return mean(of(p)) }},
		{name + "_lower", func(p part) string {
			if e := of(p); e != nil {
				return optional(e.Lower)
			}
			return ""
		}},
		{name + "_upper", func(p part) string {
			if e := of(p); e != nil {
				return optional(e.Upper)
			}
			return ""
		}},
	}
}

func latency(name string, of func(part) *poolwrightv1.LatencyEstimate) []column {
	return []column{
		{name + "_mean_seconds", func(p part) string { return mean(of(p).GetMean()) }},
		{name + "_p50_seconds", func(p part) string { return mean(of(p).GetP50()) }},
		{name + "_p95_seconds", func(p part) string { return mean(of(p).GetP95()) }},
		{name + "_p99_seconds", func(p part) string { return mean(of(p).GetP99()) }},
		{name + "_limit_seconds", func(p part) string {
			if l := of(p); l != nil {
				return optional(l.Limit)
			}
			return ""
		}},
	}
}

func mean(e *poolwrightv1.Estimate) string {
	if e == nil {
		return ""
	}
	return number(e.GetMean())
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// number writes all digits; NaN, which is no value, is empty.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// table writes rows and keeps the first error until its end.
type table struct{ *csv.Writer }

func newTable(w io.Writer) table { return table{csv.NewWriter(w)} }

func (t table) row(cells []string) { _ = t.Write(cells) }

func (t table) end() error {
	t.Flush()
	return t.Error()
}
