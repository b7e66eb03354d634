package exact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"time"
)

// Unmarshal reads the text of a value into what v points to, which should be zero. Members
// that no field is named after are passed over, so that what a later version wrote can be
// read as far as it is known. The error names the place in the value.
func Unmarshal(text []byte, v any) error {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("exact: %T is no pointer to read into", v)
	}
	d := decoder{tokens: json.NewDecoder(bytes.NewReader(text)), fields: make(fields)}
	d.tokens.UseNumber()
	token, err := d.next()
	if err == nil {
		err = d.value(token, target.Elem())
	}
	if err == nil {
		if _, end := d.tokens.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		return fmt.Errorf("exact: %w", err)
	}
	return nil
}

type decoder struct {
	tokens *json.Decoder
	fields fields
}

// next returns a token; the text may not end here.
func (d *decoder) next() (json.Token, error) {
	token, err := d.tokens.Token()
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	return token, err
}

// value reads the value that begins with a token.
func (d *decoder) value(token json.Token, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if token == nil {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(token, v.Elem())
	}
	switch token := token.(type) {
	case nil:
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
			return nil
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(token)
			return nil
		}
	case json.Number:
		return number(token.String(), v)
	case string:
		return text(token, v)
	case json.Delim:
		return d.composite(token, v)
	}
	return fmt.Errorf("%v for a %s", token, v.Type())
}

// number reads a number.
func number(s string, v reflect.Value) error {
	var err error
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(s, 10, v.Type().Bits())
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(s, 10, v.Type().Bits())
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(s, v.Type().Bits())
		v.SetFloat(x)
	default:
		return fmt.Errorf("%s for a %s", s, v.Type())
	}
	return err
}

// text reads a string, a time or a number that JSON has no other text for.
func text(s string, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(s)
		return nil
	case v.Type() == timeType:
		t, err := time.Parse(time.RFC3339Nano, s)
		v.Set(reflect.ValueOf(t.UTC()))
		return err
	case v.CanFloat():
		switch s {
		case "NaN":
			v.SetFloat(math.NaN())
			return nil
		case "Inf":
			v.SetFloat(math.Inf(1))
			return nil
		case "-Inf":
			v.SetFloat(math.Inf(-1))
			return nil
		}
	}
	return fmt.Errorf("%q for a %s", s, v.Type())
}

// composite reads what begins with a bracket.
func (d *decoder) composite(open json.Delim, v reflect.Value) error {
	switch {
	case open == '[' && v.Kind() == reflect.Slice:
		return d.slice(v)
	case open == '[' && v.Kind() == reflect.Array:
		return d.array(v)
	case open == '{' && v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		v.Set(reflect.MakeMap(v.Type()))
		return d.object(func(name string) (reflect.Value, func()) {
			element := reflect.New(v.Type().Elem()).Elem()
			return element, func() { v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element) }
		})
	case open == '{' && v.Kind() == reflect.Struct && v.Type() != timeType:
		fields := d.fields.of(v.Type())
		return d.object(func(name string) (reflect.Value, func()) {
			for _, f := range fields {
				if f.name == name {
					return v.Field(f.index), nil
				}
			}
			return reflect.Value{}, nil
		})
	}
	return fmt.Errorf("%v for a %s", open, v.Type())
}

func (d *decoder) slice(v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i := 0; d.tokens.More(); i++ {
		token, err := d.next()
		if err != nil {
			return err
		}
		v.Grow(1)
		v.SetLen(i + 1)
		v.Index(i).SetZero()
		if err := d.value(token, v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	_, err := d.next()
	return err
}

func (d *decoder) array(v reflect.Value) error {
	for i := range v.Len() {
		token, err := d.next()
		if err != nil {
			return err
		}
		if err := d.value(token, v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	token, err := d.next()
	if err == nil && token != json.Delim(']') {
		err = fmt.Errorf("more than %d elements", v.Len())
	}
	return err
}

// object reads members into the places that they belong, and says when each is read.
func (d *decoder) object(place func(name string) (at reflect.Value, done func())) error {
	for d.tokens.More() {
		key, err := d.next()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		at, done := place(name)
		if err := d.member(at); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if done != nil {
			done()
		}
	}
	_, err := d.next()
	return err
}

// member reads the value of a member, or passes over it where it has no place.
func (d *decoder) member(at reflect.Value) error {
	if !at.IsValid() {
		var ignored json.RawMessage
		return d.tokens.Decode(&ignored)
	}
	token, err := d.next()
	if err != nil {
		return err
	}
	return d.value(token, at)
}
