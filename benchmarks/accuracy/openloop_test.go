package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/benchmarks/internal/command"
	"github.com/poolwright/poolwright/queueing"
)

const openLoopHeader = "set,backend,gpu,in,out,dist,cv2,max_num_seqs,max_batched_tokens,load_frac,achieved_rps," +
	"ttft_mean,ttft_ci95,ttft_p50,ttft_p95,ttft_p99,tpot_mean,tpot_ci95,tpot_p50,tpot_p95,tpot_p99," +
	"e2e_mean,e2e_p50,e2e_p95,e2e_p99,batch_mean,in_mean,out_mean,kv_tokens\n"

// openLoopText returns rows in which the model is right.
func openLoopText(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(openLoopHeader)
	for _, shape := range [][2]int{{128, 128}, {512, 256}, {2048, 512}} {
		for _, load := range []float64{0.1, 0.25, 0.5, 0.7, 0.9, 1.05} {
			b.WriteString(openLoopLine(t, "main", shape, 1, load, 0.01))
		}
	}
	b.WriteString(openLoopLine(t, "gamma", [2]int{512, 256}, 4, 0.7, 0.01))
	b.WriteString(openLoopLine(t, "gamma", [2]int{512, 256}, 4, 0.8, 0.2))
	return b.String()
}

// writeOpenLoop writes a folder of data with the given rows.
func writeOpenLoop(t *testing.T, text string) string {
	t.Helper()
	return writeData(t, "measured/simulated_open_loop.csv", text)
}

func openLoopLine(t *testing.T, set string, shape [2]int, ca, load, interval float64) string {
	t.Helper()
	c := condition{
		replica: queueing.Replica{MaxBatch: 256, MaxBatchedTokens: 2048, KVCacheTokens: 400000},
		shape: queueing.Shape{
			InputTokens: queueing.Tokens(shape[0]), OutputTokens: queueing.Tokens(shape[1]), ArrivalSCV: ca,
		},
	}
	s, err := c.station(knownProfile())
	require.NoError(t, err)
	rate := load * float64(s.SaturationRate())
	p := s.Evaluate(queueing.Rate(min(load, 0.99) * float64(s.SaturationRate())))
	latency := func(l queueing.Latency) string {
		return fmt.Sprintf("%g,%g,%g,%g,%g", 1e3*float64(l.Mean()), 1e3*interval*float64(l.Mean()),
			1e3*float64(l.Quantile(0.5)), 1e3*float64(l.Quantile(0.95)), 1e3*float64(l.Quantile(0.99)))
	}
	e2e := strings.Split(latency(p.E2E), ",")
	return fmt.Sprintf("%s,phys,H100,%d,%d,constant,%g,256,2048,%g,%g,%s,%s,%s,%g,%d,%d,400000\n",
		set, shape[0], shape[1], ca, load, rate, latency(p.TTFT), latency(p.ITL),
		strings.Join(append(e2e[:1], e2e[2:]...), ","), p.Running, shape[0], shape[1])
}

func TestOpenLoopFindsNoErrorInTheModelItself(t *testing.T) {
	s, err := openLoopStudy(options{Places: command.Places{Data: writeOpenLoop(t, openLoopText(t))}})
	require.NoError(t, err)
	assert.Empty(t, s.missed())
}

func TestOpenLoopFindsErrorsThatNoProfileExplains(t *testing.T) {
	rows, err := readOpenLoop(writeOpenLoop(t, openLoopText(t)))
	require.NoError(t, err)
	for i := range rows {
		if rows[i].set == "gamma" {
			rows[i].ttft.mean *= 2
		}
	}
	_, err = judgeOpenLoop(rows, false)
	require.NoError(t, err)
	for i := range rows {
		e := relative(float64(rows[i].predicted.TTFT.Mean()), rows[i].ttft.mean)
		if rows[i].set == "gamma" {
			assert.InDelta(t, -0.5, e, 0.05, "bursty rows do not bend the fit")
		} else if rows[i].load < 1 {
			assert.InDelta(t, 0, e, 0.03)
		}
	}
}

func TestOpenLoopMarksWhatItDoesNotJudge(t *testing.T) {
	rows, err := readOpenLoop(writeOpenLoop(t, openLoopText(t)))
	require.NoError(t, err)
	var unusable []string
	for i := range rows {
		if note := rows[i].unusable(); note != "" {
			unusable = append(unusable, fmt.Sprintf("%s %d %g: %s", rows[i].set, rows[i].prompt, rows[i].load, note))
		}
	}
	assert.Equal(t, []string{
		"main 128 1.05: at or beyond saturation",
		"main 512 1.05: at or beyond saturation",
		"main 2048 1.05: at or beyond saturation",
		"gamma 512 0.8: interval ±20.0 %",
	}, unusable)
	assert.Len(t, usable(rows), 16)
}

func TestARowNeverIdentifiesItsOwnProfileAtHighLoad(t *testing.T) {
	row := openLoopRow{prompt: 512}
	row.shape.ArrivalSCV = 1
	row.ttft = observed{mean: 1, interval: 0.01}
	for _, x := range []struct {
		load                    float64
		own, other, lowOnlyEach bool
	}{{0.1, true, true, true}, {0.25, true, true, true}, {0.4, false, true, false}, {1, false, false, false}} {
		row.load = x.load
		assert.Equal(t, x.own, row.identifies(512, false), "its own shape at %g", x.load)
		assert.Equal(t, x.other, row.identifies(128, false), "another shape at %g", x.load)
		assert.Equal(t, x.lowOnlyEach, row.identifies(0, true), "low loads only at %g", x.load)
	}
	row.load = 0.1
	row.shape.ArrivalSCV = 4
	assert.False(t, row.identifies(128, false), "bursty")
}

func TestOptimismIsJudgedAtTheLowerEndOfAWideInterval(t *testing.T) {
	row := openLoopRow{point: point{capacity: 10.5, capacityLower: 9}}
	row.rate, row.ttft = 10, observed{mean: 1, interval: 0.05}
	assert.InDelta(t, 0.05, row.optimism(), 1e-12)
	row.ttft.interval = 0.06
	assert.InDelta(t, -0.1, row.optimism(), 1e-12)
}

func TestMalformedRowsAreNamed(t *testing.T) {
	whole := openLoopText(t)
	for _, x := range []struct{ old, new, want string }{
		{"main,phys,H100,512", "main,none,H100,512", `line 8: backend "none" is not known`},
		{"cv2", "scv", `no column "cv2"`},
		{"400000", "many", `line 2: kv_tokens: "many" is not a number`},
	} {
		_, err := readOpenLoop(writeOpenLoop(t, strings.Replace(whole, x.old, x.new, 1)))
		assert.ErrorContains(t, err, x.want)
	}
}
