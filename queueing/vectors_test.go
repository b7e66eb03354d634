package queueing_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/queueing"
)

// vectorTolerance is relative.
const vectorTolerance = 1e-9

// vectorCase is one row of testdata/queueing.json. Times are in milliseconds.
type vectorCase struct {
	ID                        string
	Model                     string
	Alpha, Beta, Gamma, Delta float64
	InTokens, OutTokens       float64
	MaxBatch, MaxQueue        int
	Lambda                    float64
	TargetITL, TargetTTFT     float64
	TargetTPS                 float64
	Right                     float64         `json:"right_rate_rps"`
	Ref64                     json.RawMessage `json:"ref64"`
}

// sizingReference is ref64 of a sizing row.
type sizingReference struct {
	AtMax map[string]*float64 `json:"at_max"`
	Max   float64             `json:"max_rate_rps"`
	ITL   float64             `json:"rate_itl_rps"`
	TPS   float64             `json:"rate_tps_rps"`
	TTFT  float64             `json:"rate_ttft_rps"`
}

// firstAPICase is one row of the first API. Times are in milliseconds, rates per
// minute.
type firstAPICase struct {
	Profile             string
	Alpha, Beta         float64
	AvgLength           float64
	MaxBatch            int
	Arrivals            float64 `json:"arrival_rpm_per_replica"`
	AvgConcurrency      float64 `json:"avg_concurrency"`
	ITL                 float64 `json:"itl_ms"`
	Wait                float64 `json:"wait_ms"`
	Busy                float64 `json:"rho_1_minus_p0"`
	Throughput          float64 `json:"throughput_rpm"`
	HighestRate         float64 `json:"max_rpm_lambda_max"`
	ArrivalsTotal       float64 `json:"arrival_rpm"`
	NumReplicas         float64
	SLOITL              float64 `json:"slo_itl"`
	SLOWait             float64 `json:"slo_ttw"`
	PublishedReferences struct {
		ITL         float64 `json:"itl"`
		HighestRate float64 `json:"maxRPM"`
		Busy        float64 `json:"rho"`
		Wait        float64 `json:"wait"`
	} `json:"ref64"`
}

type vectors struct {
	Analyze   []vectorCase
	Size      []vectorCase
	EdgeCases []vectorCase `json:"edge_cases"`
	FirstAPI  struct {
		Cases     []firstAPICase
		Published firstAPICase `json:"published_log_check"`
	} `json:"v0_first_api"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/queueing.json")
	require.NoError(t, err)
	var v vectors
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

var modelNames = map[string]queueing.ServiceModel{
	"v1": queueing.LLMDV1,
	"v2": queueing.LLMDV2,
	"v3": queueing.LLMDV3,
}

func (c *vectorCase) station(t *testing.T) *queueing.Station {
	t.Helper()
	model, ok := modelNames[c.Model]
	require.True(t, ok, "model %q", c.Model)
	s, err := queueing.NewStation(queueing.Replica{
		Model: model,
		Profile: queueing.Profile{
			Alpha: c.Alpha / 1e3, Beta: c.Beta / 1e3, Gamma: c.Gamma / 1e3, Delta: c.Delta / 1e3,
		},
		MaxBatch: c.MaxBatch,
		MaxQueue: queueing.Waiting{Limited: true, Places: c.MaxQueue},
	}, queueing.Shape{InputTokens: queueing.Tokens(c.InTokens), OutputTokens: queueing.Tokens(c.OutTokens)})
	require.NoError(t, err)
	return s
}

func (c *vectorCase) slo() queueing.SLO {
	var slo queueing.SLO
	for _, l := range []queueing.Limit{
		{Metric: queueing.TTFT, Value: c.TargetTTFT / 1e3},
		{Metric: queueing.ITL, Value: c.TargetITL / 1e3},
		{Metric: queueing.TokensPerSecond, Value: c.TargetTPS},
	} {
		if l.Value > 0 {
			slo.Limits = append(slo.Limits, l)
		}
	}
	return slo
}

// measured returns our values under the names and units of ref64.
func measured(p queueing.Performance, highestRate float64) map[string]float64 {
	return map[string]float64{
		"avg_concurrency": p.Running,
		"avg_in_system":   p.Running + p.Queued,
		"block_prob":      p.BlockedShare,
		"itl_ms":          float64(p.ITL.Mean()) * 1e3,
		"max_rate_rps":    highestRate,
		"p_empty":         p.EmptyProbability,
		"prefill_ms":      float64(p.Prefill) * 1e3,
		"resp_ms":         float64(p.E2E.Mean()) * 1e3,
		"serv_ms":         float64(p.Service) * 1e3,
		"throughput_rps":  float64(p.Throughput),
		"ttft_ms":         float64(p.TTFT.Mean()) * 1e3,
		"utilisation":     p.Utilization,
		"wait_ms":         float64(p.Wait.Mean()) * 1e3,
	}
}

func requireClose(t *testing.T, name string, want, got float64) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(got-want), vectorTolerance*math.Abs(want), "%s: want %v, got %v", name, want, got)
}

func requirePerformance(t *testing.T, want map[string]*float64, got map[string]float64) {
	t.Helper()
	require.Len(t, want, len(got))
	for name, value := range got {
		require.NotNil(t, want[name], name)
		requireClose(t, name, *want[name], value)
	}
}

func capacity(t *testing.T, s *queueing.Station, limits ...queueing.Limit) queueing.Capacity {
	t.Helper()
	c, err := s.Capacity(queueing.SLO{Limits: limits})
	require.NoError(t, err)
	return c
}

func requireAnalysis(t *testing.T, c vectorCase) {
	t.Helper()
	var want map[string]*float64
	require.NoError(t, json.Unmarshal(c.Ref64, &want))
	s := c.station(t)
	highest := float64(capacity(t, s).Rate)
	requirePerformance(t, want, measured(s.Evaluate(queueing.Rate(c.Lambda)), highest))
}

// requireSizing compares the rate of every single limit, of all together, and the
// performance at that rate.
func requireSizing(t *testing.T, c vectorCase) {
	t.Helper()
	var want sizingReference
	require.NoError(t, json.Unmarshal(c.Ref64, &want))
	s := c.station(t)
	single := map[queueing.Metric]float64{
		queueing.TTFT: want.TTFT, queueing.ITL: want.ITL, queueing.TokensPerSecond: want.TPS,
	}
	highest := float64(capacity(t, s).Rate)
	slo := c.slo()
	for _, l := range slo.Limits {
		requireClose(t, l.String(), single[l.Metric], float64(capacity(t, s, l).Rate))
		delete(single, l.Metric)
	}
	for metric, rate := range single {
		requireClose(t, metric.String()+" without limit", rate, highest)
	}
	sized := capacity(t, s, slo.Limits...)
	require.True(t, sized.Feasible)
	requireClose(t, "rate", want.Max, float64(sized.Rate))
	require.Equal(t, sized.Bound, float64(sized.Rate) < highest)
	requirePerformance(t, want.AtMax, measured(s.Evaluate(sized.Rate), highest))
}

func TestVectorsAnalyze(t *testing.T) {
	for _, c := range readVectors(t).Analyze {
		t.Run(c.ID, func(t *testing.T) { requireAnalysis(t, c) })
	}
}

func TestVectorsSize(t *testing.T) {
	for _, c := range readVectors(t).Size {
		t.Run(c.ID, func(t *testing.T) { requireSizing(t, c) })
	}
}

func TestVectorsEdgeCases(t *testing.T) {
	for _, c := range readVectors(t).EdgeCases {
		t.Run(c.ID, func(t *testing.T) {
			switch {
			case c.Right > 0:
				sized := capacity(t, c.station(t), c.slo().Limits...)
				requireClose(t, "rate", c.Right, float64(sized.Rate))
				p := c.station(t).Evaluate(sized.Rate)
				requireClose(t, "itl", c.Alpha/1e3, float64(p.ITL.Mean()))
			case string(c.Ref64) == "null":
				sized := capacity(t, c.station(t), c.slo().Limits...)
				require.False(t, sized.Feasible)
				require.Equal(t, "itl.mean", sized.Binding.String())
				require.Greater(t, sized.Best, c.TargetITL/1e3)
			case c.Lambda > 0:
				requireAnalysis(t, c)
			default:
				requireSizing(t, c)
			}
		})
	}
}

func (c *firstAPICase) station(t *testing.T) *queueing.Station {
	t.Helper()
	s, err := queueing.NewStation(queueing.Replica{
		Model:    queueing.LLMDV0,
		Profile:  queueing.Profile{Alpha: c.Alpha / 1e3, Beta: c.Beta / 1e3},
		MaxBatch: c.MaxBatch,
	}, queueing.Shape{OutputTokens: queueing.Tokens(c.AvgLength)})
	require.NoError(t, err)
	return s
}

func TestVectorsFirstAPI(t *testing.T) {
	for _, c := range readVectors(t).FirstAPI.Cases {
		t.Run(c.Profile, func(t *testing.T) {
			s := c.station(t)
			p := s.Evaluate(queueing.Rate(c.Arrivals / 60))
			requireClose(t, "avg_concurrency", c.AvgConcurrency, p.Running)
			requireClose(t, "itl", c.ITL/1e3, float64(p.ITL.Mean()))
			requireClose(t, "wait", c.Wait/1e3, float64(p.Wait.Mean()))
			requireClose(t, "ttft", c.Wait/1e3, float64(p.TTFT.Mean()))
			requireClose(t, "busy", c.Busy, 1-p.EmptyProbability)
			requireClose(t, "throughput", c.Throughput, float64(p.Throughput)*60)
			requireClose(t, "highest rate", c.HighestRate, float64(capacity(t, s).Rate)*60)
		})
	}
}

// TestPublishedLog reproduces a line of a controller log of the first API.
func TestPublishedLog(t *testing.T) {
	c := readVectors(t).FirstAPI.Published
	s := c.station(t)
	sized := capacity(t, s,
		queueing.Limit{Metric: queueing.ITL, Value: c.SLOITL / 1e3},
		queueing.Limit{Metric: queueing.TTFT, Quantile: 0.95, Value: c.SLOWait / 1e3})
	want := c.PublishedReferences
	requireClose(t, "rate", want.HighestRate, float64(sized.Rate)*60)
	require.Equal(t, "ttft.p95", sized.Binding.String())
	p := s.Evaluate(queueing.Rate(c.ArrivalsTotal / c.NumReplicas / 60))
	requireClose(t, "itl", want.ITL/1e3, float64(p.ITL.Mean()))
	requireClose(t, "busy", want.Busy, 1-p.EmptyProbability)
	requireClose(t, "wait", want.Wait/1e3, float64(p.Wait.Mean()))
}
