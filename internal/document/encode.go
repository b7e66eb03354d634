package document

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/poolwright/poolwright/internal/parallel"
)

// encoder writes a message as indented JSON in protojson's mapping. protojson's own
// text varies in its spaces on purpose, so that it would have to be laid out again.
type encoder struct {
	out     []byte
	depth   int
	members map[protoreflect.MessageDescriptor][]member
}

func newEncoder(depth int) *encoder {
	return &encoder{depth: depth, members: map[protoreflect.MessageDescriptor][]member{}}
}

// member is a field of a message.
type member struct {
	protoreflect.FieldDescriptor
	// key is what stands before the value.
	key string
	// optional members are left out where they are not set, others written even when
	// empty.
	optional bool
}

// message writes a message, its fields in the order of their declaration.
func (e *encoder) message(m protoreflect.Message) error {
	if own, ok := wellKnown(m.Descriptor()); ok {
		return own.encode(e, m)
	}
	if packed, ok := m.Interface().(*anypb.Any); ok {
		return e.unpacked(packed)
	}
	e.out = append(e.out, '{')
	e.depth++
	empty, err := e.fields(m, true)
	e.close('}', empty)
	return err
}

// unpacked writes the message in an Any as an object that names its type.
func (e *encoder) unpacked(packed *anypb.Any) error {
	m, err := packed.UnmarshalNew()
	if err != nil {
		return err
	}
	e.out = append(e.out, '{')
	e.depth++
	e.separate(true)
	e.out = append(e.out, `"@type": `...)
	if err := e.string(packed.GetTypeUrl()); err != nil {
		return err
	}
	if own, ok := wellKnown(m.ProtoReflect().Descriptor()); ok {
		e.separate(false)
		e.out = append(e.out, `"value": `...)
		err = own.encode(e, m.ProtoReflect())
	} else {
		_, err = e.fields(m.ProtoReflect(), false)
	}
	e.close('}', false)
	return err
}

// fields writes the members of an object, the first of them or further ones, and
// tells whether the object is still empty.
func (e *encoder) fields(m protoreflect.Message, first bool) (empty bool, err error) {
	for _, f := range e.membersOf(m.Descriptor()) {
		if f.optional && !m.Has(f.FieldDescriptor) {
			continue
		}
		e.separate(first)
		first = false
		e.out = append(e.out, f.key...)
		if err := e.field(f.FieldDescriptor, m.Get(f.FieldDescriptor)); err != nil {
			return first, err
		}
	}
	return first, nil
}

// membersOf looks up once what is needed of each field.
func (e *encoder) membersOf(d protoreflect.MessageDescriptor) []member {
	members, ok := e.members[d]
	if !ok {
		fields := d.Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			members = append(members, member{f, `"` + f.JSONName() + `": `, f.HasPresence()})
		}
		e.members[d] = members
	}
	return members
}

func (e *encoder) field(f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch {
	case f.IsList():
		return e.list(f, v.List())
	case f.IsMap():
		return e.entries(f.MapValue(), v.Map())
	}
	return e.single(f, v)
}

func (e *encoder) list(f protoreflect.FieldDescriptor, list protoreflect.List) error {
	e.out = append(e.out, '[')
	e.depth++
	if err := e.elements(f, list); err != nil {
		return err
	}
	e.close(']', list.Len() == 0)
	return nil
}

// elementBlock is how many elements go to a processor at a time.
const elementBlock = 256

// elements writes the elements of a list, long ones on all processors.
func (e *encoder) elements(f protoreflect.FieldDescriptor, list protoreflect.List) error {
	write := func(e *encoder, from, to int) error {
		for i := from; i < to; i++ {
			e.separate(i == 0)
			if err := e.single(f, list.Get(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if list.Len() <= elementBlock {
		return write(e, 0, list.Len())
	}
	texts := make([][]byte, parallel.Count(list.Len(), elementBlock))
	errs := make([]error, len(texts))
	parallel.Blocks(list.Len(), elementBlock, func(block, from, to int) {
		part := newEncoder(e.depth)
		errs[block] = write(part, from, to)
		texts[block] = part.out
	})
	e.out = slices.Concat(append([][]byte{e.out}, texts...)...)
	return cmp.Or(errs...)
}

// entries writes a map in the order of its keys as text.
func (e *encoder) entries(f protoreflect.FieldDescriptor, entries protoreflect.Map) error {
	byText := make(map[string]protoreflect.Value, entries.Len())
	keys := make([]string, 0, entries.Len())
	for k, v := range entries.Range {
		byText[k.String()] = v
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	e.out = append(e.out, '{')
	e.depth++
	for i, k := range keys {
		e.separate(i == 0)
		if err := e.string(k); err != nil {
			return err
		}
		e.out = append(e.out, ": "...)
		if err := e.single(f, byText[k]); err != nil {
			return err
		}
	}
	e.close('}', len(keys) == 0)
	return nil
}

// single writes a scalar or a message.
func (e *encoder) single(f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	if isMessage(f) {
		return e.message(v.Message())
	}
	return e.scalar(f, v)
}

// separate begins the line of a member or element.
func (e *encoder) separate(first bool) {
	if !first {
		e.out = append(e.out, ',')
	}
	e.line()
}

// close ends an object or list.
func (e *encoder) close(c byte, empty bool) {
	e.depth--
	if !empty {
		e.line()
	}
	e.out = append(e.out, c)
}

func (e *encoder) line() {
	e.out = append(e.out, '\n')
	for range e.depth {
		e.out = append(e.out, "  "...)
	}
}
