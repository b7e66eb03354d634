package protodoc

import (
	"fmt"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// rules are those of a field that are not bounds of a number, each a sentence.
func rules(f protoreflect.FieldDescriptor) []string {
	all, ok := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	if !ok || all == nil {
		return nil
	}
	var sentences []string
	if all.GetRequired() {
		sentences = append(sentences, "Required.")
	}
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		sentences = append(sentences, "Exclusive with its alternatives.")
	}
	return append(sentences, ofType(all)...)
}

// ofType are the rules of a field's type, of elements too.
func ofType(all *validate.FieldRules) []string {
	m := all.ProtoReflect()
	kind := m.WhichOneof(m.Descriptor().Oneofs().ByName("type"))
	if kind == nil {
		return nil
	}
	of := m.Get(kind).Message()
	var sentences []string
	fields := of.Descriptor().Fields()
	for i := range fields.Len() {
		if rule := fields.Get(i); of.Has(rule) {
			sentences = append(sentences, sentence(kind.Name(), rule, of.Get(rule))...)
		}
	}
	return sentences
}

// phrases are what rules say of their value.
var phrases = map[protoreflect.Name]string{
	"min_len": "%v characters at least.", "max_len": "%v characters at most.", "pattern": "It matches `%v`.", "prefix": "It begins with `%v`.",
	"min_items": "%v at least.", "max_items": "%v at most.", "min_pairs": "%v at least.", "max_pairs": "%v at most.",
	"gt": "More than %v.", "gte": "%v at least.", "lt": "Less than %v.", "lte": "%v at most.",
}

func sentence(kind protoreflect.Name, rule protoreflect.FieldDescriptor, value protoreflect.Value) []string {
	switch name := rule.Name(); name {
	case "items", "keys", "values":
		each, _ := value.Message().Interface().(*validate.FieldRules)
		var sentences []string
		for _, s := range ofType(each) {
			sentences = append(sentences, "Of each: "+s)
		}
		return sentences
	case "unique":
		return []string{"No two are equal."}
	case "in":
		var values []string
		for i := range value.List().Len() {
			values = append(values, fmt.Sprintf("`%v`", value.List().Get(i)))
		}
		return []string{"One of " + strings.Join(values, ", ") + "."}
	case "defined_only", "finite":
		return nil // of values that are listed; of all numbers
	default:
		if strings.HasPrefix(string(name), "gt") || strings.HasPrefix(string(name), "lt") {
			if kind != "duration" {
				return nil // it stands in the type
			}
			bound, _ := value.Message().Interface().(*durationpb.Duration)
			return []string{fmt.Sprintf(phrases[name], bound.AsDuration())}
		}
		phrase, ok := phrases[name]
		if !ok {
			phrase = strings.ReplaceAll(string(name), "_", " ") + ": %v."
		}
		return []string{fmt.Sprintf(phrase, value)}
	}
}
