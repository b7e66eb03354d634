package document

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalar reads a value into a field's type. False follows a violation.
func (d *decoder) scalar(at int32, field protoreflect.FieldDescriptor) (protoreflect.Value, bool) {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return d.boolean(at)
	case protoreflect.StringKind:
		return d.string(at)
	case protoreflect.BytesKind:
		return d.bytes(at)
	case protoreflect.EnumKind:
		return d.enum(at, field.Enum())
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return d.float(at, field.Kind())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return d.unsigned(at, field.Kind())
	default:
		return d.integer(at, field.Kind())
	}
}

func (d *decoder) boolean(at int32) (protoreflect.Value, bool) {
	if d.nodes[at].kind != Bool {
		d.mistyped(at, "true or false")
		return protoreflect.Value{}, false
	}
	return protoreflect.ValueOfBool(d.text(at) == "true"), true
}

func (d *decoder) string(at int32) (protoreflect.Value, bool) {
	switch d.nodes[at].kind {
	case String:
		return protoreflect.ValueOfString(strings.Clone(d.text(at))), true
	case Number, Bool:
		d.fail(at, "expected a string, got %s: put it in quotes", d.describe(at))
	default:
		d.mistyped(at, "a string")
	}
	return protoreflect.Value{}, false
}

func (d *decoder) bytes(at int32) (protoreflect.Value, bool) {
	if d.nodes[at].kind != String {
		d.mistyped(at, "bytes in base64")
		return protoreflect.Value{}, false
	}
	text := d.text(at)
	encoding := base64.StdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	if len(text)%4 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	data, err := encoding.DecodeString(text)
	if err != nil {
		d.mistyped(at, "bytes in base64")
		return protoreflect.Value{}, false
	}
	return protoreflect.ValueOfBytes(data), true
}

func (d *decoder) enum(at int32, enum protoreflect.EnumDescriptor) (protoreflect.Value, bool) {
	kind, text := d.nodes[at].kind, d.text(at)
	values := enum.Values()
	switch kind {
	case String:
		if v := values.ByName(protoreflect.Name(text)); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), true
		}
	case Number:
		if i, err := strconv.ParseInt(text, 10, 32); err == nil {
			if v := values.ByNumber(protoreflect.EnumNumber(i)); v != nil {
				return protoreflect.ValueOfEnum(v.Number()), true
			}
		}
	default:
	}
	names := make([]string, values.Len())
	for i := range names {
		names[i] = string(values.Get(i).Name())
	}
	if name := Closest(text, names); kind == String && name != "" {
		d.fail(at, "expected %s, got %s; did you mean %s?", oneOf(names), d.describe(at), name)
	} else {
		d.mistyped(at, oneOf(names))
	}
	return protoreflect.Value{}, false
}

func (d *decoder) float(at int32, kind protoreflect.Kind) (protoreflect.Value, bool) {
	text, ok := d.number(at, "a number")
	if !ok {
		return protoreflect.Value{}, false
	}
	bits := 64
	if kind == protoreflect.FloatKind {
		bits = 32
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		d.fail(at, "number %s is out of range: at most %.3g", shorten(text), largest(bits))
		return protoreflect.Value{}, false
	}
	if kind == protoreflect.FloatKind {
		return protoreflect.ValueOfFloat32(float32(f)), true
	}
	return protoreflect.ValueOfFloat64(f), true
}

func largest(bits int) float64 {
	if bits == 32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// number returns the text of a finite number.
func (d *decoder) number(at int32, expected string) (string, bool) {
	kind, text := d.nodes[at].kind, d.text(at)
	switch {
	case kind == Number && !endsInDigit(text):
		d.fail(at, "expected %s, got %s: numbers must be finite", expected, text)
		return "", false
	case kind == Number:
		return text, true
	case kind == String && numberLength(text) == len(text) && text != "":
		d.fail(at, "expected %s, got %s: remove the quotes", expected, d.describe(at))
		return "", false
	case kind == String && (text == "NaN" || strings.HasSuffix(text, "Infinity")):
		d.fail(at, "expected %s, got %s: numbers must be finite", expected, d.describe(at))
		return "", false
	}
	d.mistyped(at, expected)
	return "", false
}

// endsInDigit tells a decimal number from .inf and NaN.
func endsInDigit(text string) bool {
	last := text[len(text)-1]
	return '0' <= last && last <= '9' || last == '.'
}

// integer reads a signed number.
func (d *decoder) integer(at int32, kind protoreflect.Kind) (protoreflect.Value, bool) {
	bits := 32
	if kind == protoreflect.Int64Kind || kind == protoreflect.Sint64Kind || kind == protoreflect.Sfixed64Kind {
		bits = 64
	}
	text, ok := d.wholeNumber(at, bits)
	if !ok {
		return protoreflect.Value{}, false
	}
	i, err := strconv.ParseInt(text, 10, bits)
	switch {
	case err != nil:
		d.fail(at, "%s is out of range: from %d to %d", shorten(d.text(at)), int64(-1)<<(bits-1), int64(1<<(bits-1)-1))
		return protoreflect.Value{}, false
	case bits == 32:
		return protoreflect.ValueOfInt32(int32(i)), true //nolint:gosec // parsed with 32 bits
	}
	return protoreflect.ValueOfInt64(i), true
}

// unsigned reads a number that is not negative.
func (d *decoder) unsigned(at int32, kind protoreflect.Kind) (protoreflect.Value, bool) {
	bits := 32
	if kind == protoreflect.Uint64Kind || kind == protoreflect.Fixed64Kind {
		bits = 64
	}
	text, ok := d.wholeNumber(at, bits)
	if !ok {
		return protoreflect.Value{}, false
	}
	u, err := strconv.ParseUint(text, 10, bits)
	switch {
	case err != nil:
		d.fail(at, "%s is out of range: from 0 to %d", shorten(d.text(at)), uint64(math.MaxUint64)>>(64-bits))
		return protoreflect.Value{}, false
	case bits == 32:
		return protoreflect.ValueOfUint32(uint32(u)), true //nolint:gosec // parsed with 32 bits
	}
	return protoreflect.ValueOfUint64(u), true
}

// wholeNumber returns the digits of a whole number. One of 64 bits may be in quotes,
// as protojson writes it.
func (d *decoder) wholeNumber(at int32, bits int) (string, bool) {
	text := d.text(at)
	if d.nodes[at].kind != String || bits != 64 || numberLength(text) != len(text) || text == "" {
		var ok bool
		if text, ok = d.number(at, "a whole number"); !ok {
			return "", false
		}
	}
	whole, ok := wholeDigits(text)
	if !ok {
		d.fail(at, "expected a whole number, got %s", shorten(text))
	}
	return whole, ok
}

// wholeDigits writes a decimal number without point and exponent: 1.5e1 is 15. It is
// not ok for a number that is not whole. A number of more than 20 digits, which no
// type holds, may come back as any such number.
func wholeDigits(text string) (string, bool) {
	mantissa, exponentText, scientific := cutExponent(text)
	whole, fraction, point := strings.Cut(mantissa, ".")
	if !scientific && !point {
		return text, true
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	significant := strings.TrimRight(strings.TrimLeft(whole+fraction, "0"), "0")
	if significant == "" {
		return "0", true
	}
	trailing := len(whole+fraction) - len(strings.TrimRight(whole+fraction, "0"))
	zeros := trailing - len(fraction) + exponent(exponentText)
	if zeros < 0 {
		return "", false
	}
	return sign + significant + strings.Repeat("0", min(zeros, 20)), true
}

func cutExponent(text string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// exponent reads an exponent, large ones cut: they only have to stay large.
func exponent(text string) int {
	if text == "" {
		return 0
	}
	e, err := strconv.ParseInt(text, 10, 32)
	if err != nil && strings.HasPrefix(text, "-") {
		return math.MinInt32
	} else if err != nil {
		return math.MaxInt32
	}
	return int(e)
}

// mapKey reads the key of a map's entry. JSON writes all keys as strings.
func (d *decoder) mapKey(at int32, field protoreflect.FieldDescriptor) (protoreflect.Value, bool) {
	if field.Kind() == protoreflect.StringKind || d.nodes[at].kind != String {
		return d.scalar(at, field)
	}
	n := &d.nodes[at]
	n.kind = unquoted(d.text(at))
	v, ok := d.scalar(at, field)
	n.kind = String
	return v, ok
}

// unquoted is the kind of what a string says.
func unquoted(text string) Kind {
	switch {
	case text == "true" || text == "false":
		return Bool
	case text != "" && numberLength(text) == len(text):
		return Number
	}
	return String
}
