package document

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalar writes a value of a field that is no message.
func (e *encoder) scalar(f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch f.Kind() {
	case protoreflect.BoolKind:
		e.out = strconv.AppendBool(e.out, v.Bool())
	case protoreflect.StringKind:
		return e.string(v.String())
	case protoreflect.BytesKind:
		e.quoted(base64.StdEncoding.EncodeToString(v.Bytes()))
	case protoreflect.EnumKind:
		e.enum(f.Enum(), v.Enum())
	case protoreflect.DoubleKind:
		e.float(v.Float(), 64)
	case protoreflect.FloatKind:
		e.float(v.Float(), 32)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		e.out = strconv.AppendInt(e.out, v.Int(), 10)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		e.out = strconv.AppendUint(e.out, v.Uint(), 10)
	default:
		e.quoted(v.String()) // 64-bit integers, which not every reader of JSON can hold
	}
	return nil
}

func (e *encoder) enum(d protoreflect.EnumDescriptor, n protoreflect.EnumNumber) {
	if v := d.Values().ByNumber(n); v != nil {
		e.quoted(string(v.Name()))
		return
	}
	e.out = strconv.AppendInt(e.out, int64(n), 10)
}

// float writes a number as JavaScript does: with an exponent where it is very small
// or large.
func (e *encoder) float(v float64, bits int) {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		e.quoted("NaN")
	case math.IsInf(v, 1):
		e.quoted("Infinity")
	case math.IsInf(v, -1):
		e.quoted("-Infinity")
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		e.out = strconv.AppendFloat(e.out, v, 'e', -1, bits)
		if n := len(e.out); e.out[n-2] == '0' && e.out[n-3] == '-' { // e-09 is e-9
			e.out = append(e.out[:n-2], e.out[n-1])
		}
	default:
		e.out = strconv.AppendFloat(e.out, v, 'f', -1, bits)
	}
}

// quoted writes a text that needs no escapes.
func (e *encoder) quoted(text string) {
	e.out = append(e.out, '"')
	e.out = append(e.out, text...)
	e.out = append(e.out, '"')
}

func (e *encoder) string(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("document: text " + quote(text) + " is not UTF-8")
	}
	e.out = append(e.out, '"')
	from := 0
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			e.out = append(e.out, text[from:i]...)
			e.escape(c)
			from = i + 1
		}
	}
	e.out = append(e.out, text[from:]...)
	e.out = append(e.out, '"')
	return nil
}

// escape writes one character that JSON has no other way to write.
func (e *encoder) escape(c byte) {
	const hex = "0123456789abcdef"
	switch c {
	case '\b':
		c = 'b'
	case '\f':
		c = 'f'
	case '\n':
		c = 'n'
	case '\r':
		c = 'r'
	case '\t':
		c = 't'
	case '"', '\\':
	default:
		e.out = append(e.out, `\u00`...)
		e.out = append(e.out, hex[c>>4], hex[c&15])
		return
	}
	e.out = append(e.out, '\\', c)
}
