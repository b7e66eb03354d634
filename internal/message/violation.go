package message

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/poolwright/poolwright/planner"
)

// Violation is one mistake in a message.
type Violation struct {
	// Path of the field, such as workloads[3].slo.ttft.
	Path    string
	Message string
}

// Violations are all mistakes in a message.
type Violations []Violation

// listed violations are printed, further ones only counted.
const listed = 100

// Listed is the violations that errors list: a hundred at most.
func (v Violations) Listed() Violations { return v[:min(len(v), listed)] }

// Error lists the violations, one a line: the first 100, and how many more there
// are.
func (v Violations) Error() string {
	lines := make([]string, 0, min(len(v), listed+1))
	for _, x := range v.Listed() {
		lines = append(lines, strings.TrimPrefix(x.Path+": "+x.Message, ": "))
	}
	if more := len(v) - listed; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// element is the path of an element of a list.
func element(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// join appends a path to that of its parent.
func join(parent, path string) string {
	if parent == "" || path == "" {
		return parent + path
	}
	return parent + "." + path
}

// add appends a violation.
func (v *Violations) add(path, format string, args ...any) {
	*v = append(*v, Violation{path, fmt.Sprintf(format, args...)})
}

// sorted orders the violations by path, indices by number.
func (v Violations) sorted() Violations {
	sort.SliceStable(v, func(a, b int) bool { return naturalLess(v[a].Path, v[b].Path) })
	return v
}

// err is nil without violations.
func (v Violations) err() error {
	if len(v) == 0 {
		return nil
	}
	return v
}

// OfPlanning turns the planner's complaints about variants into violations; other
// errors stay as they are.
func OfPlanning(err error) error {
	var violations Violations
	for _, e := range unjoin(err) {
		var variant *planner.VariantError
		if !errors.As(e, &variant) {
			return err
		}
		violations.add(fmt.Sprintf("workloads[%d].variants[%d]", variant.Workload, variant.Variant), "%v", variant.Err)
	}
	return violations.err()
}

// OfCalibration turns the complaints of package calibration into violations: they
// name the paths of samples and options themselves, but for one that messages name
// otherwise.
func OfCalibration(err error) Violations {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var violations Violations
		for _, e := range joined.Unwrap() {
			violations = append(violations, OfCalibration(e)...)
		}
		return violations
	}
	text := strings.TrimPrefix(err.Error(), "calibration: ")
	path, rest, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(path, " ") {
		path, rest = "", text
	}
	if path == "options.acceptedTokens" {
		path = "options.speculativeAcceptedTokens"
	}
	return Violations{{path, rest}}
}

// unjoin returns the parts of a joined error, or the error itself.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
