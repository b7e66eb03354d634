package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/report"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
)

// slack is what a machine may be off that does other things too: that stands still for a
// moment, or becomes slower. Two minutes do not make up for that.
type slack struct {
	// refused is a part of the calls, in percent.
	refused float64
	// growth, live and median are by what was before.
	growth, live, median float64
}

// targets judge what was measured.
func (s *soaked) targets(o *options) []report.Target {
	var all []report.Target
	for _, p := range s.phases() {
		all = append(all,
			report.AtMost("calls that fail, "+p.name, float64(p.calls.failed), 0, ""),
			report.AtMost("longest time between two decisions, "+p.name, p.late, 2, " intervals"))
	}
	refused := 100 * float64(s.steady.calls.shed+s.recovery.calls.shed) / float64(s.steady.calls.calls+s.recovery.calls.calls)
	bound := slack{growth: 1.1, live: 1.25, median: 3}
	if o.quick {
		bound = slack{refused: 5, growth: 1.5, live: 1.5, median: 10}
	} else {
		all = append(all, report.AtMost("99th percentile of latency, at the rate", 1e3*s.steady.calls.quantile(0.99), 25, " ms"))
	}
	return append(all,
		report.AtMost("calls that are refused at the rate, before and after", refused, bound.refused, " %"),
		report.AtLeast("calls that are refused at the multiple", float64(s.overload.calls.shed), 1, ""),
		report.AtLeast("calls that are answered at the multiple, by those at the rate",
			float64(s.overload.calls.answered)/s.overload.seconds/(float64(s.steady.calls.answered)/s.steady.seconds), 1, ""),
		report.AtMost("growth of resident memory at the rate", growth(s.steady.samples, resident), bound.growth, ""),
		report.AtMost("growth of goroutines at the rate", growth(s.steady.samples, goroutines), bound.growth, ""),
		report.AtMost("live memory after the multiple, by before", least(s.recovery.samples, heap)/least(late(s.steady.samples), heap), bound.live, ""),
		report.AtMost("goroutines after the multiple, by before", most(s.recovery.samples, goroutines)/most(late(s.steady.samples), goroutines), bound.growth, ""),
		report.AtMost("median of latency after the multiple, by before", s.recovery.calls.quantile(0.5)/s.steady.calls.quantile(0.5), bound.median, ""),
	)
}

func missed(all []report.Target) bool {
	for _, t := range all {
		if !t.Met {
			return true
		}
	}
	return false
}

// named is a phase with what it is called.
type named struct {
	name string
	*phase
}

func (s *soaked) phases() []named {
	return []named{{"at the rate", &s.steady}, {overloading, &s.overload}, {"at the rate again", &s.recovery}}
}

func goroutines(s sample) float64 { return s.goroutines }
func resident(s sample) float64   { return s.resident }
func heap(s sample) float64       { return s.heap }

// late is the last quarter of samples.
func late(all []sample) []sample { return all[3*len(all)/4:] }

// growth is the most in the last quarter by the most in the second one.
func growth(all []sample, of func(sample) float64) float64 {
	return most(late(all), of) / most(all[len(all)/4:len(all)/2], of)
}

func most(all []sample, of func(sample) float64) float64 {
	value := 0.
	for _, s := range all {
		value = max(value, of(s))
	}
	return value
}

// least of what was in use leaves out what was so by calls under way.
func least(all []sample, of func(sample) float64) float64 {
	value := of(all[0])
	for _, s := range all {
		value = min(value, of(s))
	}
	return value
}

// page says what was measured, in Markdown.
func (s *soaked) page(o *options, began time.Time) string {
	judged := table.Table{Title: "Targets", Columns: table.Columns("target", "wanted", "measured", "met")}
	for _, t := range s.targets(o) {
		judged.Add(t.Name, t.Wanted, t.Measured, map[bool]string{true: "yes", false: "no"}[t.Met])
	}
	calls := table.Table{Title: "Calls", Columns: table.Columns("phase", "calls/s", "time", "calls", "answered", "refused", "failed", "p50, ms", "p90, ms", "p99, ms", "p99.9, ms", "longest, ms")}
	process := table.Table{Title: "The process", Columns: table.Columns("phase", "processors, clients", "processors, server", "processors, stolen", "resident memory at most, MB", "live memory at least, MB", "goroutines at most", "longest time between decisions, intervals")}
	for _, p := range s.phases() {
		c := &p.calls
		rate := fmt.Sprintf("%g", p.rate)
		if math.IsNaN(p.rate) {
			rate = "as many as come"
		}
		calls.Add(p.name, rate, time.Duration(p.seconds*1e9).Round(time.Second).String(), fmt.Sprint(c.calls), fmt.Sprint(c.answered), fmt.Sprint(c.shed), fmt.Sprint(c.failed),
			milliseconds(c.quantile(0.5)), milliseconds(c.quantile(0.9)), milliseconds(c.quantile(0.99)), milliseconds(c.quantile(0.999)), milliseconds(c.longest.Seconds()))
		process.Add(p.name, fmt.Sprintf("%.2f", p.clients), fmt.Sprintf("%.2f", p.server), fmt.Sprintf("%.2f", p.stolen),
			fmt.Sprintf("%.1f", most(p.samples, resident)/1e6), fmt.Sprintf("%.1f", least(p.samples, heap)/1e6),
			fmt.Sprint(most(p.samples, goroutines)), fmt.Sprintf("%.2f", p.late))
	}
	host := table.Table{
		Title:   fmt.Sprintf("At the rate, in windows of %s, by what the host took of the processors", windowLength),
		Columns: table.Columns("processors, stolen", "windows", "calls", "refused", "p50, ms", "p90, ms", "p99, ms", "p99.9, ms"),
	}
	from := 0.
	for _, to := range []float64{0.02, 0.05, 0.1, 0.2, 0.5, math.Inf(1)} {
		var windows []window
		for _, w := range s.steady.windows {
			if w.stolen >= from && w.stolen < to {
				windows = append(windows, w)
			}
		}
		if c := together(windows); len(windows) > 0 {
			host.Add(between(from, to), fmt.Sprint(len(windows)), fmt.Sprint(c.calls), fmt.Sprint(c.shed),
				milliseconds(c.quantile(0.5)), milliseconds(c.quantile(0.9)), milliseconds(c.quantile(0.99)), milliseconds(c.quantile(0.999)))
		}
		from = to
	}
	multiple := fmt.Sprintf("%g times as many", o.factor)
	if o.quick {
		multiple = fmt.Sprintf("%d at a time", atOnce*o.clients)
	}
	rest := ""
	if o.awake {
		rest = "Processors are kept from resting by a process each of idle priority, for which nothing else waits (`-awake`): a host is slow to give back one that rested.\n"
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `# Under load, for long

What a process of `+"`poolwright serve`"+` does while it is asked for plans without a break and its loop plans the built-in fleet every %s:
%g calls of Optimize per second, of %d workloads each, from %d connections; then %s; then as many as at first. Calls come at random
times that do not depend on answers, and latency counts from the time at which a call should have been sent. Clients and server share the machine, and
what its host gives to others of it meanwhile is called stolen.
%s`+"`make soak`"+` measures this and writes this page.

%s

%s

%s

%s
`, o.interval, o.rate, o.workloads, o.clients, multiple, rest, judged.Markdown(), calls.Markdown(), host.Markdown(), process.Markdown())
	for _, p := range s.phases() {
		if p.calls.failed > 0 {
			_, _ = fmt.Fprintf(&b, "\nThe first call that failed %s: %v\n", p.name, p.calls.failure)
		}
	}
	_, _ = fmt.Fprintf(&b, "\nMeasured on %s, %s.\nProgram: %s.\n",
		began.UTC().Format(time.DateOnly), machine.Describe(), strings.ReplaceAll(s.version, "\n", ", "))
	return b.String()
}

// between names a range.
func between(from, to float64) string {
	if math.IsInf(to, 1) {
		return fmt.Sprintf("%g and more", from)
	}
	return fmt.Sprintf("%g to %g", from, to)
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.3g", 1e3*seconds) }
