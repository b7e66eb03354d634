package overlay

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/resource"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// annotated is what the annotations of one object say. It is not changed once it is read.
type annotated struct {
	workload *poolwrightv1.WorkloadOverlay
	replica  *poolwrightv1.ReplicaOverlay
	// mistakes are in words, each with the name of its annotation.
	mistakes []string
}

// annotations reads annotations, equal ones once. What is not asked for in a cycle is
// forgotten after it.
type annotations struct {
	last, now map[annotationsKey]*annotated
}

type annotationsKey struct {
	text    string
	variant bool
}

func (a *annotations) startCycle() {
	a.last, a.now = a.now, make(map[annotationsKey]*annotated)
}

// of is what the annotations of an object say: of the workload and, on an object that
// declares or is scaled for a variant, of its replicas. It is nil where there are none.
func (a *annotations) of(v resource.View, r resource.Reference, variant bool) *annotated {
	object, ok := v.Get(r.GroupKind(), r.Namespace, r.Name)
	if !ok {
		return nil
	}
	ours := make(map[string]string)
	for name, value := range object.GetAnnotations() {
		if short, ok := strings.CutPrefix(name, resource.AnnotationDomain); ok && name != resource.WorkloadAnnotation {
			ours[short] = value
		}
	}
	if len(ours) == 0 {
		return nil
	}
	key := annotationsKey{fmt.Sprintf("%q", ours), variant} // in the order of the names
	read := a.now[key]
	if read == nil {
		read = a.last[key]
	}
	if read == nil {
		read = readAnnotations(ours, variant)
	}
	a.now[key] = read
	return read
}

func readAnnotations(values map[string]string, variant bool) *annotated {
	a := &annotated{workload: &poolwrightv1.WorkloadOverlay{}, replica: &poolwrightv1.ReplicaOverlay{}}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		to, field := a.field(name, variant)
		if field == nil {
			a.mistake(name, unknown(name, variant))
			continue
		}
		if err := set(to, field, values[name]); err != nil {
			a.mistake(name, inWords(err))
		}
	}
	a.drop(a.workload, message.WorkloadOverlay(a.workload))
	a.drop(a.replica, message.ReplicaOverlay(a.replica))
	if _, given := values["mode"]; given && a.workload.Mode == nil {
		// Whoever wrote it wanted something else than what holds without it.
		a.workload.Mode = poolwrightv1.WorkloadOverlay_RECOMMEND.Enum()
	}
	return a
}

func (a *annotated) mistake(name, what string) {
	a.mistakes = append(a.mistakes, fmt.Sprintf("%s%s: %s", resource.AnnotationDomain, name, what))
}

// field is the one that an annotation stands for, and the message that has it; nil if there
// is none.
func (a *annotated) field(name string, variant bool) (protoreflect.Message, protoreflect.FieldDescriptor) {
	snake := protoreflect.Name(strings.ReplaceAll(name, "-", "_"))
	for _, m := range a.messages(variant) {
		if f := m.Descriptor().Fields().ByName(snake); f != nil && f.Name() != matchField && annotationName(f) == name {
			return m, f
		}
	}
	return nil, nil
}

// messages are those whose fields annotations may set, the first with a field of the name
// counts.
func (a *annotated) messages(variant bool) []protoreflect.Message {
	if variant {
		return []protoreflect.Message{a.replica.ProtoReflect(), a.workload.ProtoReflect()}
	}
	return []protoreflect.Message{a.workload.ProtoReflect()}
}

// matchField says what an entry of the configuration is for; annotations are for their
// object.
const matchField = "match"

// annotationName is the name of the annotation for a field, without the domain.
func annotationName(f protoreflect.FieldDescriptor) string {
	return strings.ReplaceAll(string(f.Name()), "_", "-")
}

func unknown(name string, variant bool) string {
	var names []string
	var a annotated
	for _, m := range a.messages(variant) {
		for i := range m.Descriptor().Fields().Len() {
			if f := m.Descriptor().Fields().Get(i); f.Name() != matchField {
				names = append(names, annotationName(f))
			}
		}
	}
	if replicas := a.replica.ProtoReflect().Descriptor().Fields(); !variant && replicas.ByName(protoreflect.Name(strings.ReplaceAll(name, "-", "_"))) != nil {
		return "it is about replicas: it belongs on the object that is scaled"
	}
	if closest := document.Closest(name, names); closest != "" {
		return "unknown; did you mean " + closest + "?"
	}
	return "unknown"
}

// set reads a value as the configuration would have it.
func set(m protoreflect.Message, f protoreflect.FieldDescriptor, value string) error {
	value = strings.TrimSpace(value)
	if value == "" {
		return errors.New("empty")
	}
	if f.Kind() == protoreflect.StringKind && !f.IsList() {
		m.Set(f, protoreflect.ValueOfString(value))
		return nil
	}
	if f.Kind() == protoreflect.EnumKind {
		return setEnum(m, f, value)
	}
	// Indented, the text can't hold another field.
	text := f.JSONName() + ":\n  " + strings.ReplaceAll(value, "\n", "\n  ")
	read := m.New()
	if err := document.OfOthers([]byte(text)).Unmarshal([]byte(text), read.Interface()); err != nil {
		return err
	}
	if !read.Has(f) {
		return errors.New("empty")
	}
	m.Set(f, read.Get(f))
	return nil
}

// setEnum reads one of the values, as the configuration has it but in lower case and with
// hyphens.
func setEnum(m protoreflect.Message, f protoreflect.FieldDescriptor, value string) error {
	var names []string
	for i := range f.Enum().Values().Len() {
		v := f.Enum().Values().Get(i)
		name := strings.ToLower(strings.ReplaceAll(string(v.Name()), "_", "-"))
		if name == value {
			m.Set(f, protoreflect.ValueOfEnum(v.Number()))
			return nil
		}
		names = append(names, name)
	}
	return fmt.Errorf("expected %s, got %q", strings.Join(names, ", "), value)
}

// drop takes out of a message the fields that are wrong: every violation is of one.
func (a *annotated) drop(m proto.Message, err error) {
	var violations message.Violations
	if !errors.As(err, &violations) {
		return
	}
	fields := m.ProtoReflect().Descriptor().Fields()
	for _, v := range violations {
		name, rest := v.Path, ""
		if i := strings.IndexAny(v.Path, ".["); i >= 0 {
			name, rest = v.Path[:i], strings.TrimPrefix(v.Path[i:], ".")+": "
		}
		f := fields.ByJSONName(name)
		m.ProtoReflect().Clear(f)
		a.mistake(annotationName(f), rest+v.Message)
	}
}

// inWords is an error without the places in a text that nobody sees.
func inWords(err error) string {
	var text *document.Error
	if !errors.As(err, &text) {
		return err.Error()
	}
	var words []string
	for _, v := range text.Violations {
		_, path, _ := strings.Cut(v.Path, ".")
		words = append(words, strings.TrimPrefix(path+": "+v.Message, ": "))
	}
	return strings.Join(words, "; ")
}
