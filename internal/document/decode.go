package document

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/poolwright/poolwright/internal/parallel"
)

// Decode fills an empty message from a tree. What is wrong is an [*Error]; the
// message then holds what could be read.
func Decode(v Value, m proto.Message) error {
	d := decoder{tree: v.tree}
	if v.Kind() == Null {
		d.fail(v.at, "empty document; expected %s", object(m.ProtoReflect().Descriptor()))
	} else {
		d.message(v.at, m.ProtoReflect())
	}
	return d.err.OrNil()
}

// decoder walks a tree and a message together.
type decoder struct {
	*tree
	path []step
	// given holds, per field of the open messages, the node of its key; 0 = not given.
	given []int32
	// open is the field that is read; nil = none yet.
	open protoreflect.FieldDescriptor
	err  Error
}

// describe says what is at a node, and nothing of what stands in a field for secrets.
func (d *decoder) describe(at int32) string {
	if d.open != nil {
		if options, ok := d.open.Options().(*descriptorpb.FieldOptions); ok && options.GetDebugRedact() {
			return "something else"
		}
	}
	return d.tree.describe(at)
}

// fail records a violation at a node.
func (d *decoder) fail(at int32, format string, args ...any) {
	if d.err.full() {
		d.err.Omitted++
		return
	}
	n := &d.nodes[at]
	d.err.Add(Violation{formatPath(d.path), fmt.Sprintf(format, args...), int(n.line), int(n.column)})
}

// mistyped records a value of the wrong type.
func (d *decoder) mistyped(at int32, expected string) {
	if d.nodes[at].kind == Invalid {
		d.fail(at, "%s", d.text(at))
		return
	}
	d.fail(at, "expected %s, got %s", expected, d.describe(at))
}

func (d *decoder) push(s step) { d.path = append(d.path, s) }
func (d *decoder) pop()        { d.path = d.path[:len(d.path)-1] }

// message reads an object into a message.
func (d *decoder) message(at int32, m protoreflect.Message) {
	n := &d.nodes[at]
	if n.kind != Object {
		d.mistyped(at, object(m.Descriptor()))
		return
	}
	fields := m.Descriptor().Fields()
	base := len(d.given)
	for range fields.Len() {
		d.given = append(d.given, 0)
	}
	for i := at + 1; i < n.end; i = d.nodes[i+1].end {
		field := d.fieldOf(i, fields)
		if field == nil || !d.once(i, field, m, d.given[base:]) || d.nodes[i+1].kind == Null {
			continue
		}
		d.push(step{name: field.JSONName()})
		d.field(i+1, field, m)
		d.pop()
	}
	d.given = d.given[:base]
}

// fieldOf returns the field that a key names, nil after a violation.
func (d *decoder) fieldOf(key int32, fields protoreflect.FieldDescriptors) protoreflect.FieldDescriptor {
	if d.nodes[key].kind != String {
		d.mistyped(key, "the name of a field")
		return nil
	}
	name := d.text(key)
	if field := fields.ByJSONName(name); field != nil {
		return field
	}
	if field := fields.ByTextName(name); field != nil {
		return field
	}
	if d.err.full() {
		d.err.Omitted++
		return nil
	}
	d.push(step{name: name})
	d.fail(key, "unknown field; %s", hint(name, fieldNames(fields)))
	d.pop()
	return nil
}

// hint proposes a name, or lists them all.
func hint(text string, names []string) string {
	if name := Closest(text, names); name != "" {
		return "did you mean " + name + "?"
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "must be " + oneOf(names)
}

func fieldNames(fields protoreflect.FieldDescriptors) []string {
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = fields.Get(i).JSONName()
	}
	return names
}

// once notes that a field is given, and reports it where that is too often.
func (d *decoder) once(key int32, field protoreflect.FieldDescriptor, m protoreflect.Message, given []int32) bool {
	first := given[field.Index()]
	given[field.Index()] = key
	d.push(step{name: field.JSONName()})
	defer d.pop()
	if first != 0 {
		d.fail(key, "given twice, first on line %d", d.nodes[first].line)
		return false
	}
	if oneof := field.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() && d.nodes[key+1].kind != Null {
		if other := m.WhichOneof(oneof); other != nil {
			d.fail(key, "only one of %s and %s may be given", other.JSONName(), field.JSONName())
			return false
		}
	}
	return true
}

// field reads a value that is not null into a field.
func (d *decoder) field(at int32, field protoreflect.FieldDescriptor, m protoreflect.Message) {
	d.open = field
	switch {
	case field.IsList():
		d.list(at, field, m)
	case field.IsMap():
		d.entries(at, field, m)
	case isObject(field):
		d.message(at, m.Mutable(field).Message())
	default:
		if v, ok := d.single(at, field, m.NewField); ok {
			m.Set(field, v)
		}
	}
}

func isMessage(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.MessageKind || field.Kind() == protoreflect.GroupKind
}

// isObject tells a message that is written as an object.
func isObject(field protoreflect.FieldDescriptor) bool {
	if !isMessage(field) {
		return false
	}
	_, scalar := wellKnown(field.Message())
	return !scalar
}

// single reads a scalar or a message that is written as one.
func (d *decoder) single(at int32, field protoreflect.FieldDescriptor, empty func(protoreflect.FieldDescriptor) protoreflect.Value) (protoreflect.Value, bool) {
	if !isMessage(field) {
		return d.scalar(at, field)
	}
	v := empty(field)
	own, _ := wellKnown(field.Message())
	return v, own.decode(d, at, v.Message())
}

func (d *decoder) list(at int32, field protoreflect.FieldDescriptor, m protoreflect.Message) {
	n := &d.nodes[at]
	if n.kind != List {
		d.mistyped(at, "a list")
		return
	}
	if n.end == at+1 {
		return
	}
	list := m.Mutable(field).List()
	if isObject(field) && n.end-at >= longList {
		d.objects(at, list)
		return
	}
	index := 0
	for i := at + 1; i < n.end; i = d.nodes[i].end {
		d.push(step{kind: elementStep, index: index})
		d.element(i, field, list)
		d.pop()
		index++
	}
}

const (
	// longList is how many values a list has, all levels counted, that is worth several
	// processors.
	longList = 4096
	// parts is how many those share. Each part may record violations up to the limit, so
	// more of them would be more work for nothing in a document full of mistakes.
	parts = 8
)

// objects reads a long list of messages on all processors.
func (d *decoder) objects(at int32, list protoreflect.List) {
	var elements []int32
	for i := at + 1; i < d.nodes[at].end; i = d.nodes[i].end {
		elements = append(elements, i)
		list.AppendMutable()
	}
	size := parallel.Count(len(elements), parts)
	errs := make([]Error, parallel.Count(len(elements), size))
	parallel.Blocks(len(elements), size, func(block, from, to int) {
		part := decoder{tree: d.tree, path: slices.Clone(d.path)}
		for i := from; i < to; i++ {
			part.push(step{kind: elementStep, index: i})
			part.message(elements[i], list.Get(i).Message())
			part.pop()
		}
		errs[block] = part.err
	})
	for i := range errs {
		d.err.addAll(&errs[i])
	}
}

func (d *decoder) element(at int32, field protoreflect.FieldDescriptor, list protoreflect.List) {
	if isObject(field) {
		d.message(at, list.AppendMutable().Message())
		return
	}
	newElement := func(protoreflect.FieldDescriptor) protoreflect.Value { return list.NewElement() }
	if v, ok := d.single(at, field, newElement); ok {
		list.Append(v)
	}
}

func (d *decoder) entries(at int32, field protoreflect.FieldDescriptor, m protoreflect.Message) {
	n := &d.nodes[at]
	if n.kind != Object {
		d.mistyped(at, "an object")
		return
	}
	if n.end == at+1 {
		return
	}
	entries := m.Mutable(field).Map()
	first := map[string]int32{}
	for i := at + 1; i < n.end; i = d.nodes[i+1].end {
		if d.nodes[i].kind == Invalid {
			d.mistyped(i, "")
			continue
		}
		text := d.text(i)
		d.push(step{kind: entryStep, name: text})
		if seen, ok := first[text]; ok {
			d.fail(i, "given twice, first on line %d", d.nodes[seen].line)
		} else {
			d.entry(i, field, entries)
		}
		first[text] = i
		d.pop()
	}
}

func (d *decoder) entry(key int32, field protoreflect.FieldDescriptor, entries protoreflect.Map) {
	k, ok := d.mapKey(key, field.MapKey())
	value := field.MapValue()
	if isObject(value) {
		v := entries.NewValue()
		d.message(key+1, v.Message())
		if ok {
			entries.Set(k.MapKey(), v)
		}
		return
	}
	newValue := func(protoreflect.FieldDescriptor) protoreflect.Value { return entries.NewValue() }
	if v, valid := d.single(key+1, value, newValue); ok && valid {
		entries.Set(k.MapKey(), v)
	}
}

// object names a message's type for people.
func object(m protoreflect.MessageDescriptor) string {
	return "an object (" + string(m.Name()) + ")"
}
