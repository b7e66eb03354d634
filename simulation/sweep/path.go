package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// steps cuts a path into its names: a.b[c.d].e has a, b, c.d and e.
func steps(path string) ([]string, error) {
	if path == "" {
		return nil, errors.New("a name is empty")
	}
	if !utf8.ValidString(path) {
		return nil, errors.New("not valid UTF-8")
	}
	var all []string
	for rest := path; rest != ""; {
		name, after := rest, ""
		bracket := rest[0] == '['
		if bracket {
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, errors.New("a bracket is not closed")
			}
			name, after = rest[1:end], rest[end+1:]
		} else if end := strings.IndexAny(rest, ".["); end >= 0 {
			name, after = rest[:end], rest[end:]
		}
		if name == "" {
			return nil, errors.New("a name is empty")
		}
		all = append(all, name)
		switch {
		case strings.HasPrefix(after, "."):
			rest = after[1:]
			if rest == "" || rest[0] == '[' {
				return nil, errors.New("a name is empty")
			}
		case after == "" || after[0] == '[':
			rest = after
		default:
			return nil, fmt.Errorf("expected a dot before %q", after)
		}
	}
	return all, nil
}

// place is a scalar field of a message, or one key of a map of scalars.
type place struct {
	message protoreflect.Message
	field   protoreflect.FieldDescriptor
	key     string // of a map
	// path is the same for all paths that lead here.
	path string
	// choices are the fields on the way here in whose place there may be others.
	choices []choice
}

// choice is a field of a oneof.
type choice struct {
	message protoreflect.Message
	field   protoreflect.FieldDescriptor
}

// excluded tells whether another field has come in the place of one on the way here.
func (p *place) excluded() bool {
	return slices.ContainsFunc(p.choices, func(c choice) bool { return !c.message.Has(c.field) })
}

// find follows a path through a simulation, whose messages it makes where they are absent.
func find(s *poolwrightv1.Simulation, path string) (place, error) {
	names, err := steps(path)
	if err != nil {
		return place{}, err
	}
	m := s.ProtoReflect()
	if fieldNamed(m.Descriptor(), names[0]) == nil && fieldNamed(fleet, names[0]) != nil {
		names = append([]string{"fleet"}, names...)
	}
	return walk(m, names, "")
}

var (
	fleet    = (*poolwrightv1.Fleet)(nil).ProtoReflect().Descriptor()
	pool     = (*poolwrightv1.Pool)(nil).ProtoReflect().Descriptor()
	capacity = pool.Fields().ByName("capacity").JSONName()
)

// walk follows names from a message on; at is the path to it.
func walk(m protoreflect.Message, names []string, at string) (place, error) {
	d := m.Descriptor()
	if len(names) == 0 {
		// What a pool is asked for is how large it is.
		if d.FullName() != pool.FullName() {
			return place{}, fmt.Errorf("%s has fields: name one of %s", or(at, "it"), fieldNames(d))
		}
		names = []string{capacity}
	}
	field := fieldNamed(d, names[0])
	if field == nil {
		return place{}, unknownField(d, names[0])
	}
	if o := field.ContainingOneof(); o != nil && m.WhichOneof(o) != nil && m.WhichOneof(o) != field {
		return place{}, fmt.Errorf("%s can't be beside %s", field.JSONName(), m.WhichOneof(o).JSONName())
	}
	path, rest := strings.TrimPrefix(at+"."+field.JSONName(), "."), names[1:]
	switch {
	case field.IsMap():
		return inMap(place{message: m, field: field, path: path}, rest)
	case field.IsList():
		return inList(m, field, rest, path)
	case !isMessage(field) && len(rest) > 0:
		return place{}, fmt.Errorf("%s has no field %q", path, rest[0])
	}
	p, err := place{message: m, field: field, path: path}, error(nil)
	if isMessage(field) {
		p, err = walk(m.Mutable(field).Message(), rest, path)
	}
	if field.ContainingOneof() != nil {
		p.choices = append(p.choices, choice{m, field})
	}
	return p, err
}

// isMessage tells whether a field has fields; a duration is a value.
func isMessage(f protoreflect.FieldDescriptor) bool {
	return f.Message() != nil && f.Message().ParentFile().Package() != "google.protobuf"
}

func inMap(p place, rest []string) (place, error) {
	switch {
	case p.field.MapValue().Message() != nil || p.field.MapKey().Kind() != protoreflect.StringKind:
		return place{}, fmt.Errorf("%s can't be varied", p.path)
	case len(rest) != 1:
		return place{}, fmt.Errorf("%s needs one key behind it", p.path)
	}
	p.key, p.path = rest[0], p.path+"["+rest[0]+"]"
	return p, nil
}

func inList(m protoreflect.Message, field protoreflect.FieldDescriptor, rest []string, path string) (place, error) {
	switch {
	case !isMessage(field):
		return place{}, fmt.Errorf("%s is a list of values, which can't be varied", path)
	case len(rest) == 0:
		return place{}, fmt.Errorf("%s is a list: name one of its elements", path)
	}
	list := m.Mutable(field).List()
	i, err := element(list, rest[0])
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", path, err)
	}
	return walk(list.Get(i).Message(), rest[1:], path+"["+strconv.Itoa(i)+"]")
}

// element finds an element by name, or else by index.
func element(list protoreflect.List, name string) (int, error) {
	found := -1
	var names []string
	for i := range list.Len() {
		m := list.Get(i).Message()
		own, qualified := namesOf(m)
		if own != "" {
			names = append(names, qualified)
		}
		if name != own && name != qualified {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("several are named %q: put the namespace before it, as in namespace/name", name)
		}
		found = i
	}
	if found >= 0 {
		return found, nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < list.Len() {
		return i, nil
	}
	return 0, fmt.Errorf("none is named %q%s", name, among(names))
}

// namesOf returns the names of an element: its own, and that with its namespace.
func namesOf(m protoreflect.Message) (own, qualified string) {
	text := func(field protoreflect.Name) string {
		f := m.Descriptor().Fields().ByName(field)
		if f == nil || f.Kind() != protoreflect.StringKind || f.Cardinality() == protoreflect.Repeated {
			return ""
		}
		return m.Get(f).String()
	}
	own = or(text("name"), or(text("workload"), text("accelerator")))
	if namespace := text("namespace"); namespace != "" {
		return own, namespace + "/" + own
	}
	return own, own
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const listed = 10
	more := ""
	if len(names) > listed {
		more = fmt.Sprintf(" and %d more", len(names)-listed)
	}
	return ", but " + strings.Join(names[:min(len(names), listed)], ", ") + more
}

func fieldNamed(d protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if f := d.Fields().ByJSONName(name); f != nil {
		return f
	}
	return d.Fields().ByTextName(name)
}

func fieldNames(d protoreflect.MessageDescriptor) string {
	var names []string
	for i := range d.Fields().Len() {
		names = append(names, d.Fields().Get(i).JSONName())
	}
	return strings.Join(names, ", ")
}

func unknownField(d protoreflect.MessageDescriptor, name string) error {
	var names []string
	for i := range d.Fields().Len() {
		names = append(names, d.Fields().Get(i).JSONName())
	}
	if meant := document.Closest(name, names); meant != "" {
		return fmt.Errorf("%s has no field %q; is %s meant?", d.Name(), name, meant)
	}
	return fmt.Errorf("%s has no field %q", d.Name(), name)
}
