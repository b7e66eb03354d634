package document_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/internal/document"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func unmarshalFor(file string) func([]byte, proto.Message) error {
	if filepath.Ext(file) == ".json" {
		return document.UnmarshalJSON
	}
	return document.UnmarshalYAML
}

// sample uses every kind of field that a fleet has.
func sample() *poolwrightv1.Fleet {
	return &poolwrightv1.Fleet{
		Pools: []*poolwrightv1.Pool{{
			Name: "h100", Accelerator: "H100", PricePerHour: 4.1, Capacity: proto.Int32(64),
			Quotas: map[string]int32{"prod": 48, "dev": 8}, Zone: "yes", Interruptible: true,
			Growable: &poolwrightv1.Growth{Max: 96, Delay: durationpb.New(5 * time.Minute)},
		}},
		Workloads: []*poolwrightv1.Workload{{
			Name: "chat", Model: "llama: \"70b\"\n", Namespace: "1e3", ServiceClass: "2026-01-01",
			Load: &poolwrightv1.Load{ArrivalRate: 12.5, InputTokens: 1e21, OutputTokens: 256},
			Slo: &poolwrightv1.SLO{
				Ttft: &poolwrightv1.LatencyLimits{P95: durationpb.New(-time.Second), Quantiles: []*poolwrightv1.QuantileLimit{
					{Q: 0.999, Limit: durationpb.New(50 * time.Millisecond)},
				}},
			},
			Mixing: poolwrightv1.Workload_SINGLE,
			Variants: []*poolwrightv1.Variant{{
				Name: "null", Pools: []string{"h100", "~", "", " x ", "#"}, Profile: &poolwrightv1.Profile{AlphaMs: 1e-7},
				ServiceModel: poolwrightv1.Variant_LLMD_V1,
			}},
		}},
		Objective: &poolwrightv1.Objective{RelativeGap: proto.Float64(0)},
	}
}

func TestRoundTrip(t *testing.T) {
	for name, marshal := range map[string]func(proto.Message) ([]byte, error){"json": document.MarshalJSON, "yaml": document.MarshalYAML} {
		t.Run(name, func(t *testing.T) {
			data, err := marshal(sample())
			require.NoError(t, err)
			got := &poolwrightv1.Fleet{}
			require.NoError(t, document.Unmarshal(data, got), string(data))
			require.True(t, proto.Equal(sample(), got), string(data))
			again, err := marshal(got)
			require.NoError(t, err)
			require.Equal(t, string(data), string(again))
		})
	}
}

func TestMarshalWritesZeroes(t *testing.T) {
	m := &poolwrightv1.Capacities{Variants: []*poolwrightv1.VariantCapacity{{Variant: "v", SaturationRps: proto.Float64(2)}}}
	data, err := document.MarshalYAML(m)
	require.NoError(t, err)
	require.Equal(t, `variants:
  - workload: ""
    variant: v
    capacityRps: 0
    servedRps: 0
    binding: ""
    saturationRps: 2
    reason: ""
    shapeServedRps: []
`, string(data))
	data, err = document.MarshalJSON(m)
	require.NoError(t, err)
	require.Equal(t, `{
  "variants": [
    {
      "workload": "",
      "variant": "v",
      "capacityRps": 0,
      "servedRps": 0,
      "binding": "",
      "saturationRps": 2,
      "reason": "",
      "shapeServedRps": []
    }
  ]
}
`, string(data))
}

func TestUnmarshal(t *testing.T) {
	for name, text := range map[string]string{
		"yaml": `
# comment
pools:
- accelerator: H100   # comment
  capacity: +64
  pricePerHour: .5
workloads:
- name: chat
  slo: {ttft: {p95: 1m30s, p50: "0.05s"}}
  variants: []
objective: ~
`,
		"yaml aliases": `
pools: [{accelerator: &name H100, capacity: &count 64, price_per_hour: 5e-1}]
workloads: [{name: "chat", slo: {ttft: {p95: 90s, p50: 50ms}}}]
`,
		"json": `{"pools": [{"accelerator": "H\u0031\u00300", "capacity": 6.4e1, "price_per_hour": 0.50}],
			"workloads": [{"name": "chat", "slo": {"ttft": {"p95": "1.5m", "p50": "0.050s"}}, "mixing": 0}], "objective": null}`,
		"json with byte order mark": "\ufeff" + `{"pools": [{"accelerator": "H100", "capacity": 64, "pricePerHour": 0.5}],
			"workloads": [{"name": "chat", "slo": {"ttft": {"p95": "90s", "p50": "50000us"}}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			got := &poolwrightv1.Fleet{}
			require.NoError(t, document.Unmarshal([]byte(text), got))
			want := &poolwrightv1.Fleet{
				Pools: []*poolwrightv1.Pool{{Accelerator: "H100", Capacity: proto.Int32(64), PricePerHour: 0.5}},
				Workloads: []*poolwrightv1.Workload{{Name: "chat", Slo: &poolwrightv1.SLO{Ttft: &poolwrightv1.LatencyLimits{
					P50: durationpb.New(50 * time.Millisecond), P95: durationpb.New(90 * time.Second),
				}}}},
			}
			require.True(t, proto.Equal(want, got), protojson.Format(got))
		})
	}
}

func TestAliasesExpand(t *testing.T) {
	got := &poolwrightv1.Fleet{}
	require.NoError(t, document.Unmarshal([]byte(`
workloads:
- name: a
  variants: &variants [{name: x, profile: &profile {alphaMs: 10}}, {name: y, profile: *profile}]
- name: b
  variants: *variants
`), got))
	for _, w := range got.GetWorkloads() {
		require.Len(t, w.GetVariants(), 2)
		for _, v := range w.GetVariants() {
			require.Equal(t, 10.0, v.GetProfile().GetAlphaMs())
		}
	}
}

// What aliases add is limited, in values and in text.
func TestAliasesAreLimited(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, text := range map[string]string{
		"values":        "workloads: [{variants: &v [" + strings.Repeat("{}, ", 500) + "]}" + strings.Repeat(", {variants: *v}", 500) + "]",
		"texts":         "pools: [{name: &long " + long + "}" + strings.Repeat(", {name: *long}", 400) + "]",
		"texts of keys": "pools: [{quotas: &q {" + long + ": 1}}" + strings.Repeat(", {quotas: *q}", 400) + "]",
		"keys":          "pools: [{name: &long " + long + "}" + strings.Repeat(", {quotas: {*long : 1}}", 400) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, document.Unmarshal([]byte(text), &poolwrightv1.Fleet{}))
			most := document.OfOthers([]byte(text)).MaxExpanded
			require.Less(t, most, 2000)
			err := document.OfOthers([]byte(text)).Unmarshal([]byte(text), &poolwrightv1.Fleet{})
			require.ErrorContains(t, err, fmt.Sprintf("aliases expand to more than %d values", most))
		})
	}
	text := "workloads: [{name: a, variants: &v [{name: x, accelerator: H100, capacityRps: 3}]}, {name: b, variants: *v}]"
	require.NoError(t, document.OfOthers([]byte(text)).Unmarshal([]byte(text), &poolwrightv1.Fleet{}))
}

// What could be read stays in the message, so that its meaning can be checked too.
func TestErrorsKeepTheRest(t *testing.T) {
	got := &poolwrightv1.Fleet{Objective: &poolwrightv1.Objective{BudgetPerHour: 1}}
	err := document.Unmarshal([]byte(`{"pools": [{"name": 1, "accelerator": "H100"}]}`), got)
	require.EqualError(t, err, `line 1, column 21: pools[0].name: expected a string, got the number 1: put it in quotes`)
	require.True(t, proto.Equal(&poolwrightv1.Fleet{Pools: []*poolwrightv1.Pool{{Accelerator: "H100"}}}, got))
}

func TestYAMLDepth(t *testing.T) {
	err := document.Options{MaxDepth: 3}.Unmarshal([]byte(`a: [[[]]]`), &poolwrightv1.Fleet{})
	require.EqualError(t, err, "line 1, column 6: nested deeper than 3 levels")
}

func TestLimits(t *testing.T) {
	small := document.Options{MaxBytes: 100, MaxYAMLBytes: 50, MaxDepth: 3, MaxValues: 10}
	for name, c := range map[string]struct{ text, want string }{
		"json bytes":  {`{"pools": []` + strings.Repeat(" ", 100) + `}`, "document longer than 100 bytes"},
		"yaml bytes":  {strings.Repeat("#", 60), "document that does not start with { or [, and so is read as YAML, longer than 50 bytes"},
		"json depth":  {`{"a": [[[]]]}`, "line 1, column 9: nested deeper than 3 levels"},
		"json values": {`{"a": [1,2,3,4,5,6,7,8,9,10]}`, "line 1, column 24: more than 10 values"},
		"yaml values": {"a: [1,2,3,4,5,6,7,8,9,10]", "more than 2 lines and values: write it as JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, small.Unmarshal([]byte(c.text), &poolwrightv1.Fleet{}), c.want)
		})
	}
	_, err := small.ReadAll(strings.NewReader(strings.Repeat("x", 101)))
	require.EqualError(t, err, "document longer than 100 bytes")
	data, err := small.ReadAll(strings.NewReader(strings.Repeat("x", 100)))
	require.NoError(t, err)
	require.Len(t, data, 100)
}

// Garbage of any kind ends with one error, and limits hold the memory it costs.
func TestGarbage(t *testing.T) {
	const length = 2 << 20
	options := document.Options{MaxValues: length / 2}
	for _, pattern := range []string{
		"{", "[", "[1,", `{"a":`, `"`, `{"pools":[{}` + strings.Repeat(",{}", 1000), "[\n", "- ", "? ", "a: &a [*a]\n", "&a ", "*a ", "!!str ", "#", " ", "\n",
		"'", "|\n", ">\n ", "%", ": ", "- - ", "a:\n", "\t", "{a: ", "[,", "---\n", "\x00", "\xff", "é", "x", "0", "1 ", "a: 1\n", "- a\n",
	} {
		t.Run(fmt.Sprintf("%.12q", pattern), func(t *testing.T) {
			data := bytes.Repeat([]byte(pattern), length/len(pattern))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := options.Unmarshal(data, &poolwrightv1.Fleet{})
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			require.Less(t, len(err.Error()), 20000)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*length))
		})
	}
}

func TestMarshalIsDeterministic(t *testing.T) {
	want, err := document.MarshalJSON(sample())
	require.NoError(t, err)
	require.True(t, json.Valid(want))
	for range 20 {
		got, err := document.MarshalJSON(sample())
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}
