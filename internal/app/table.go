package app

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// writeTable prints an answer for people, within 100 columns for usual names: text wraps, and tables have room.
func writeTable(w io.Writer, m proto.Message) error {
	out := bufio.NewWriterSize(w, 1<<16) // tabwriter writes cell by cell
	t := &table{Writer: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	switch m := m.(type) {
	case *poolwrightv1.Plan:
		t.plan(m)
	case *poolwrightv1.Explanation:
		t.explanation(m)
	case *poolwrightv1.Capacities:
		t.capacities(m)
	case *poolwrightv1.Calibration:
		t.calibration(m)
	case *poolwrightv1.SimulationResult:
		t.simulation(m)
	case *poolwrightv1.Sweep:
		t.sweep(m)
	default:
		return fmt.Errorf("no table for %T", m)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

// table keeps the first error of its writer until Flush.
type table struct {
	*tabwriter.Writer
	row []byte
	err error
}

func (t *table) line(cells ...string) {
	t.row = t.row[:0]
	for i, c := range cells {
		if i > 0 {
			t.row = append(t.row, '\t')
		}
		t.row = append(t.row, c...)
	}
	if t.err == nil {
		_, t.err = t.Write(append(t.row, '\n'))
	}
}

// section ends the alignment of the columns so far.
func (t *table) section() {
	if t.err == nil {
		t.err = t.Writer.Flush()
	}
	t.line()
}

// Flush writes what is buffered and returns the first error.
func (t *table) Flush() error {
	if t.err != nil {
		return t.err
	}
	return t.Writer.Flush()
}

// text writes text in lines that fit, those after the first indented.
func (t *table) text(text, indent string) {
	for _, line := range wrap(text, indent) {
		t.line(line)
	}
}

// wrapped writes a text in lines that fit below its beginning, which goes behind first.
func (t *table) wrapped(first, text string) {
	t.text(first+text, strings.Repeat(" ", len(first)))
}

func (t *table) plan(m *poolwrightv1.Plan) {
	t.text(summary(m), "  ")
	for _, l := range m.GetLevels() {
		t.text(level(l), "  ")
	}
	t.section()
	t.allocations(m)
	t.section()
	t.routes(m)
	t.workloads(m)
	t.section()
	t.pools(m)
	t.section()
	if r := m.GetRobustness(); r != nil {
		t.robustness(r)
		t.section()
	}
	for _, w := range m.GetWorkloads() {
		t.text(w.GetName()+": "+w.GetReason(), "    ")
		t.variants(w)
	}
	for _, n := range m.GetNotes() {
		t.wrapped("Note: ", n)
	}
}

// provenGap is a gap that is put down to rounding.
const provenGap = 1e-8

func summary(m *poolwrightv1.Plan) string {
	proven := m.GetProof() != poolwrightv1.Plan_NONE
	s := fmt.Sprintf("%s at %s per hour", m.GetDemand(), number(m.GetPricePerHour()))
	if proven {
		s = fmt.Sprintf("%s, %s: %s per hour", m.GetProof(), m.GetDemand(), number(m.GetPricePerHour()))
	}
	if extra := m.GetObjective() - m.GetPricePerHour(); extra > 1e-9*m.GetObjective() {
		s += fmt.Sprintf(", %s with switching and penalties", number(m.GetObjective()))
	}
	switch {
	case !proven:
		return s
	case m.GetGap() < provenGap:
		return s + "; no plan is cheaper"
	}
	return s + fmt.Sprintf("; no plan is cheaper than %s (gap %.2g %%)", number(m.GetBound()), 100*m.GetGap())
}

func level(l *poolwrightv1.PriorityLevel) string {
	if l.GetPriority() == 0 {
		return fmt.Sprintf("Declared minimums: %s replicas short; %s at the least", number(l.GetUnmet()), number(l.GetBound()))
	}
	return fmt.Sprintf("Priority %d: %s requests/s unmet; %s at the least",
		l.GetPriority(), number(l.GetUnmet()), number(l.GetBound()))
}

func (t *table) allocations(m *poolwrightv1.Plan) {
	t.line("WORKLOAD", "VARIANT", "POOL", "REPLICAS", "CHANGE", "SHARE", "PRICE/H")
	last := ""
	for _, a := range m.GetAllocations() {
		name := a.GetWorkload()
		if name == last {
			name = ""
		}
		last = a.GetWorkload()
		change := ""
		if a.GetChange() != 0 {
			change = fmt.Sprintf("%+d", a.GetChange())
		}
		t.line(name, a.GetVariant(), a.GetPool(), fmt.Sprint(a.GetReplicas()), change,
			percent(a.GetShare()), fmt.Sprintf("%.2f", a.GetPricePerHour()))
	}
}

// routes lists where the requests of each shape go, if there are shapes.
func (t *table) routes(m *poolwrightv1.Plan) {
	header := []string{"WORKLOAD", "SHAPE", "VARIANT", "POOL", "SHARE OF SHAPE"}
	for _, a := range m.GetAllocations() {
		for s, share := range a.GetShapeShares() {
			if share == 0 {
				continue
			}
			if header != nil {
				t.line(header...)
				header = nil
			}
			t.line(a.GetWorkload(), fmt.Sprint(s+1), a.GetVariant(), a.GetPool(), percent(share))
		}
	}
	if header == nil {
		t.section()
	}
}

func (t *table) workloads(m *poolwrightv1.Plan) {
	t.line("WORKLOAD", "SERVED/S", "UNMET/S", "TTFT MEAN", "P95", "ITL MEAN", "P95", "UTIL", "BINDS")
	for _, w := range m.GetWorkloads() {
		p := w.GetPredicted()
		utilization := "–"
		if p != nil {
			utilization = percent(p.GetUtilization())
		}
		limits := strings.SplitAfter(w.GetBinding(), ", ")
		t.line(w.GetName(), number(w.GetServedRps()), unmet(w.GetUnmetRps()),
			latency(p.GetTtft().GetMean()), latency(p.GetTtft().GetP95()),
			latency(p.GetItl().GetMean()), latency(p.GetItl().GetP95()),
			utilization, strings.TrimSpace(limits[0]))
		for _, limit := range limits[1:] {
			t.line("", "", "", "", "", "", "", "", strings.TrimSpace(limit))
		}
	}
}

func (t *table) pools(m *poolwrightv1.Plan) {
	t.line("POOL", "ACCELERATOR", "USED", "OF", "SHADOW PRICE/H")
	for _, p := range m.GetPools() {
		capacity := "∞"
		if p.Capacity != nil {
			capacity = fmt.Sprint(p.GetCapacity())
		}
		t.line(p.GetName(), p.GetAccelerator(), fmt.Sprint(p.GetUsed()), capacity, saving(p.GetShadowPricePerHour()))
	}
	for _, q := range m.GetQuotas() {
		t.line(q.GetPool()+" of "+q.GetNamespace(), "", fmt.Sprint(q.GetUsed()), fmt.Sprint(q.GetCapacity()),
			saving(q.GetShadowPricePerHour()))
	}
}

func (t *table) variants(w *poolwrightv1.WorkloadPlan) {
	for _, v := range w.GetVariants() {
		if v.GetReason() != "" {
			t.text("  "+v.GetName()+": "+v.GetReason(), "    ")
		}
	}
}

func (t *table) capacities(m *poolwrightv1.Capacities) {
	t.line("WORKLOAD", "VARIANT", "CAPACITY/S", "SERVED/S", "SATURATES/S", "BINDS")
	for _, v := range m.GetVariants() {
		saturation := "–"
		if v.SaturationRps != nil {
			saturation = number(v.GetSaturationRps())
		}
		t.line(v.GetWorkload(), v.GetVariant(), number(v.GetCapacityRps()), number(v.GetServedRps()), saturation, v.GetBinding())
		for s, served := range v.GetShapeServedRps() {
			t.line("", fmt.Sprintf("  shape %d", s+1), "", number(served), "", "")
		}
	}
	// Text between rows would end their alignment.
	separate := t.section
	for _, v := range m.GetVariants() {
		if v.GetReason() != "" {
			separate()
			separate = func() {}
			t.text(v.GetWorkload()+" on "+v.GetVariant()+": "+v.GetReason(), "    ")
		}
	}
}

// number writes four digits.
func number(v float64) string { return fmt.Sprintf("%.4g", v) }

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

// saving is empty where nothing would be saved.
func saving(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", v)
}

// latency writes three digits in a fitting unit.
func latency(d *durationpb.Duration) string {
	if d == nil {
		return "–"
	}
	v := d.AsDuration()
	switch {
	case v < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(v)/float64(time.Microsecond))
	case v < time.Second:
		return fmt.Sprintf("%.3g ms", float64(v)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g s", v.Seconds())
}
