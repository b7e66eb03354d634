package exact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Marshal returns the text of a plain value. The error names what is not plain.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	err := Write(&out, v)
	return out.Bytes(), err
}

// Write writes the text of a plain value, a part at a time. The error names what is not
// plain, or is that of the writer.
func Write(out io.Writer, v any) error {
	e := encoder{out: out, fields: make(fields)}
	err := e.value(reflect.ValueOf(v))
	if err == nil {
		_, err = out.Write(e.text)
	}
	if err != nil {
		return fmt.Errorf("exact: %w", err)
	}
	return nil
}

// part is the length from which on a part of the text is written.
const part = 1 << 14

type encoder struct {
	out    io.Writer
	text   []byte // what is not yet written
	fields fields
}

// flush writes the text where it is long enough.
func (e *encoder) flush() error {
	if len(e.text) < part {
		return nil
	}
	_, err := e.out.Write(e.text)
	e.text = e.text[:0]
	return err
}

func (e *encoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		e.text = strconv.AppendBool(e.text, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.text = strconv.AppendInt(e.text, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.text = strconv.AppendUint(e.text, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		e.float(v.Float(), v.Type().Bits())
	case reflect.String:
		return e.string(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			e.text = append(e.text, "null"...)
			return nil
		}
		return e.value(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			e.text = append(e.text, "null"...)
			return nil
		}
		return e.list(v)
	case reflect.Array:
		return e.list(v)
	case reflect.Map:
		return e.dictionary(v)
	case reflect.Struct:
		return e.structure(v)
	default:
		return fmt.Errorf("no text for a value of kind %s", v.Kind())
	}
	return nil
}

// float writes the shortest text that is read back as the same number.
func (e *encoder) float(x float64, bits int) {
	switch {
	case math.IsNaN(x):
		e.text = append(e.text, `"NaN"`...)
	case math.IsInf(x, 1):
		e.text = append(e.text, `"Inf"`...)
	case math.IsInf(x, -1):
		e.text = append(e.text, `"-Inf"`...)
	default:
		e.text = strconv.AppendFloat(e.text, x, 'g', -1, bits)
	}
}

func (e *encoder) string(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not UTF-8", s)
	}
	if plainText(s) {
		e.text = append(append(append(e.text, '"'), s...), '"')
		return nil
	}
	var text bytes.Buffer
	j := json.NewEncoder(&text)
	j.SetEscapeHTML(false)
	err := j.Encode(s)
	e.text = append(e.text, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
	return err
}

// plainText tells whether a string is its own text between quotes.
func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError })
}

func (e *encoder) list(v reflect.Value) error {
	e.text = append(e.text, '[')
	for i := range v.Len() {
		if i > 0 {
			e.text = append(e.text, ',')
		}
		if err := e.value(v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	e.text = append(e.text, ']')
	return nil
}

func (e *encoder) dictionary(v reflect.Value) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("no text for a key of kind %s", v.Type().Key().Kind())
	}
	if v.IsNil() {
		e.text = append(e.text, "null"...)
		return nil
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	first := true
	for _, key := range keys {
		if err := e.member(&first, key.String(), v.MapIndex(key)); err != nil {
			return err
		}
	}
	e.close(first)
	return nil
}

func (e *encoder) structure(v reflect.Value) error {
	if v.Type() == timeType {
		return e.time(v.Interface().(time.Time)) //nolint:forcetypeassert // just seen
	}
	first := true
	for _, f := range e.fields.of(v.Type()) {
		at := v.Field(f.index)
		if e.zero(at) {
			continue
		}
		if err := e.member(&first, f.name, at); err != nil {
			return err
		}
	}
	e.close(first)
	return nil
}

// zero tells whether reading nothing gives the value back. Unlike IsZero it tells −0 from
// 0, but not the instant zero from itself elsewhere.
func (e *encoder) zero(v reflect.Value) bool {
	switch {
	case v.CanFloat():
		return math.Float64bits(v.Float()) == 0
	case v.Type() == timeType:
		return v.Interface().(time.Time).IsZero() //nolint:forcetypeassert // just seen
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			if !e.zero(v.Index(i)) {
				return false
			}
		}
		return true
	case v.Kind() == reflect.Struct:
		return !slices.ContainsFunc(e.fields.of(v.Type()), func(f field) bool { return !e.zero(v.Field(f.index)) })
	}
	return v.IsZero()
}

// member writes one member of an object.
func (e *encoder) member(first *bool, name string, v reflect.Value) error {
	if *first {
		e.text = append(e.text, '{')
	} else {
		e.text = append(e.text, ',')
	}
	*first = false
	if err := e.string(name); err != nil {
		return err
	}
	e.text = append(e.text, ':')
	if err := e.value(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return e.flush()
}

// close ends an object, which may have no members.
func (e *encoder) close(empty bool) {
	if empty {
		e.text = append(e.text, '{')
	}
	e.text = append(e.text, '}')
}

func (e *encoder) time(t time.Time) error {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("no text for a time in the year %d", y)
	}
	e.text = append(t.AppendFormat(append(e.text, '"'), time.RFC3339Nano), '"')
	return nil
}
