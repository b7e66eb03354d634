package document_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// requireLikeProtojson requires protojson's text, spaces aside.
func requireLikeProtojson(t *testing.T, m proto.Message) {
	t.Helper()
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	require.NoError(t, err)
	var want bytes.Buffer
	require.NoError(t, json.Indent(&want, text, "", "  "))
	got, err := document.MarshalJSON(m)
	require.NoError(t, err)
	require.Equal(t, want.String()+"\n", string(got))
}

func TestMarshalJSON(t *testing.T) {
	requireLikeProtojson(t, sample())
	requireLikeProtojson(t, &poolwrightv1.Fleet{})
	requireLikeProtojson(t, &poolwrightv1.Workload{Mixing: 7, Slo: &poolwrightv1.SLO{}, Load: &poolwrightv1.Load{}})
}

func TestMarshalJSONKinds(t *testing.T) {
	for _, text := range []string{
		`{"f32": 1.5, "f64": -1e-9, "i32": -2147483648, "i64": 9007199254740993, "u32": 4294967295, "u64": 18446744073709551615}`,
		`{"f32": 0.00001, "f64": 1e21, "raw": "AQL/+w==", "left": "", "spans": ["0s", "-0.5s", "-1.000001s", "0.000000001s"]}`,
		`{"right": false, "byNumber": {"-1": {"i32": 1}, "3": {}}, "byTruth": {"true": "1s", "false": "2s"}}`,
	} {
		m := dynamicpb.NewMessage(kindsType(t))
		require.NoError(t, protojson.Unmarshal([]byte(text), m))
		requireLikeProtojson(t, m)
	}
}

func TestMarshalJSONScalars(t *testing.T) {
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e-7, 1.25e-10, 5e-324, 1e20, 1e21, -1.7976931348623157e308,
		math.NaN(), math.Inf(1), math.Inf(-1), 0.1 + 0.2, 123456789,
	} {
		requireLikeProtojson(t, &poolwrightv1.Pool{PricePerHour: f})
	}
	for _, s := range []string{"\x00\x01\x1f\x7f", "\b\f\n\r\t", `"\/`, "é€😀\u2028", "<&>", "\ufffd"} {
		requireLikeProtojson(t, &poolwrightv1.Pool{Name: s, Quotas: map[string]int32{s: 1, "b": 2, "": 3}})
	}
	for _, d := range []time.Duration{0, 1, -1, time.Microsecond, -time.Millisecond, 1500 * time.Millisecond, time.Hour, 1234567890} {
		requireLikeProtojson(t, durationpb.New(d))
		requireLikeProtojson(t, timestamppb.New(time.Unix(1e9, 0).Add(d)))
	}
}

func TestMarshalJSONAny(t *testing.T) {
	for _, m := range []proto.Message{sample(), &poolwrightv1.Capacities{}, &poolwrightv1.SLO{}, durationpb.New(time.Second)} {
		packed, err := anypb.New(m)
		require.NoError(t, err)
		requireLikeProtojson(t, packed)
	}
	_, err := document.MarshalJSON(&anypb.Any{TypeUrl: "type.googleapis.com/none"})
	require.Error(t, err)
}

func TestMarshalJSONErrors(t *testing.T) {
	for want, m := range map[string]proto.Message{
		`document: text "\xff" is not UTF-8`:  &poolwrightv1.Pool{Name: "\xff"},
		`document: text "a\xff" is not UTF-8`: &poolwrightv1.Pool{Quotas: map[string]int32{"a\xff": 1}},
	} {
		_, err := document.MarshalJSON(m)
		require.EqualError(t, err, want)
	}
	for _, m := range []proto.Message{
		&durationpb.Duration{Seconds: 1, Nanos: -1},
		&durationpb.Duration{Seconds: math.MaxInt64},
		&timestamppb.Timestamp{Nanos: 1e9},
		&poolwrightv1.Workload{Variants: []*poolwrightv1.Variant{{Startup: &durationpb.Duration{Nanos: 1e9}}}},
	} {
		_, err := document.MarshalJSON(m)
		require.Error(t, err)
		_, err = document.MarshalYAML(m)
		require.Error(t, err)
	}
}
