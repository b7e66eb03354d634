package message

import (
	"errors"
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/planner"
)

// Violation is one mistake in a message.
type Violation struct {
	// Path of the field, such as workloads[3].slo.ttft.
	Path    string
	Message string
}

// Violations are all mistakes in a message. As an error it lists every one.
type Violations []Violation

// Error lists the violations, one a line.
func (v Violations) Error() string {
	lines := make([]string, len(v))
	for i, x := range v {
		lines[i] = x.Path + ": " + x.Message
	}
	return strings.Join(lines, "\n")
}

// add appends a violation.
func (v *Violations) add(path, format string, args ...any) {
	*v = append(*v, Violation{path, fmt.Sprintf(format, args...)})
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

// unjoin returns the parts of a joined error, or the error itself.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the parts, not a cause
		return joined.Unwrap()
	}
	return []error{err}
}
