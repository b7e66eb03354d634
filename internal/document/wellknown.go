package document

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// wellKnown returns how a message is read that is written as a scalar, nil for all
// others.
func wellKnown(m protoreflect.MessageDescriptor) func(*decoder, int32, protoreflect.Message) bool {
	switch m.FullName() {
	case "google.protobuf.Duration":
		return (*decoder).duration
	case "google.protobuf.Timestamp":
		return (*decoder).timestamp
	}
	return nil
}

// maxDurationSeconds is what a Duration can hold, 10,000 years.
const maxDurationSeconds = 315_576_000_000

func (d *decoder) duration(at int32, m protoreflect.Message) bool {
	n := &d.nodes[at]
	const expected = `a duration such as "50ms", "1m30s" or "0.05s"`
	switch {
	case n.kind == Number:
		d.fail(at, "expected %s, got %s: add a unit", expected, n.describe())
		return false
	case n.kind != String:
		d.mistyped(at, expected)
		return false
	}
	seconds, nanos, ok := parseDuration(n.text)
	switch {
	case !ok:
		d.mistyped(at, expected)
		return false
	case seconds > maxDurationSeconds || seconds < -maxDurationSeconds:
		d.fail(at, "duration %s is out of range: at most %ds", shorten(n.text), maxDurationSeconds)
		return false
	}
	setSecondsNanos(m, seconds, nanos)
	return true
}

// parseDuration reads protojson's seconds, which may exceed Go's range, or Go's
// syntax.
func parseDuration(text string) (seconds int64, nanos int32, ok bool) {
	number, _ := strings.CutSuffix(text, "s")
	whole, fraction, _ := strings.Cut(number, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err == nil && number != text && len(fraction) <= 9 && digits(fraction) == len(fraction) {
		nanos, ok := parseNanos(fraction)
		if strings.HasPrefix(whole, "-") {
			nanos = -nanos
		}
		return seconds, nanos, ok
	}
	v, err := time.ParseDuration(text)
	return int64(v / time.Second), int32(v % time.Second), err == nil
}

// parseNanos reads up to nine digits after the point.
func parseNanos(fraction string) (int32, bool) {
	n, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 32)
	return int32(n), err == nil
}

func (d *decoder) timestamp(at int32, m protoreflect.Message) bool {
	n := &d.nodes[at]
	const expected = `a time such as "2026-01-31T12:00:00Z"`
	if n.kind != String {
		d.mistyped(at, expected)
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, n.text)
	if err != nil {
		d.mistyped(at, expected)
		return false
	}
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		d.fail(at, "time %s is out of range: from year 1 to 9999", n.text)
		return false
	}
	setSecondsNanos(m, t.Unix(), int32(t.Nanosecond())) //nolint:gosec // less than a second
	return true
}

// setSecondsNanos fills a Duration or a Timestamp, whose fields have equal numbers.
func setSecondsNanos(m protoreflect.Message, seconds int64, nanos int32) {
	fields := m.Descriptor().Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfInt64(seconds))
	m.Set(fields.ByNumber(2), protoreflect.ValueOfInt32(nanos))
}
