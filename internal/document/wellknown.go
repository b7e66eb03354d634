package document

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// mapping is how a message is read and written that stands as a scalar.
type mapping struct {
	decode func(*decoder, int32, protoreflect.Message) bool
	encode func(*encoder, protoreflect.Message) error
}

// wellKnown returns the mapping of a message that has one of its own.
func wellKnown(m protoreflect.MessageDescriptor) (own mapping, ok bool) {
	switch m.FullName() {
	case "google.protobuf.Duration":
		return mapping{(*decoder).duration, (*encoder).duration}, true
	case "google.protobuf.Timestamp":
		return mapping{(*decoder).timestamp, (*encoder).timestamp}, true
	}
	return mapping{}, false
}

// maxDurationSeconds is what a Duration can hold, 10,000 years.
const maxDurationSeconds = 315_576_000_000

func (d *decoder) duration(at int32, m protoreflect.Message) bool {
	n := &d.nodes[at]
	const expected = `a duration such as "50ms", "1m30s" or "0.05s"`
	switch {
	case n.kind == Number:
		d.fail(at, "expected %s, got %s: add a unit", expected, d.describe(at))
		return false
	case n.kind != String:
		d.mistyped(at, expected)
		return false
	}
	seconds, nanos, ok := parseDuration(d.text(at))
	switch {
	case !ok:
		d.mistyped(at, expected)
		return false
	case seconds > maxDurationSeconds || seconds < -maxDurationSeconds:
		d.fail(at, "duration %s is out of range: at most %ds", shorten(d.text(at)), maxDurationSeconds)
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
	t, err := time.Parse(time.RFC3339Nano, d.text(at))
	if err != nil {
		d.mistyped(at, expected)
		return false
	}
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		d.fail(at, "time %s is out of range: from year 1 to 9999", d.text(at))
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

// secondsNanos reads a Duration or a Timestamp.
func secondsNanos(m protoreflect.Message) (seconds, nanos int64) {
	fields := m.Descriptor().Fields()
	return m.Get(fields.ByNumber(1)).Int(), m.Get(fields.ByNumber(2)).Int()
}

func (e *encoder) duration(m protoreflect.Message) error {
	seconds, nanos := secondsNanos(m)
	d := &durationpb.Duration{Seconds: seconds, Nanos: int32(nanos)} //nolint:gosec // the field has 32 bits
	if err := d.CheckValid(); err != nil {
		return err
	}
	e.out = append(e.out, '"')
	if seconds < 0 || nanos < 0 {
		e.out = append(e.out, '-')
		seconds, nanos = -seconds, -nanos
	}
	e.out = strconv.AppendInt(e.out, seconds, 10)
	e.fraction(nanos)
	e.out = append(e.out, "s\""...)
	return nil
}

func (e *encoder) timestamp(m protoreflect.Message) error {
	seconds, nanos := secondsNanos(m)
	t := &timestamppb.Timestamp{Seconds: seconds, Nanos: int32(nanos)} //nolint:gosec // the field has 32 bits
	if err := t.CheckValid(); err != nil {
		return err
	}
	e.out = append(e.out, '"')
	e.out = time.Unix(seconds, 0).UTC().AppendFormat(e.out, "2006-01-02T15:04:05")
	e.fraction(nanos)
	e.out = append(e.out, "Z\""...)
	return nil
}

// fraction writes parts of a second with no, three, six or nine digits.
func (e *encoder) fraction(nanos int64) {
	if nanos == 0 {
		return
	}
	one := int64(1e9)
	for nanos%1000 == 0 {
		nanos /= 1000
		one /= 1000
	}
	point := len(e.out)
	e.out = strconv.AppendInt(e.out, one+nanos, 10)
	e.out[point] = '.'
}
