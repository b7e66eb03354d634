package baseline_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/baseline"
)

// tolerance is relative.
const tolerance = 1e-4

// vector is one row of the expected numbers. Times are in milliseconds, rates in
// requests per second.
type vector struct {
	ID                        string
	Model                     string
	Alpha, Beta, Gamma, Delta float32
	InTokens, OutTokens       float32
	MaxBatch, MaxQueue        int
	Lambda                    float32
	TargetITL, TargetTTFT     float32
	TargetTPS                 float32
	// Peer is what the family's own program answered, nil if it refused.
	Peer map[string]any
}

// firstAPIVector is one row of the family's first API. Rates are per minute. The
// numbers are not a program's but double-precision references.
type firstAPIVector struct {
	Profile        string
	Alpha, Beta    float32
	AvgLength      float32
	MaxBatch       int
	Arrivals       float32 `json:"arrival_rpm_per_replica"`
	AvgConcurrency float64 `json:"avg_concurrency"`
	ITL            float64 `json:"itl_ms"`
	Wait           float64 `json:"wait_ms"`
	Throughput     float64 `json:"throughput_rpm"`
	HighestRate    float64 `json:"max_rpm_lambda_max"`

	// Of the published log only.
	ArrivalsTotal float32 `json:"arrival_rpm"`
	NumReplicas   float32
	SLOITL        float32 `json:"slo_itl"`
	SLOWait       float64 `json:"slo_ttw"`
	Logged        struct {
		MaxRPM, ServTime, WaitTime float64
	}
}

type vectors struct {
	Analyze, Size []vector
	EdgeCases     []vector `json:"edge_cases"`
	FirstAPI      struct {
		Cases     []firstAPIVector
		Published firstAPIVector `json:"published_log_check"`
	} `json:"v0_first_api"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile("../../queueing/testdata/queueing.json")
	require.NoError(t, err)
	var v vectors
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

var models = map[string]baseline.Model{"v1": baseline.V1, "v2": baseline.V2, "v3": baseline.V3}

func (v *vector) analyzer() (*baseline.Analyzer, error) {
	return baseline.New(baseline.Replica{
		Model: models[v.Model],
		Alpha: v.Alpha, Beta: v.Beta, Gamma: v.Gamma, Delta: v.Delta,
		In: v.InTokens, Out: v.OutTokens,
		MaxBatch: v.MaxBatch, MaxQueue: v.MaxQueue,
	})
}

// answer asks the baseline what the row asked the family's program, and names the
// numbers as that does: with their units in most rows, without in edge cases.
func (v *vector) answer() (map[string]float32, error) {
	a, err := v.analyzer()
	if err != nil {
		return nil, err
	}
	if v.Lambda > 0 {
		m, err := a.Analyze(v.Lambda)
		return analysis(m, a.MaxRate()), err
	}
	s, err := a.Size(baseline.Targets{TTFT: v.TargetTTFT, ITL: v.TargetITL, TPS: v.TargetTPS})
	sized := analysis(s.Metrics, s.Rate)
	achieved := s.Metrics.Throughput * v.OutTokens
	for name, value := range map[string]float32{
		"rate_itl_rps": s.ITL, "rate_tps_rps": s.TPS, "rate_ttft_rps": s.TTFT,
		"rate_itl": s.ITL, "rate_tps": s.TPS, "rate_ttft": s.TTFT, "max_rate": s.Rate,
		"ach_itl_ms": s.Metrics.ITL, "ach_ttft_ms": s.Metrics.TTFT,
		"ach_itl": s.Metrics.ITL, "ach_ttft": s.Metrics.TTFT, "ach_tps": achieved,
		"rate_max": a.MaxRate(),
	} {
		sized[name] = value
	}
	return sized, err
}

func analysis(m baseline.Metrics, maxRate float32) map[string]float32 {
	return map[string]float32{
		"avg_concurrency": m.Running, "conc": m.Running,
		"itl_ms": m.ITL, "itl": m.ITL,
		"max_rate_rps": maxRate, "rate_max": maxRate,
		"prefill_ms": m.Prefill, "prefill": m.Prefill,
		"resp_ms": m.Response, "resp": m.Response,
		"throughput_rps": m.Throughput, "throughput": m.Throughput,
		"ttft_ms": m.TTFT, "ttft": m.TTFT,
		"utilisation": m.Utilization, "rho": m.Utilization,
		"wait_ms": m.Wait, "wait": m.Wait,
	}
}

// assertClose compares with a number of the family's own program, which may be NaN.
func assertClose(t *testing.T, name string, want any, got float32) {
	t.Helper()
	if want == "NaN" {
		assert.True(t, math.IsNaN(float64(got)), "%s = %v, want NaN", name, got)
		return
	}
	number, ok := want.(float64)
	require.True(t, ok, "%s: %v", name, want)
	assert.InDelta(t, number, float64(got), tolerance*math.Abs(number), name)
}

// assertWait compares with a wait in double precision. The family's is a difference
// of response and service time, so it can't be finer than those are.
func assertWait(t *testing.T, want float64, got baseline.Metrics) {
	t.Helper()
	resolution := float64(got.Response) / (1 << 23)
	assert.InDelta(t, want, float64(got.Wait), tolerance*want+resolution, "wait")
}

func TestEqualToPeer(t *testing.T) {
	all := readVectors(t)
	require.NotEmpty(t, all.Analyze)
	require.NotEmpty(t, all.Size)
	require.NotEmpty(t, all.EdgeCases)
	for _, rows := range [][]vector{all.Analyze, all.Size, all.EdgeCases} {
		for _, v := range rows {
			t.Run(v.ID, func(t *testing.T) {
				got, err := v.answer()
				if v.Peer == nil {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				compared := 0
				for name, want := range v.Peer {
					if name == "id" || name == "rate_min" {
						continue
					}
					value, known := got[name]
					require.True(t, known, "%s is not compared", name)
					assertClose(t, name, want, value)
					compared++
				}
				require.GreaterOrEqual(t, compared, 9)
			})
		}
	}
}

func (v *firstAPIVector) analyzer(t *testing.T) *baseline.Analyzer {
	t.Helper()
	a, err := baseline.New(baseline.Replica{
		Model: baseline.V0, Alpha: v.Alpha, Beta: v.Beta, Out: v.AvgLength, MaxBatch: v.MaxBatch,
	})
	require.NoError(t, err)
	return a
}

func TestFirstAPI(t *testing.T) {
	rows := readVectors(t).FirstAPI.Cases
	require.NotEmpty(t, rows)
	for _, v := range rows {
		t.Run(v.Profile, func(t *testing.T) {
			a := v.analyzer(t)
			m, err := a.Analyze(v.Arrivals / 60)
			require.NoError(t, err)
			assertClose(t, "avg_concurrency", v.AvgConcurrency, m.Running)
			assertClose(t, "itl_ms", v.ITL, m.ITL)
			assertWait(t, v.Wait, m)
			assert.Equal(t, m.Wait, m.TTFT)
			assertClose(t, "throughput", v.Throughput, m.Throughput*60)
			assertClose(t, "max_rate", v.HighestRate, a.MaxRate()*60)
		})
	}
}

// TestPublishedLog reproduces a line of a controller log of the first API, whose
// limit on the wait is for 95 % of requests, taken as exponential.
func TestPublishedLog(t *testing.T) {
	v := readVectors(t).FirstAPI.Published
	a := v.analyzer(t)
	s, err := a.Size(baseline.Targets{TTFT: float32(v.SLOWait / -math.Log(0.05)), ITL: v.SLOITL})
	require.NoError(t, err)
	assertClose(t, "rate", v.Logged.MaxRPM, s.Rate*60)
	m, err := a.Analyze(v.ArrivalsTotal / v.NumReplicas / 60)
	require.NoError(t, err)
	assertClose(t, "itl", v.Logged.ServTime, m.ITL)
	assertWait(t, v.Logged.WaitTime, m)
}
