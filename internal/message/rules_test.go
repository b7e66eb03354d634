package message_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Workloads are validated one by one: rules about their list would be overlooked.
func TestSchemaHasNoRuleForTheListOfWorkloads(t *testing.T) {
	fleet := (&poolwrightv1.Fleet{}).ProtoReflect().Descriptor()
	message, err := protovalidate.ResolveMessageRules(fleet)
	require.NoError(t, err)
	require.Nil(t, message)
	workloads, err := protovalidate.ResolveFieldRules(fleet.Fields().ByName("workloads"))
	require.NoError(t, err)
	require.Nil(t, workloads)
}

// What is told quickly of a fleet is what the validator finds, whatever a single field of it is: but
// for policies, maps, and durations that are no durations, of which only the validator tells.
func TestKeepsRulesAsTheValidatorFinds(t *testing.T) {
	validator, err := protovalidate.New()
	require.NoError(t, err)
	f := &poolwrightv1.Fleet{}
	fill(f.ProtoReflect())
	f.Control.Policy, f.Workloads[0].Policy = nil, nil
	require.NoError(t, validator.Validate(f))
	require.True(t, f.KeepsRules())

	var kept, broken int
	vary(f.ProtoReflect(), "fleet", func(what string, leftToValidator bool) {
		quickly, found := f.KeepsRules(), validator.Validate(f)
		if quickly {
			kept++
			assert.NoError(t, found, what)
		} else if !leftToValidator {
			broken++
			assert.Error(t, found, what)
		}
	})
	assert.Greater(t, kept, 500)
	assert.Greater(t, broken, 500)
	assert.False(t, (*poolwrightv1.Fleet)(nil).KeepsRules())
}

// fill sets every field of a message but maps to something that keeps its rules.
func fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch v := m.NewField(f); {
		case f.IsMap():
		case f.IsList() && f.Message() != nil:
			fill(v.List().AppendMutable().Message())
			m.Set(f, v)
		case f.IsList():
			v.List().Append(v.List().NewElement())
			m.Set(f, v)
		case f.Message() != nil && f.Message().FullName() == "google.protobuf.Duration":
			m.Set(f, protoreflect.ValueOfMessage(durationpb.New(time.Minute).ProtoReflect()))
		case f.Message() != nil:
			fill(v.Message())
			m.Set(f, v)
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString("a"))
		case f.Kind() == protoreflect.DoubleKind && slices.Contains([]protoreflect.Name{"q", "quantile", "relative_gap"}, f.Name()):
			m.Set(f, protoreflect.ValueOfFloat64(0.5))
		case f.Kind() == protoreflect.DoubleKind:
			m.Set(f, protoreflect.ValueOfFloat64(1))
		case f.Kind() == protoreflect.Int32Kind:
			m.Set(f, protoreflect.ValueOfInt32(3))
		}
	}
}

// vary calls do with each field of a message, one after the other, as it may be and as it may not be.
func vary(m protoreflect.Message, path string, do func(what string, leftToValidator bool)) {
	before := proto.Clone(m.Interface()).ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		at := path + "." + f.JSONName()
		switch {
		case !m.Has(f) || f.Message() == nil || f.IsMap() || f.Message().FullName() == "google.protobuf.Duration":
		case f.IsList():
			vary(m.Get(f).List().Get(0).Message(), at+"[0]", do)
		default:
			vary(m.Get(f).Message(), at, do)
		}
		for _, v := range valuesOf(f, m) {
			m.Set(f, v)
			do(fmt.Sprintf("%s = %v", at, v), f.Name() == "policy" || f.IsMap() || !valid(v))
		}
		m.Clear(f)
		do(at+" is not there", false)
		if before.Has(f) {
			m.Set(f, before.Get(f))
		}
	}
}

// valid tells whether a value is no duration that is none.
func valid(v protoreflect.Value) bool {
	m, ok := v.Interface().(protoreflect.Message)
	if !ok {
		return true
	}
	d, ok := m.Interface().(*durationpb.Duration)
	return !ok || d.IsValid()
}

// valuesOf are values at and beside the bounds that rules have.
func valuesOf(f protoreflect.FieldDescriptor, m protoreflect.Message) []protoreflect.Value {
	if f.IsMap() {
		all := m.NewField(f)
		all.Map().Set(protoreflect.ValueOfString("a").MapKey(), all.Map().NewValue())
		return []protoreflect.Value{all}
	}
	if !f.IsList() {
		return singles(f, func() protoreflect.Value { return m.NewField(f) })
	}
	element := m.NewField(f).List().NewElement
	list := func(vs ...protoreflect.Value) protoreflect.Value {
		all := m.NewField(f)
		for _, v := range vs {
			all.List().Append(v)
		}
		return all
	}
	all := []protoreflect.Value{list()}
	for _, v := range singles(f, element) {
		all = append(all, list(v))
	}
	for _, n := range []int{999, 1000, 1001} {
		vs := make([]protoreflect.Value, n)
		for i := range vs {
			if vs[i] = element(); f.Message() != nil {
				fill(vs[i].Message())
			}
		}
		all = append(all, list(vs...))
	}
	return all
}

func singles(f protoreflect.FieldDescriptor, fresh func() protoreflect.Value) []protoreflect.Value {
	var all []protoreflect.Value
	switch {
	case f.Message() != nil && f.Message().FullName() == "google.protobuf.Duration":
		for _, seconds := range []int64{-315_576_000_001, -1e10, -1, 0, 1, 60, 3600, 86_400, 604_800, 1_000_000, 1e10, 315_576_000_001} {
			for _, nanos := range []int32{-1e9, -1, 0, 1, 999_999_999, 1e9} {
				d := &durationpb.Duration{Seconds: seconds, Nanos: nanos}
				all = append(all, protoreflect.ValueOfMessage(d.ProtoReflect()))
			}
		}
	case f.Message() != nil:
		full := fresh()
		fill(full.Message())
		all = append(all, fresh(), full)
	case f.Kind() == protoreflect.StringKind:
		for _, v := range []string{"", "a", "é", "\x00"} {
			all = append(all, protoreflect.ValueOfString(v))
		}
	case f.Kind() == protoreflect.EnumKind:
		for v := range protoreflect.EnumNumber(8) {
			all = append(all, protoreflect.ValueOfEnum(v-1))
		}
	case f.Kind() == protoreflect.Int32Kind:
		for _, bound := range []int32{0, 1, 3, 8, 28, 1000, 65536, 1_000_000} {
			for _, v := range []int32{bound - 1, bound, bound + 1} {
				all = append(all, protoreflect.ValueOfInt32(v))
			}
		}
		all = append(all, protoreflect.ValueOfInt32(math.MinInt32), protoreflect.ValueOfInt32(math.MaxInt32))
	case f.Kind() == protoreflect.DoubleKind:
		for _, bound := range []float64{0, 0.5, 0.999, 1, 1e6, 1e9, 1e12} {
			for _, v := range []float64{math.Nextafter(bound, -1), bound, math.Nextafter(bound, math.Inf(1))} {
				all = append(all, protoreflect.ValueOfFloat64(v))
			}
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.Copysign(0, -1)} {
			all = append(all, protoreflect.ValueOfFloat64(v))
		}
	}
	return all
}
