// Package messagetest changes messages at random, for tests of what nobody thought of.
package messagetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
)

// mostDepth is how deep in each other new messages are.
const mostDepth = 4

// Mutate changes so many fields of a message and of those in it. They become usual values, extreme ones or none; lists lose elements,
// get new ones and copies.
func Mutate(r *rand.Rand, m proto.Message, times int) {
	for range times {
		all := places(m.ProtoReflect(), nil)
		all[r.IntN(len(all))].mutate(r, 0)
	}
}

// place is a field of a message.
type place struct {
	of    protoreflect.Message
	field protoreflect.FieldDescriptor
}

// places appends all fields of a message and of those in it, set or not.
func places(m protoreflect.Message, all []place) []place {
	if isDuration(m.Descriptor()) {
		return all
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		all = append(all, place{m, f})
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for list, k := m.Get(f).List(), 0; k < list.Len(); k++ {
				all = places(list.Get(k).Message(), all)
			}
		case m.Has(f):
			all = places(m.Get(f).Message(), all)
		}
	}
	return all
}

func (p place) mutate(r *rand.Rand, depth int) {
	switch m, f := p.of, p.field; {
	case f.IsMap():
		m.Mutable(f).Map().Set(protoreflect.ValueOfString(pick(r, words...)).MapKey(), scalar(r, f.MapValue()))
	case f.IsList():
		p.mutateList(r, m.Mutable(f).List(), depth)
	case m.Has(f) && r.IntN(6) == 0:
		m.Clear(f)
	case f.Message() == nil:
		m.Set(f, scalar(r, f))
	case depth < mostDepth:
		m.Clear(f)
		fill(r, m.Mutable(f).Message(), depth+1)
	}
}

func (p place) mutateList(r *rand.Rand, list protoreflect.List, depth int) {
	switch n := list.Len(); {
	case n > 0 && r.IntN(3) == 0:
		list.Truncate(n - 1)
	case p.field.Message() == nil:
		list.Append(scalar(r, p.field))
	case n > 0 && r.IntN(3) > 0:
		twin := proto.Clone(list.Get(r.IntN(n)).Message().Interface()).ProtoReflect()
		if name := twin.Descriptor().Fields().ByName("name"); name != nil {
			twin.Set(name, protoreflect.ValueOfString(fmt.Sprint("n", r.IntN(1000))))
		}
		list.Append(protoreflect.ValueOfMessage(twin))
	case depth < mostDepth:
		fill(r, list.AppendMutable().Message(), depth+1)
	}
}

// fill sets half of the fields of a new message.
func fill(r *rand.Rand, m protoreflect.Message, depth int) {
	if isDuration(m.Descriptor()) {
		proto.Merge(m.Interface(), durationpb.New(pick(r, 0, 1, time.Microsecond, time.Millisecond, 20*time.Millisecond, 500*time.Millisecond,
			time.Second, 10*time.Second, time.Minute, time.Hour, 24*time.Hour, time.Duration(r.Int64N(int64(time.Second))))))
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if r.IntN(2) == 0 {
			place{m, fields.Get(i)}.mutate(r, depth)
		}
	}
}

func isDuration(d protoreflect.MessageDescriptor) bool {
	return d.FullName() == "google.protobuf.Duration"
}

// words are names that collide, and some that are none.
var words = []string{"", "a", "b", "prod", "test", "H100", "A100", "x/y", "é\u2028"}

func scalar(r *rand.Rand, f protoreflect.FieldDescriptor) protoreflect.Value {
	whole := pick(r, 0, 1, 2, 3, 4, 8, 17, 100, 1000, 65536, 1e6, r.Int32N(30), r.Int32N(300))
	switch f.Kind() {
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(pick(r, 0, 1, 0.5, 2, 1e-3, 1e-9, 1e-300, math.SmallestNonzeroFloat64, 1e3, 1e6, 1e9, 1e12,
			math.Exp(4*r.NormFloat64()), r.Float64(), 10*r.Float64(), 100*r.Float64(), math.Nextafter(1, 0)))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(whole)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(whole))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(r.Uint32N(1000))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(r.Uint64N(1000))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(pick(r, words...))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(f.Enum().Values().Get(r.IntN(f.Enum().Values().Len())).Number())
	}
	panic(fmt.Sprintf("messagetest: %s is of the kind %s", f.FullName(), f.Kind()))
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// NotFinite are the paths of all numbers in a message that are NaN or infinite.
func NotFinite(m proto.Message) []string { return notFinite(m.ProtoReflect(), "", nil) }

func notFinite(m protoreflect.Message, path string, all []string) []string {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		path := path + "." + string(f.Name())
		switch {
		case f.IsMap():
		case f.IsList():
			for k := range v.List().Len() {
				all = notFiniteValue(f, v.List().Get(k), fmt.Sprintf("%s[%d]", path, k), all)
			}
		default:
			all = notFiniteValue(f, v, path, all)
		}
		return true
	})
	return all
}

func notFiniteValue(f protoreflect.FieldDescriptor, v protoreflect.Value, path string, all []string) []string {
	switch {
	case f.Message() != nil:
		return notFinite(v.Message(), path, all)
	case f.Kind() == protoreflect.DoubleKind && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return append(all, path)
	}
	return all
}
