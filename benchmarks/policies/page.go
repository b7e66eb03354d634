package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/poolwright/poolwright/benchmarks/internal/machine"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// page is what was found.
type page struct {
	options    options
	date       time.Time
	took       time.Duration
	days       []*day
	transients []*transient
}

// pageFile is its file in the folder of the documentation.
const pageFile = "policy-comparison.md"

const pageHead = `# Poolwright's loop beside other autoscalers

Written by ` + "`make compare-policies`" + `, which fails when a target is missed. [autoscalers.md](autoscalers.md) says what is compared, with the
settings that were tried, and [simulation.md](simulation.md) what is simulated.

All meet the same arrivals, with equal seeds, in fleets that start alike. Costs are of the hindsight bound: what the cheapest replicas cost
which sustain the rate of every window, with its lengths of requests, where both are known in advance and start-ups begin in time. The clairvoyant
follows that schedule. Attainment is the share of requests within the SLO, of the service class with the least.

`

const daysHead = `## Days

Each of the others is shown in its best setting: the cheapest of its grid that attains as much as Poolwright in every class; where there is none, the
cheapest that has 99 % of every class within the SLO; where there is none, the one that attains most. The whole grid runs with the first seed; what
may be the best runs with all of them. Intervals are 95 % over seeds. Static peak knows the highest rate of the day in advance.

Recorded traffic is not part of this repository. The Azure trace of an hour (Azure/AzurePublicDataset, CC-BY-4.0) is resampled at ten times its rate,
each day of ServeGen (alibaba/ServeGen, Apache-2.0) at as many times its own as its scenario in ` + "`benchmarks/policies/scenarios`" + ` says: arrivals are Poisson at
the rate of each window, and requests have lengths of others in that window.

`

const bandsHead = `## What bounds cost and attainment

Demand that changes faster than replicas start cannot be followed, only met by headroom or missed. Poolwright plans for an upper quantile of what demand
may be when replicas asked for now serve: a higher one costs more and misses less. Where neither end of this table meets both targets, no headroom does: it
is what cannot be foreseen, rates and lengths of requests that jump within a start-up, which bounds them. What that is in the
recorded hour, and why others reach more there at their best of 200 settings, is in [design/0007](design/0007-lengths-from-metrics.md).

`

const transientsHead = `## Short traces

Half an hour of a diurnal rate and a step from 30 to 120 requests/s and back, on replicas that sustain 44 requests/s. The bound here
counts replicas that serve alone, without start-ups. Reacting at once is an autoscaler that is told every change of the rate at the moment of the change.
From the step on, start-up, two cycles and the planned time of draining must pass before the objective holds again.

`

// judged is the table of targets.
func (p *page) judged() table.Table {
	t := table.Table{Title: "Targets", Columns: table.Columns("what", "measured", "target", "met")}
	for _, x := range p.targets() {
		met := "yes"
		if !x.met {
			met = "**no**"
		}
		t.Add(x.name, x.measured, x.bound, met)
	}
	return t
}

// table has a row for each kind.
func (d *day) table() table.Table {
	requests := 0.0
	for _, w := range d.ours().result.GetWorkloads() {
		requests += w.GetRequests()
	}
	t := table.Table{
		Title: fmt.Sprintf("%s: %.2f million requests; %s for %d runs", d.name, requests/1e6, d.took.Round(time.Second), d.runs()),
		Columns: table.Columns("autoscaler", "setting", "attained", "interval", "cost, of the bound's", "interval", "device-hours",
			"changes", "cheapest with 99 %"),
	}
	for i := range d.kinds {
		k := &d.kinds[i]
		o := k.best(d.ours())
		regret := o.result.GetRegret()
		good := "none"
		if c := k.cheapest(func(o *outcome) bool { return o.meets(objective) }); c != nil {
			good = fmt.Sprintf("%s: %s", c.name, ratio(c.cost()))
		}
		t.Add(k.name, o.name, percent(o.attainment()), o.interval(), ratio(o.cost()),
			span(regret, func(x float64) string { return ratio(1 + x) }),
			fmt.Sprintf("%.0f", o.result.GetDeviceHours().GetMean()), fmt.Sprintf("%.0f", o.result.GetScaleEvents().GetMean()), good)
	}
	return t
}

// interval is that of the attainment of the class with the least.
func (o *outcome) interval() string {
	for _, c := range o.result.GetClasses() {
		if a := c.GetAttainment(); a.GetMean() == o.attainment() {
			return span(a, func(x float64) string { return percent(min(1, x)) })
		}
	}
	return ""
}

// span is the interval of an estimate; a single seed has none.
func span(e *poolwrightv1.Estimate, text func(float64) string) string {
	if e.Lower == nil || e.Upper == nil {
		return "–"
	}
	return text(e.GetLower()) + "–" + text(e.GetUpper())
}

// leftOut says what this run leaves out of the whole.
func (p *page) leftOut() string {
	if p.options.full() {
		return ""
	}
	var alone []string
	for _, d := range p.days {
		if !p.options.compares(d.name) {
			alone = append(alone, d.name)
		}
	}
	text := fmt.Sprintf("**This run leaves something out** (`-grid %s -seeds %d`): each day has the first %d of three seeds.",
		strings.Join(p.options.grid, ","), p.options.seeds, p.options.seeds)
	if alone != nil {
		text += fmt.Sprintf(" Others than Poolwright, static peak and the clairvoyant are not compared on: %s.", strings.Join(alone, ", "))
	}
	return text + "\n\n"
}

// runs is the number of simulations.
func (d *day) runs() int {
	n := 0
	for _, k := range d.kinds {
		n += len(k.tried) + len(k.settings)*len(d.result.GetSeeds())
	}
	return n
}

// transientTable has a row for each trace and start-up.
func (p *page) transientTable() table.Table {
	t := table.Table{Title: "Short traces", Columns: table.Columns("trace", "start-up", "attained", "after the step's drain", "device-seconds", "of the bound's",
		"bound", "reacting at once", "its device-seconds")}
	for _, x := range p.transients {
		outside := "–"
		if x.step > 0 {
			outside = percent(x.outside)
		}
		t.Add(x.name, x.startup.String(), percent(x.ours.Attainment.Mean), outside, fmt.Sprintf("%.0f", x.oursDeviceSeconds),
			ratio(x.oursDeviceSeconds/x.bound), fmt.Sprintf("%.0f", x.bound), percent(x.reactive.Attainment.Mean), fmt.Sprintf("%.0f", x.reactiveDeviceSeconds))
	}
	return t
}

func (p *page) text() string {
	var b strings.Builder
	judged := p.judged()
	b.WriteString(judged.Text())
	if len(p.days) > 0 {
		t := p.bandTable()
		b.WriteString(t.Text())
	}
	if len(p.transients) > 0 {
		t := p.transientTable()
		b.WriteString(t.Text())
	}
	return b.String()
}

func (p *page) markdown() string {
	var b strings.Builder
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "%s, %s, in %s.\n\n", machine.Describe(), p.date.UTC().Format(time.DateOnly), p.took.Round(time.Minute))
	b.WriteString(p.leftOut())
	judged := p.judged()
	b.WriteString(judged.Markdown() + "\n" + daysHead)
	for _, f := range p.figures() {
		fmt.Fprintf(&b, "![%s](policy-comparison/%s)\n\n", f.figure.Title, f.file)
	}
	for _, d := range p.days {
		t := d.table()
		b.WriteString(t.Markdown() + "\n")
	}
	headroom := p.bandTable()
	b.WriteString(bandsHead + headroom.Markdown() + "\n")
	t := p.transientTable()
	b.WriteString(transientsHead + t.Markdown() + p.longStart())
	return b.String()
}

// longStart says what a start-up of four minutes costs.
func (p *page) longStart() string {
	for _, x := range p.transients {
		if x.step == 0 || x.startup < 4*time.Minute {
			continue
		}
		return fmt.Sprintf(`
A step that nobody announces and replicas that take %s to start: %s of all requests are within the SLO, %s under an autoscaler that
is told the step at once. One replica sustains 44 of 120 requests/s meanwhile, so that more than 18,000 wait when the others serve. What is asked for the
rate alone hardly exceeds it, and works them off for the rest of the step; Poolwright asks for replicas to work them off too, which is what it pays for beyond
short start-ups: %s of the bound's. What it misses is bound by the start-up, not by the decision. Warm replicas or a
shorter start-up help, or a gateway that gives up old requests.
`, x.startup, percent(x.ours.Attainment.Mean), percent(x.reactive.Attainment.Mean), ratio(x.oursDeviceSeconds/x.bound))
	}
	return ""
}

// write writes the page and its figures.
func (p *page) write(docs string) error {
	folder := filepath.Join(docs, "policy-comparison")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, f := range p.figures() {
		if err := os.WriteFile(filepath.Join(folder, f.file), []byte(f.figure.SVG()), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(docs, pageFile), []byte(p.markdown()), 0o600)
}
