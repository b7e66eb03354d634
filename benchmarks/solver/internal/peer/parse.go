package peer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Status is what a solver says of a program.
type Status int

const (
	// Optimal: proven within the gap asked for.
	Optimal Status = iota
	// Feasible: the time ran out with a plan.
	Feasible
	// Nothing: the time ran out without a plan.
	Nothing
	// Infeasible: proven to have no plan.
	Infeasible
)

// String returns the status in words.
func (s Status) String() string {
	return [...]string{"proven", "plan without proof", "no plan", "infeasible"}[s]
}

// outcome is what a run says.
type outcome struct {
	status Status
	// first is when the first plan was found, in seconds of the solver's own clock;
	// known only where it tells.
	first      float64
	firstKnown bool
	values     map[string]float64
}

var incumbent = regexp.MustCompile(`Integer solution of \S+ found .*\(([0-9.]+) seconds\)`)

// parseCBC reads the solution file: a line with the status, then number, name,
// value and reduced cost of every column that is not 0.
func parseCBC(log, solution string, _ []string) (outcome, error) {
	head, body, _ := strings.Cut(solution, "\n")
	o := outcome{values: map[string]float64{}}
	switch {
	case !strings.Contains(log, "read with 0 errors"):
		return o, fmt.Errorf("peer: CBC: model not read: %s", log)
	case strings.HasPrefix(head, "Optimal"):
		o.status = Optimal
	case strings.Contains(head, "nfeasible"):
		o.status = Infeasible
	case strings.Contains(head, "no integer solution"):
		o.status = Nothing
	case strings.HasPrefix(head, "Stopped"):
		o.status = Feasible
	default:
		return o, fmt.Errorf("peer: CBC: no status in %q", head)
	}
	if match := incumbent.FindStringSubmatch(log); match != nil {
		first, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			return o, fmt.Errorf("peer: CBC: %w", err)
		}
		o.first, o.firstKnown = first, true
	}
	if o.status > Feasible {
		return o, nil
	}
	for line := range strings.Lines(body) {
		// Stars mark what is slightly out of bounds.
		if fields := strings.Fields(strings.TrimPrefix(line, "**")); len(fields) >= 3 {
			if err := o.set(fields[1], fields[2]); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// parseGLPK reads the file written: a line "s mip rows columns status objective"
// and lines "j number value" of columns. That a plan is proven within a gap is
// printed only.
func parseGLPK(log, solution string, names []string) (outcome, error) {
	o := outcome{status: -1, values: map[string]float64{}}
	for line := range strings.Lines(solution) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 6 && fields[0] == "s":
			status, ok := map[string]Status{"o": Optimal, "f": Feasible, "u": Nothing, "n": Infeasible}[fields[4]]
			if !ok {
				return o, fmt.Errorf("peer: GLPK: no status in %q", line)
			}
			o.status = status
		case len(fields) == 3 && fields[0] == "j":
			n, err := strconv.Atoi(fields[1])
			if err != nil || n < 1 || n > len(names) {
				return o, fmt.Errorf("peer: GLPK: no column %q", fields[1])
			}
			if err := o.set(names[n-1], fields[2]); err != nil {
				return o, err
			}
		}
	}
	switch {
	case o.status < 0:
		return o, fmt.Errorf("peer: GLPK: no status in %q", solution)
	case o.status == Feasible && strings.Contains(log, "RELATIVE MIP GAP TOLERANCE REACHED"):
		o.status = Optimal
	}
	return o, nil
}

// parseLPSolve reads what was printed: lines "name value" between two headings.
func parseLPSolve(log, _ string, _ []string) (outcome, error) {
	o := outcome{values: map[string]float64{}}
	switch {
	case strings.Contains(log, "problem is infeasible"):
		o.status = Infeasible
		return o, nil
	case strings.HasPrefix(strings.TrimSpace(log), "Suboptimal solution"):
		o.status = Feasible
	case !strings.Contains(log, "Actual values of the variables:"):
		o.status = Nothing
		return o, nil
	}
	_, body, _ := strings.Cut(log, "Actual values of the variables:")
	body, _, _ = strings.Cut(body, "Actual values of the constraints:")
	for line := range strings.Lines(body) {
		if fields := strings.Fields(line); len(fields) == 2 {
			if err := o.set(fields[0], fields[1]); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

func (o *outcome) set(name, value string) error {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("peer: column %s: %w", name, err)
	}
	o.values[name] = x
	return nil
}
