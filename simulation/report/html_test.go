package report

import (
	"bytes"
	"math"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

func small() *poolwrightv1.SimulationResult {
	return &poolwrightv1.SimulationResult{
		Name: "a </script> & b", Duration: &durationpb.Duration{Seconds: 120}, Window: &durationpb.Duration{Seconds: 60}, Seeds: []uint64{7},
		Demand: []*poolwrightv1.DemandSeries{{Workload: "chat", ArrivalRate: []float64{1.0 / 3, 2}}},
		Autoscalers: []*poolwrightv1.AutoscalerResult{{
			Name: "poolwright", Cost: &poolwrightv1.Estimate{Mean: 1.23456789}, CostPerHour: []float64{1.23456789, 2},
			Replicas:  []*poolwrightv1.ReplicaSeries{{Workload: "chat", Variant: "v", Accelerator: "H100", Serving: []float64{1, 1.0 / 3}, Paid: []float64{2, 2}}},
			Latencies: []*poolwrightv1.LatencySeries{{Workload: "chat", TtftP95: []float64{math.NaN(), 0.123456789}}},
		}},
	}
}

var data = regexp.MustCompile(`(?s)<script type="application/json" id="result">(.*?)</script>`)

func TestHTMLHoldsTheResult(t *testing.T) {
	result := small()
	given := proto.CloneOf(result)
	var out bytes.Buffer
	require.NoError(t, HTML(&out, result))
	assert.True(t, proto.Equal(given, result), "the caller's result is left as it is")

	text := data.FindSubmatch(out.Bytes())
	require.NotNil(t, text)
	read := &poolwrightv1.SimulationResult{}
	require.NoError(t, protojson.Unmarshal(text[1], read))
	a := read.GetAutoscalers()[0]
	assert.Equal(t, "a </script> & b", read.GetName())
	assert.Equal(t, 1.23456789, a.GetCost().GetMean(), "totals have all digits")
	assert.Equal(t, []float64{1.23457, 2}, a.GetCostPerHour(), "series have six")
	assert.Equal(t, []float64{0.333333, 2}, read.GetDemand()[0].GetArrivalRate())
	assert.Equal(t, []float64{1, 0.333333}, a.GetReplicas()[0].GetServing())
	assert.True(t, math.IsNaN(a.GetLatencies()[0].GetTtftP95()[0]), "a window without requests is none with 0")
}

func TestHTMLNeedsNoOtherFile(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, HTML(&out, small()))
	assert.Contains(t, out.String(), "<title>a &lt;/script&gt; &amp; b · Poolwright</title>")
	assert.NotRegexp(t, `(?:src|href)="[^#d]`, out.String(), "what is loaded stands in the page")
	assert.NotRegexp(t, `(?m)^import `, out.String())
}
