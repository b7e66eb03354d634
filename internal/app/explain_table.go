package app

import (
	"fmt"
	"strings"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// explanation prints the plan and what follows from it.
func (t *table) explanation(m *poolwrightv1.Explanation) {
	t.plan(m.GetPlan())
	t.reasons("What would serve all:", shortage(m.GetShortage()))
	t.reasons("Fewer or more devices:", append(reasonsOf(m.GetChanges()), reasonsOf(m.GetCommitments())...))
	t.reasons("How far prices per device may move, with the plan still optimal:", reasonsOf(m.GetPrices()))
	t.reasons("Variants not used, and the price below which they would be:", atMost(mostUnused, reasonsOf(m.GetUnused())))
	if len(m.GetCurves()) > 0 {
		t.section()
		t.curves(m.GetCurves())
	}
	if left := m.GetLeftOut(); len(left) > 0 {
		t.section()
		t.wrapped("Left out: ", strings.Join(left, "; "))
	}
}

// mostUnused is the number of unused variants that people get to see.
const mostUnused = 10

// reasoned is a part of an explanation.
type reasoned interface{ GetReason() string }

func reasonsOf[T reasoned](parts []T) []string {
	reasons := make([]string, 0, len(parts))
	for _, p := range parts {
		reasons = append(reasons, p.GetReason())
	}
	return reasons
}

func shortage(m *poolwrightv1.Shortage) []string {
	reasons := reasonsOf(m.GetHopeless())
	reasons = append(reasons, reasonsOf(m.GetIncreases())...)
	return append(reasons, reasonsOf(m.GetRelaxations())...)
}

// atMost leaves out what goes beyond a number of lines, and says how many.
func atMost(n int, lines []string) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n:n], fmt.Sprintf("and %d more", len(lines)-n))
}

// reasons prints a title and lines below it, if there are any.
func (t *table) reasons(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	t.section()
	t.line(title)
	for _, line := range lines {
		t.wrapped("  ", line)
	}
}

func (t *table) curves(curves []*poolwrightv1.DemandCurve) {
	t.line("DEMAND OF", "TIMES", "PRICE/H", "OBJECTIVE", "AT LEAST", "UNMET/S")
	for _, c := range curves {
		name := c.GetWorkload()
		if name == "" {
			name = "all"
		}
		for _, p := range c.GetPoints() {
			left := unmet(p.GetUnmetRps())
			if left != "" && p.GetProof() == poolwrightv1.Plan_FEASIBLE {
				left = "≤ " + left
			}
			t.line(name, number(p.GetFactor()), fmt.Sprintf("%.2f", p.GetPricePerHour()),
				fmt.Sprintf("%.2f", p.GetObjective().GetHigh()), fmt.Sprintf("%.2f", p.GetObjective().GetLow()), left)
			name = ""
		}
	}
}
