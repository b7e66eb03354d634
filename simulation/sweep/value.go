package sweep

import (
	"encoding/json"
	"errors"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/document"
)

// set gives a place a value, read as documents are.
func (p place) set(value string) error {
	v := literal(p.kind(), value)
	if p.field.IsMap() {
		v = map[string]any{p.key: v}
	}
	text, err := json.Marshal(map[string]any{p.field.JSONName(): v})
	if err != nil {
		return err
	}
	read := p.message.New()
	if err := document.UnmarshalJSON(text, read.Interface()); err != nil {
		return withoutPlace(err)
	}
	if p.field.IsMap() {
		p.message.Mutable(p.field).Map().Set(p.mapKey(), read.Get(p.field).Map().Get(p.mapKey()))
		return nil
	}
	p.message.Set(p.field, read.Get(p.field))
	return nil
}

// text is equal for equal values of a place, and for no others.
func (p place) text() string {
	v := p.message.Get(p.field)
	if p.field.IsMap() {
		v = v.Map().Get(p.mapKey())
	}
	if p.kind() == protoreflect.MessageKind {
		return prototext.MarshalOptions{}.Format(v.Message().Interface())
	}
	return v.String()
}

// mapKey is the key of a map.
func (p place) mapKey() protoreflect.MapKey { return protoreflect.ValueOfString(p.key).MapKey() }

func (p place) kind() protoreflect.Kind {
	if p.field.IsMap() {
		return p.field.MapValue().Kind()
	}
	return p.field.Kind()
}

// literal is how a document would write a value: numbers and truth values bare, if they are
// any, all others as strings.
func literal(kind protoreflect.Kind, value string) any {
	switch kind {
	case protoreflect.StringKind, protoreflect.EnumKind, protoreflect.MessageKind, protoreflect.BytesKind:
		return value
	}
	if value != "null" && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return value
}

// withoutPlace is what is wrong with a value: its place in the text that was made of it is
// nobody's business.
func withoutPlace(err error) error {
	var text *document.Error
	if !errors.As(err, &text) {
		return err
	}
	var all []error
	for _, v := range text.Violations {
		all = append(all, errors.New(v.Message))
	}
	return errors.Join(all...)
}
