package document_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// largeFleet is about 10 MB of compact JSON.
func largeFleet(tb testing.TB) []byte {
	tb.Helper()
	w := sample().GetWorkloads()[0]
	w.Variants[0].Pools = nil
	for range 7 {
		w.Variants = append(w.Variants, w.GetVariants()[0])
	}
	fleet := &poolwrightv1.Fleet{}
	for range 4000 {
		fleet.Workloads = append(fleet.Workloads, w)
	}
	data, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(fleet)
	require.NoError(tb, err)
	var compact bytes.Buffer
	require.NoError(tb, json.Compact(&compact, data))
	return compact.Bytes()
}

// BenchmarkUnmarshal compares with protojson, which stops at the first mistake.
func BenchmarkUnmarshal(b *testing.B) {
	data := largeFleet(b)
	run := func(name string, unmarshal func([]byte, proto.Message) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := unmarshal(data, &poolwrightv1.Fleet{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("document", document.UnmarshalJSON)
	run("protojson", protojson.Unmarshal)
}
