package app

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// missed marks a share of requests that is below its objective.
const missed = " ✗"

// simulation prints what became of a fleet under each autoscaler.
func (t *table) simulation(m *poolwrightv1.SimulationResult) {
	t.text(verdict(m), "  ")
	t.section()
	t.line("AUTOSCALER", "COST", "DEVICE-H", "IN SLO", "UNMET", "EVENTS", "REGRET")
	for _, a := range m.GetAutoscalers() {
		t.line(slices.Concat([]string{a.GetName()}, totals(a), []string{regret(a.GetRegret())})...)
	}
	if bound := m.GetHindsightCost(); len(bound) > 0 {
		t.line("(least, in hindsight)", money(average(bound)))
	}
	t.classes(m.GetAutoscalers())
	for i := range workloads(m) {
		t.section()
		t.simulatedWorkload(m.GetAutoscalers(), i)
	}
	t.section()
	t.text(conditions(m), "  ")
}

// totals are the cells about all workloads together.
func totals(a *poolwrightv1.AutoscalerResult) []string {
	return []string{
		money(a.GetCost().GetMean()), fmt.Sprintf("%.1f", a.GetDeviceHours().GetMean()),
		attained(a.GetAttainment(), metObjectives(a)), whole(a.GetUnmetRequests()), whole(a.GetScaleEvents()),
	}
}

// classes prints how each service class fared, if there are several.
func (t *table) classes(of []*poolwrightv1.AutoscalerResult) {
	const across = 6
	if len(of) == 0 || len(of[0].GetClasses()) < 2 {
		return
	}
	for from := 0; from < len(of[0].GetClasses()); from += across {
		t.section()
		for i, a := range of {
			part := a.GetClasses()[from:min(from+across, len(a.GetClasses()))]
			if i == 0 {
				t.line(slices.Concat([]string{"IN SLO, BY CLASS"}, classNames(part))...)
			}
			cells := []string{a.GetName()}
			for _, c := range part {
				cells = append(cells, attained(c.GetAttainment(), reached(c.GetAttainment(), c.Objective)))
			}
			t.line(cells...)
		}
	}
}

func classNames(classes []*poolwrightv1.ClassResult) []string {
	var names []string
	for _, c := range classes {
		name := c.GetServiceClass()
		if name == "" {
			name = "(no class)"
		}
		names = append(names, name)
	}
	return names
}

// simulatedWorkload prints how the requests of one workload fared.
func (t *table) simulatedWorkload(of []*poolwrightv1.AutoscalerResult, i int) {
	t.text(about(of[0].GetWorkloads()[i]), "  ")
	t.line("AUTOSCALER", "IN SLO", "TTFT P50", "P95", "P99", "ITL P50", "P95", "P99")
	for _, a := range of {
		w := a.GetWorkloads()[i]
		t.line(a.GetName(), attained(w.GetAttainment(), metObjective(w)),
			seconds(w.GetTtft().GetP50()), seconds(w.GetTtft().GetP95()), seconds(w.GetTtft().GetP99()),
			seconds(w.GetItl().GetP50()), seconds(w.GetItl().GetP95()), seconds(w.GetItl().GetP99()))
	}
}

// about says what a workload is, and what is asked of it.
func about(w *poolwrightv1.WorkloadResult) string {
	s := fmt.Sprintf("%s: %.0f requests", w.GetWorkload(), w.GetRequests())
	if w.Objective == nil {
		return s + ", without an SLO"
	}
	var limits []string
	if l := w.GetTtft(); l.GetLimit() > 0 {
		limits = append(limits, "TTFT "+latency(inSeconds(l.GetLimit())))
	}
	if l := w.GetItl(); l.GetLimit() > 0 {
		limits = append(limits, "ITL "+latency(inSeconds(l.GetLimit())))
	}
	return s + fmt.Sprintf(", of which %.4g %% must be within the SLO (%s)", 100*w.GetObjective(), strings.Join(limits, ", "))
}

// verdict says under which autoscalers the SLO holds, and at what cost.
func verdict(m *poolwrightv1.SimulationResult) string {
	name := m.GetName()
	if name != "" {
		name += ": "
	}
	var met []*poolwrightv1.AutoscalerResult
	for _, a := range m.GetAutoscalers() {
		if metObjectives(a) {
			met = append(met, a)
		}
	}
	switch {
	case len(met) == 0:
		return name + "the SLO is missed."
	case !slices.ContainsFunc(workloads(m), func(w *poolwrightv1.WorkloadResult) bool { return w.Objective != nil }):
		return name + "no workload has an SLO."
	case len(m.GetAutoscalers()) == 1:
		return name + fmt.Sprintf("the SLO holds, at a cost of %s.", money(met[0].GetCost().GetMean()))
	}
	slices.SortStableFunc(met, func(a, b *poolwrightv1.AutoscalerResult) int {
		return cmp.Compare(a.GetCost().GetMean(), b.GetCost().GetMean())
	})
	var texts []string
	for _, a := range met {
		texts = append(texts, fmt.Sprintf("%s (%s)", a.GetName(), money(a.GetCost().GetMean())))
	}
	return name + "the SLO holds under " + strings.Join(texts, ", ") + "."
}

// anyMet tells whether the SLO holds under any autoscaler.
func anyMet(m *poolwrightv1.SimulationResult) bool {
	return slices.ContainsFunc(m.GetAutoscalers(), metObjectives)
}

// metObjectives tells whether as many requests of every workload were within its SLO as
// must be.
func metObjectives(a *poolwrightv1.AutoscalerResult) bool {
	return !slices.ContainsFunc(a.GetWorkloads(), func(w *poolwrightv1.WorkloadResult) bool { return !metObjective(w) })
}

func metObjective(w *poolwrightv1.WorkloadResult) bool {
	return reached(w.GetAttainment(), w.Objective)
}

// reached is true of what nothing arrived for, and of what nothing is asked of.
func reached(e *poolwrightv1.Estimate, objective *float64) bool {
	return e == nil || objective == nil || e.GetMean() >= *objective
}

// conditions says what the numbers hold for.
func conditions(m *poolwrightv1.SimulationResult) string {
	s := fmt.Sprintf("%s of arrivals", span(m.GetDuration()))
	if m.GetWarmup().AsDuration() > 0 {
		s += fmt.Sprintf(" after %s that do not count", span(m.GetWarmup()))
	}
	if n := len(m.GetSeeds()); n > 1 {
		s += fmt.Sprintf("; means over %d seeds, with 95 %% confidence intervals of the regret", n)
	}
	if slices.ContainsFunc(m.GetAutoscalers(), func(a *poolwrightv1.AutoscalerResult) bool { return !metObjectives(a) }) {
		s += ";" + missed + " marks what is below its objective"
	}
	return s + "."
}

func workloads(m *poolwrightv1.SimulationResult) []*poolwrightv1.WorkloadResult {
	if len(m.GetAutoscalers()) == 0 {
		return nil
	}
	return m.GetAutoscalers()[0].GetWorkloads()
}

// sweep prints a line for each point and autoscaler.
func (t *table) sweep(m *poolwrightv1.Sweep) {
	t.line(slices.Concat(dimensionNames(m.GetDimensions()), []string{"AUTOSCALER", "COST", "DEVICE-H", "IN SLO", "UNMET", "EVENTS", "REGRET"})...)
	marked := false
	for _, p := range m.GetResults() {
		cells := p.GetValues()
		for _, a := range p.GetResult().GetAutoscalers() {
			t.line(slices.Concat(cells, []string{a.GetName()}, totals(a), []string{regret(point(a.GetRegret()))})...)
			marked = marked || !metObjectives(a)
			cells = make([]string, len(cells))
		}
	}
	if s := m.GetShard(); s != nil {
		t.section()
		t.line(fmt.Sprintf("Shard %d/%d with %d of %d points.", s.GetIndex(), s.GetCount(), len(m.GetResults()), m.GetPoints()))
	}
	if marked {
		t.section()
		t.line("✗ marks where a workload is below its objective.")
	}
}

// dimensionNames are the ends of paths, as long as it takes to tell them apart.
func dimensionNames(dimensions []*poolwrightv1.SweepDimension) []string {
	names := make([]string, len(dimensions))
	for i, d := range dimensions {
		words := strings.Split(d.GetPath(), ".")
		for n := min(2, len(words)); n <= len(words); n++ {
			names[i] = strings.Join(words[len(words)-n:], ".")
			ambiguous := slices.ContainsFunc(dimensions, func(other *poolwrightv1.SweepDimension) bool {
				return other != d && strings.HasSuffix("."+other.GetPath(), "."+names[i])
			})
			if !ambiguous {
				break
			}
		}
	}
	return names
}

// money writes hundredths below ten thousand.
func money(v float64) string {
	if v >= 1e4 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// whole writes a mean of counts.
func whole(e *poolwrightv1.Estimate) string { return fmt.Sprintf("%.0f", e.GetMean()) }

// attained writes a share of requests, marked where it is not enough. It is rounded down, so
// that 100 % is all of them.
func attained(e *poolwrightv1.Estimate, enough bool) string {
	if e == nil {
		return "–"
	}
	s := fmt.Sprintf("%.2f %%", math.Floor(1e4*e.GetMean()+1e-6)/100)
	if !enough {
		s += missed
	}
	return s
}

// regret has its confidence interval where there is one.
func regret(e *poolwrightv1.Estimate) string {
	switch {
	case e == nil:
		return "–"
	case e.Lower == nil || e.Upper == nil:
		return tenths(e.GetMean()) + " %"
	}
	return fmt.Sprintf("%s %% (%s to %s)", tenths(e.GetMean()), tenths(e.GetLower()), tenths(e.GetUpper()))
}

// point is an estimate without its interval.
func point(e *poolwrightv1.Estimate) *poolwrightv1.Estimate {
	if e == nil {
		return nil
	}
	return &poolwrightv1.Estimate{Mean: e.GetMean()}
}

// tenths writes tenths of a percent below a hundred, and no zero with a sign.
func tenths(v float64) string {
	if math.Abs(v) >= 1 {
		return fmt.Sprintf("%.0f", 100*v)
	}
	return fmt.Sprintf("%.1f", math.Round(1000*v)/10+0) // -0 + 0 is 0
}

func seconds(e *poolwrightv1.Estimate) string {
	if e == nil {
		return "–"
	}
	if v := e.GetMean(); v < 100 {
		return latency(inSeconds(v))
	}
	return fmt.Sprintf("%.0f s", e.GetMean())
}

func inSeconds(v float64) *durationpb.Duration {
	return durationpb.New(time.Duration(v * float64(time.Second)))
}

// span writes a duration without the zeros at its end.
func span(d *durationpb.Duration) string {
	s := d.AsDuration().String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
