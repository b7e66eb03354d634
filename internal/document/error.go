package document

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxRecorded violations are kept; further ones are only counted.
	maxRecorded = 1000
	// maxListed violations are printed.
	maxListed = 50
)

// Violation is one mistake in a text.
type Violation struct {
	// Path of the value, such as workloads[3].slo.ttft.p95; empty for the whole document.
	Path string
	// Message says what is wrong and what would be right.
	Message string
	// Line and Column count from 1, in characters; 0 = not known.
	Line, Column int
}

// String is the violation on one line.
func (v Violation) String() string {
	var b strings.Builder
	if v.Line > 0 {
		b.WriteString("line " + strconv.Itoa(v.Line))
		if v.Column > 0 {
			b.WriteString(", column " + strconv.Itoa(v.Column))
		}
		b.WriteString(": ")
	}
	if v.Path != "" {
		b.WriteString(v.Path + ": ")
	}
	b.WriteString(v.Message)
	return b.String()
}

// Error is all mistakes in a text, in its order.
type Error struct {
	// Violations are the first 1,000 mistakes.
	Violations []Violation
	// Omitted is the number of further ones.
	Omitted int
}

// Error lists the mistakes, one a line: the first 50, and how many more there are.
func (e *Error) Error() string {
	listed := e.Violations[:min(len(e.Violations), maxListed)]
	lines := make([]string, 0, len(listed)+1)
	for _, v := range listed {
		lines = append(lines, v.String())
	}
	if more := e.Count() - len(listed); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Add records a violation, or counts it where there are too many already.
func (e *Error) Add(v Violation) {
	if e.full() {
		e.Omitted++
		return
	}
	e.Violations = append(e.Violations, v)
}

// addAll records the violations of a later part of the same text.
func (e *Error) addAll(part *Error) {
	for _, v := range part.Violations {
		e.Add(v)
	}
	e.Omitted += part.Omitted
}

// Count is the number of mistakes.
func (e *Error) Count() int { return len(e.Violations) + e.Omitted }

// OrNil is the error, or nil where nothing is wrong.
func (e *Error) OrNil() error {
	if len(e.Violations) == 0 {
		return nil
	}
	return e
}

// full tells that violations are only counted from here on.
func (e *Error) full() bool { return len(e.Violations) >= maxRecorded }

// failure is an error about one place, after which the text is not read on.
func failure(line, column int, format string, args ...any) *Error {
	return &Error{Violations: []Violation{{Message: fmt.Sprintf(format, args...), Line: line, Column: column}}}
}
