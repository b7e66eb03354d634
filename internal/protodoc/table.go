package protodoc

import (
	"fmt"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Reference describes messages, each under a heading of its name, with a table of its
// fields: names as files have them, types and comments. Types of other files are links
// where link returns an address.
func (c Comments) Reference(messages protoreflect.MessageDescriptors, link func(protoreflect.MessageDescriptor) string) string {
	var b strings.Builder
	for i := range messages.Len() {
		m := messages.Get(i)
		fmt.Fprintf(&b, "### %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", m.Name(), c[m.FullName()])
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.JSONName(), c.Type(f, link), c.Meaning(f))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Type is that of a field in the words of people who write files.
func (c Comments) Type(f protoreflect.FieldDescriptor, link func(protoreflect.MessageDescriptor) string) string {
	switch {
	case f.IsMap():
		return fmt.Sprintf("map of %s by %s", c.Type(f.MapValue(), link), c.Type(f.MapKey(), link))
	case f.IsList():
		return "list of " + single(f, link)
	}
	return single(f, link)
}

func single(f protoreflect.FieldDescriptor, link func(protoreflect.MessageDescriptor) string) string {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		m := f.Message()
		if m.FullName() == "google.protobuf.Duration" {
			return "duration"
		}
		if address := link(m); address != "" {
			return fmt.Sprintf("[%s](%s)", m.Name(), address)
		}
		return string(m.Name())
	case protoreflect.EnumKind:
		var names []string
		for i := range f.Enum().Values().Len() {
			names = append(names, "`"+string(f.Enum().Values().Get(i).Name())+"`")
		}
		return strings.Join(names, ", ")
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return "number" + bounds(f)
	case protoreflect.BoolKind:
		return "boolean"
	case protoreflect.StringKind:
		return "string"
	default:
		return "integer" + bounds(f)
	}
}

// bounds are those of a number by the rules of the schema.
func bounds(f protoreflect.FieldDescriptor) string {
	rules, ok := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	if !ok || rules == nil {
		return ""
	}
	if items := rules.GetRepeated().GetItems(); items != nil {
		rules = items
	}
	kind := rules.ProtoReflect().WhichOneof(rules.ProtoReflect().Descriptor().Oneofs().ByName("type"))
	if kind == nil {
		return ""
	}
	var parts []string
	of := rules.ProtoReflect().Get(kind).Message()
	for _, rule := range []struct {
		name protoreflect.Name
		sign string
	}{{"gte", "≥"}, {"gt", ">"}, {"lte", "≤"}, {"lt", "<"}} {
		if bound := of.Descriptor().Fields().ByName(rule.name); bound != nil && of.Has(bound) {
			parts = append(parts, rule.sign+" "+number(of.Get(bound)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, ", ")
}

// number writes a bound shortly.
func number(v protoreflect.Value) string {
	text := fmt.Sprint(v.Interface())
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(text)
}

// Meaning is the comment of a field and, for an enum, what its values mean.
func (c Comments) Meaning(f protoreflect.FieldDescriptor) string {
	meaning := c[f.FullName()]
	if f.Kind() != protoreflect.EnumKind {
		return meaning
	}
	for i := range f.Enum().Values().Len() {
		v := f.Enum().Values().Get(i)
		// Values stand in the scope of their enum's parent, comments within the enum.
		text := c[f.Enum().FullName().Append(v.Name())]
		meaning += " `" + string(v.Name()) + "`: " + text
	}
	return meaning
}
