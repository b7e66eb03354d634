package message

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Complete adds to the mistakes in a document's text those in the meaning of the
// request, as far as it could be read, so that all come in one error. Errors that
// are no [*document.Error] stay as they are.
func Complete(m proto.Message, err error) error {
	return CompleteWith(err, func() error { return check(m) })
}

// CompleteSimulation is [Complete] for simulations whose files of requests may be opened.
func CompleteSimulation(m *poolwrightv1.Simulation, open Opener, err error) error {
	return CompleteWith(err, func() error { _, err := Simulation(m, open); return err })
}

// CompleteWith is [Complete] with what reports mistakes in the meaning, as [Violations].
func CompleteWith(err error, check func() error) error {
	var text *document.Error
	if !errors.As(err, &text) {
		return err
	}
	var all Violations
	for _, v := range text.Violations {
		all.add(v.Path, "%s", located(v))
	}
	if text.Omitted > 0 {
		all.add("", "%d more mistakes in the text", text.Omitted)
	}
	var meaning Violations
	if errors.As(check(), &meaning) {
		for _, v := range meaning {
			if !unread(v.Path, text.Violations) {
				all = append(all, v)
			}
		}
	}
	return all.sorted()
}

// check reports mistakes in the meaning of a request.
func check(m proto.Message) (err error) {
	switch m := m.(type) {
	case *poolwrightv1.Fleet:
		_, err = Fleet(m)
	case *poolwrightv1.Measurements:
		_, err = Measurements(m)
	case *poolwrightv1.Overlay:
		_, err = Overlay(m)
	case *poolwrightv1.Simulation:
		_, err = Simulation(m, NoFiles)
	}
	return err
}

// located is the message of a violation with its place in the document.
func located(v document.Violation) string {
	switch {
	case v.Line == 0:
		return v.Message
	case v.Column == 0:
		return fmt.Sprintf("%s (line %d)", v.Message, v.Line)
	}
	return fmt.Sprintf("%s (line %d, column %d)", v.Message, v.Line, v.Column)
}

// unread tells whether a field, or something it contains or is contained in, could
// not be read: what it means can't be judged then.
func unread(path string, text []document.Violation) bool {
	for _, v := range text {
		if within(path, v.Path) || within(v.Path, path) {
			return true
		}
	}
	return false
}

// within tells whether a path is another or lies below it.
func within(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (rest == "" || parent == "" || rest[0] == '.' || rest[0] == '[')
}
