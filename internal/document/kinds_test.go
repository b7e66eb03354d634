package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
)

// kindsFile declares a message with fields of every kind, which the fleet doesn't
// have.
const kindsFile = `
name: "kinds.proto" package: "test" syntax: "proto3"
dependency: "google/protobuf/duration.proto" dependency: "google/protobuf/timestamp.proto"
message_type {
  name: "Kinds"
  field { name: "f32" number: 1 type: TYPE_FLOAT label: LABEL_OPTIONAL }
  field { name: "f64" number: 2 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "i32" number: 3 type: TYPE_SINT32 label: LABEL_OPTIONAL }
  field { name: "i64" number: 4 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "u32" number: 5 type: TYPE_FIXED32 label: LABEL_OPTIONAL }
  field { name: "u64" number: 6 type: TYPE_UINT64 label: LABEL_OPTIONAL }
  field { name: "raw" number: 7 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "at" number: 8 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL }
  field { name: "spans" number: 9 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_REPEATED }
  field { name: "left" number: 10 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "right" number: 11 type: TYPE_BOOL label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "by_number" number: 12 type: TYPE_MESSAGE type_name: ".test.Kinds.ByNumberEntry" label: LABEL_REPEATED }
  field { name: "by_truth" number: 13 type: TYPE_MESSAGE type_name: ".test.Kinds.ByTruthEntry" label: LABEL_REPEATED }
  nested_type {
    name: "ByNumberEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".test.Kinds" label: LABEL_OPTIONAL }
  }
  nested_type {
    name: "ByTruthEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_BOOL label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_OPTIONAL }
  }
  oneof_decl { name: "side" }
}`

func kindsType(tb testing.TB) protoreflect.MessageDescriptor {
	tb.Helper()
	var file descriptorpb.FileDescriptorProto
	require.NoError(tb, prototext.Unmarshal([]byte(kindsFile), &file))
	d, err := protodesc.NewFile(&file, protoregistry.GlobalFiles)
	require.NoError(tb, err)
	return d.Messages().ByName("Kinds")
}

// Everything here protojson reads too, and to the same message.
func TestKinds(t *testing.T) {
	kinds := kindsType(t)
	for _, text := range []string{
		`{"f32": 1.5, "f64": -1e-9, "i32": -2147483648, "i64": 9007199254740993, "u32": 4294967295, "u64": 18446744073709551615}`,
		`{"f32": 1e38, "f64": 1.7976931348623157e308, "i32": 1.0, "i64": "-9223372036854775808", "u32": 42e8, "u64": "18446744073709551615"}`,
		`{"f32": -0.0, "f64": 1e-400, "i32": 0.0e5, "i64": 1.5e1, "u32": 0, "u64": 0}`,
		`{"i32": -12.00e0, "i64": 100e-2, "u64": 1e18}`,
		`{"raw": "AQL/+w==", "at": "2026-01-31T12:00:00.5+01:00", "spans": ["1s", "-0.000000001s", "315576000000s", "0.5s", "3s"]}`,
		`{"raw": "_-8", "at": "0001-01-01T00:00:00Z", "left": ""}`,
		`{"right": false, "left": null, "byNumber": {"-1": {"i32": 1}, "2147483647": {}}, "byTruth": {"true": "1s", "false": "2s"}}`,
	} {
		want, got := dynamicpb.NewMessage(kinds), dynamicpb.NewMessage(kinds)
		require.NoError(t, protojson.Unmarshal([]byte(text), want), text)
		require.NoError(t, unmarshalBoth(t, text, got), text)
		require.True(t, proto.Equal(want, got), "%s: %v", text, got)
	}
}

// unmarshalBoth reads a text as JSON and as YAML, which must agree.
func unmarshalBoth(t *testing.T, text string, m proto.Message) error {
	t.Helper()
	err := unmarshalFor(".json")([]byte(text), m)
	// A comment makes it YAML.
	other := m.ProtoReflect().New().Interface()
	yamlErr := unmarshalFor(".yaml")([]byte("# \n"+text), other)
	require.Equal(t, err == nil, yamlErr == nil, "%s: %v, %v", text, err, yamlErr)
	require.True(t, proto.Equal(m, other), text)
	return err
}

func TestKindsMistakes(t *testing.T) {
	kinds := kindsType(t)
	for text, want := range map[string]string{
		`{"f32": 1e39}`:                         `line 1, column 9: f32: number 1e39 is out of range: at most 3.4e+38`,
		`{"i64": 9223372036854775808}`:          `line 1, column 9: i64: 9223372036854775808 is out of range: from -9223372036854775808 to 9223372036854775807`,
		`{"i64": 1e19}`:                         `line 1, column 9: i64: 1e19 is out of range: from -9223372036854775808 to 9223372036854775807`,
		`{"u32": -1}`:                           `line 1, column 9: u32: -1 is out of range: from 0 to 4294967295`,
		`{"u64": 18446744073709551616}`:         `line 1, column 9: u64: 18446744073709551616 is out of range: from 0 to 18446744073709551615`,
		`{"u64": "x"}`:                          `line 1, column 9: u64: expected a whole number, got the string "x"`,
		`{"i64": 1.00000000000000000001}`:       `line 1, column 9: i64: expected a whole number, got 1.00000000000000000001`,
		`{"raw": "a"}`:                          `line 1, column 9: raw: expected bytes in base64, got the string "a"`,
		`{"raw": 1}`:                            `line 1, column 9: raw: expected bytes in base64, got the number 1`,
		`{"at": "2026-01-31"}`:                  `line 1, column 8: at: expected a time such as "2026-01-31T12:00:00Z", got the string "2026-01-31"`,
		`{"at": "0000-12-31T23:00:00Z"}`:        `line 1, column 8: at: time 0000-12-31T23:00:00Z is out of range: from year 1 to 9999`,
		`{"at": 5}`:                             `line 1, column 8: at: expected a time such as "2026-01-31T12:00:00Z", got the number 5`,
		`{"left": "x", "right": true}`:          `line 1, column 15: right: only one of left and right may be given`,
		`{"byNumber": {"x": {}}}`:               `line 1, column 15: byNumber["x"]: expected a whole number, got the string "x"`,
		`{"byNumber": {"1": {"i32": "1"}}}`:     `line 1, column 28: byNumber["1"].i32: expected a whole number, got the string "1": remove the quotes`,
		`{"byTruth": {"1": "1s"}}`:              `line 1, column 14: byTruth["1"]: expected true or false, got the number 1`,
		`{"byTruth": {"true": "1"}}`:            `line 1, column 22: byTruth["true"]: expected a duration such as "50ms", "1m30s" or "0.05s", got the string "1"`,
		`{"spans": ["1s", null]}`:               `line 1, column 18: spans[1]: expected a duration such as "50ms", "1m30s" or "0.05s", got null`,
		`{"spans": ["-1.5h", "1.0000000001y"]}`: `line 1, column 21: spans[1]: expected a duration such as "50ms", "1m30s" or "0.05s", got the string "1.0000000001y"`,
	} {
		got := dynamicpb.NewMessage(kinds)
		require.EqualError(t, unmarshalFor(".json")([]byte(text), got), want)
	}
}
