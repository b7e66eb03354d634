package main

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
)

// read returns the samples of a table.
func read(t *testing.T, table *bytes.Buffer) []calibration.Sample {
	t.Helper()
	rows, err := csv.NewReader(table).ReadAll()
	require.NoError(t, err)
	var samples []calibration.Sample
	for _, row := range rows[1:] {
		values := make(map[string]float64)
		for i, name := range rows[0][1:] {
			values[name], err = strconv.ParseFloat(row[i+1], 64)
			require.NoError(t, err)
		}
		samples = append(samples, calibration.Sample{
			Group:        row[0],
			InputTokens:  calibration.Of(values["input_tokens"]),
			OutputTokens: calibration.Of(values["output_tokens"]),
			OutputSCV:    calibration.Of(values["output_tokens_scv"]),
			ArrivalRate:  calibration.Of(values["achieved_rps"]),
			Running:      calibration.Of(values["running"]),
			Waiting:      calibration.Of(values["waiting"]),
			ITL:          calibration.Of(values["tpot_ms"] / 1e3),
			TTFT:         calibration.Of(values["ttft_ms"] / 1e3),
		})
	}
	return samples
}

// TestFitFindsTruth: for the committed table, all confidence intervals of a fit hold the
// coefficients of the replica. With other seeds most do: predictions are off by some
// tenths of a per cent beside noise, which intervals don't know of.
func TestFitFindsTruth(t *testing.T) {
	const seeds = 8
	covered, total := 0, 0
	for seed := range uint64(seeds) {
		var table bytes.Buffer
		require.NoError(t, write(&table, seed+1))
		engine := truth()
		e, err := calibration.Fit(read(t, &table), calibration.Options{
			MaxBatch: engine.MaxBatch, MaxBatchedTokens: engine.MaxBatchedTokens, KVCacheTokens: engine.KVCacheTokens,
		})
		require.NoError(t, err)
		assert.Less(t, e.Errors.ITL.Median, 0.006)
		assert.Less(t, e.Errors.TTFT.Median, 0.01)
		p := engine.Profile
		for term, value := range map[calibration.Term]float64{
			calibration.Alpha: p.Alpha, calibration.Beta: p.Beta, calibration.Kappa: p.Kappa,
			calibration.Gamma: p.Gamma, calibration.Delta: p.Delta, calibration.TTFTOffset: p.TTFTOffset,
		} {
			c := e.Coefficients[term]
			require.True(t, c.Identified, term)
			total++
			if c.Confidence.Low <= value && value <= c.Confidence.High {
				covered++
			} else {
				assert.NotZero(t, seed, "%v: %.4g is not in [%.4g, %.4g]", term, value, c.Confidence.Low, c.Confidence.High)
			}
		}
	}
	t.Logf("%d of %d intervals hold the truth", covered, total)
	assert.GreaterOrEqual(t, covered, total*4/5)
}
