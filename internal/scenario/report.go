package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/planner"
)

// report prints what is new in the last cycle: what fails, what a person should know, and
// what is changed.
func (s *Script) report(err error) {
	failure := s.last.Failure
	if err != nil {
		failure = err.Error()
	}
	var news []string
	if failure != s.failure {
		news = append(news, orElse(failure, "nothing fails any more"))
	}
	s.failure = failure
	if err == nil {
		news = append(news, s.newConditions(&s.last.Decision)...)
		news = append(news, s.changes()...)
	}
	switch {
	case s.silent:
		return
	case len(news) == 0:
		s.quiet++
		return
	}
	s.flush()
	clock := s.clock()
	for _, n := range news {
		fmt.Fprintf(&s.out, "%s  %s\n", clock, n)
		clock = strings.Repeat(" ", len(clock))
	}
}

// flush prints the number of cycles in which nothing happened.
func (s *Script) flush() {
	if s.quiet > 0 {
		fmt.Fprintf(&s.out, "… %s without news\n", plural(s.quiet, "cycle"))
	}
	s.quiet = 0
}

// newConditions lists the conditions that were not there in the last cycle, and those
// that are not there any more.
func (s *Script) newConditions(d *planner.Decision) []string {
	var news []string
	now := map[string]map[planner.ConditionType]bool{}
	for i := range d.Plans {
		name := d.Fleet.Workloads[i].QualifiedName()
		now[name] = map[planner.ConditionType]bool{}
		for _, c := range d.Plans[i].Conditions {
			if !now[name][c.Type] && !s.conditions[name][c.Type] {
				news = append(news, fmt.Sprintf("%s %s: %s", name, c.Type, c.InWords()))
			}
			now[name][c.Type] = true
		}
		for _, t := range conditionTypes {
			if s.conditions[name][t] && !now[name][t] {
				news = append(news, fmt.Sprintf("%s %s is over", name, t))
			}
		}
	}
	s.conditions = now
	return news
}

// conditionTypes are all of them, in the order in which they are printed.
var conditionTypes = []planner.ConditionType{
	planner.Paused, planner.DemandUnknown, planner.LengthsUnknown, planner.DemandIncomplete, planner.ExternalChange,
	planner.ProfileMissing, planner.SLOInfeasible, planner.DemandUnmet, planner.Waiting,
}

// changes lists those of the last decision.
func (s *Script) changes() []string {
	var lines []string
	for _, c := range s.last.Decision.Changes {
		dropped := slices.IndexFunc(s.last.Dropped, func(d controller.Drop) bool {
			return d.Change.Workload == c.Workload && d.Change.Variant == c.Variant
		})
		line := fmt.Sprintf("%s/%s %d → %d", c.Workload, c.Variant, c.From, c.To)
		if c.Goal != c.To {
			line += fmt.Sprintf(" of %d", c.Goal)
		}
		if dropped >= 0 {
			line += " dropped, " + s.last.Dropped[dropped].Reason
		}
		lines = append(lines, line+": "+c.InWords())
	}
	return lines
}

// printState prints what there is of a workload, and what the last decision says of it.
func (s *Script) printState(i int) {
	w := &s.cluster.fleet.Workloads[i]
	fmt.Fprintf(&s.out, "%s: %.4g/s arrive, ready replicas complete %.4g/s", w.QualifiedName(),
		s.cluster.workloads[i].demand.At(s.cluster.now), s.cluster.Serving(i))
	if waiting := s.cluster.workloads[i].waiting; waiting >= 0.5 {
		fmt.Fprintf(&s.out, ", %.0f wait", waiting)
	}
	fmt.Fprintln(&s.out)
	plan := s.plan(w.QualifiedName())
	for j := range w.Variants {
		v := &s.cluster.workloads[i].variants[j]
		fmt.Fprintf(&s.out, "  %s: %d asked for, %d ready%s", w.Variants[j].Name, v.asked, v.count(ready), v.others())
		if plan != nil && plan.Variants[j].Size.Capacity > 0 {
			fmt.Fprintf(&s.out, "; %.4g/s each within the SLO", float64(plan.Variants[j].Size.Capacity))
		}
		fmt.Fprintln(&s.out)
	}
	if plan == nil {
		return
	}
	if p := plan.Prediction; p != nil {
		fmt.Fprintf(&s.out, "  predicted: TTFT %.3g s, at p95 %.3g s; ITL %.3g s; %.2g%% blocked\n",
			float64(p.TTFT.Mean), float64(p.TTFT.P95), float64(p.ITL.Mean), 100*p.BlockedShare)
	}
	for _, c := range plan.Conditions {
		fmt.Fprintf(&s.out, "  %s: %s\n", c.Type, c.InWords())
	}
}

// others says how many replicas are neither ready nor gone.
func (v *variant) others() string {
	text := ""
	for _, p := range []struct {
		phase phase
		name  string
	}{{starting, "starting"}, {pending, "pending"}, {leaving, "leaving"}} {
		if n := v.count(p.phase); n > 0 {
			text += fmt.Sprintf(", %d %s", n, p.name)
		}
	}
	return text
}

// plan is the last one of a workload, nil if there is none.
func (s *Script) plan(workload string) *planner.WorkloadPlan {
	d := &s.last.Decision
	for i := range d.Plans {
		if d.Fleet.Workloads[i].QualifiedName() == workload {
			return &d.Plans[i]
		}
	}
	return nil
}

// printTrail prints the steps of the last decision that concern a workload.
func (s *Script) printTrail(workload string) {
	for _, step := range s.last.Decision.Trail {
		if step.Subject != workload && !strings.HasPrefix(step.Subject, workload+"/") {
			continue
		}
		fmt.Fprintf(&s.out, "%s %s: %s", step.Stage, step.Subject, step.After)
		if step.Before != "" {
			fmt.Fprintf(&s.out, " instead of %s", step.Before)
		}
		if step.Reason != "" {
			fmt.Fprintf(&s.out, ": %s", step.InWords())
		}
		fmt.Fprintln(&s.out)
	}
}

// row is a line of the table of watch.
func (s *Script) row(changed int) []string {
	cells := []string{s.clock()}
	for i := range s.cluster.workloads {
		w := &s.cluster.workloads[i]
		cells = append(cells, fmt.Sprintf("%.1f/s", w.demand.At(s.cluster.now)))
		for j := range w.variants {
			cell := fmt.Sprint(w.variants[j].asked)
			if n := w.variants[j].count(ready); n != w.variants[j].asked {
				cell = fmt.Sprintf("%d of %d", n, w.variants[j].asked)
			}
			cells = append(cells, cell)
		}
	}
	return append(cells, fmt.Sprint(changed))
}

func (s *Script) header() []string {
	cells := []string{"time"}
	for i := range s.cluster.fleet.Workloads {
		w := &s.cluster.fleet.Workloads[i]
		cells = append(cells, w.QualifiedName())
		for j := range w.Variants {
			cells = append(cells, w.Variants[j].Name)
		}
	}
	return append(cells, "changes")
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
