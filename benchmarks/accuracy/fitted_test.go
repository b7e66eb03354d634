package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/calibration"
)

// writeData writes a file of third-party data and returns its folder.
func writeData(t *testing.T, name, text string) string {
	t.Helper()
	data := t.TempDir()
	file := filepath.Join(data, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return data
}

func TestClosedLoopConfigurationsAreToldApart(t *testing.T) {
	data := writeData(t, "measured/closed_loop_sweeps.csv",
		"model,gpu,backend,backend_version,precision,tp,ep,isl,osl,concurrency,ttft_ms,tpot_ms\n"+
			"meta-llama/Llama-3.1-8B,h200_sxm,vllm,,fp8,2,1,1000,500,4,80,8\n"+
			"meta-llama/Llama-3.1-8B,h200_sxm,vllm,,fp8,2,1,1000,500,4,80,8\n"+
			"meta-llama/Llama-3.1-8B,h200_sxm,vllm,,fp8,2,1,2000,500,8,90,9\n"+
			"openai/gpt-oss-120b,h200_sxm,vllm,0.18.0,fp4,4,2,1000,500,4,80,5\n")
	sets, err := readClosedLoop(data)
	require.NoError(t, err)
	require.Len(t, sets, 2)
	assert.Equal(t, "Llama-3.1-8B h200 vllm fp8 tp2", sets[0].name)
	assert.Equal(t, "gpt-oss-120b h200 vllm 0.18.0 fp4 tp4 ep2", sets[1].name)
	require.Len(t, sets[0].samples, 2, "a row that occurs twice counts once")
	s := sets[0].samples[1]
	assert.Equal(t, "2000/500", s.Group)
	assert.Equal(t, calibration.Of(1800), s.InputTokens)
	assert.Equal(t, calibration.Of(450), s.OutputTokens)
	assert.Equal(t, calibration.Of(0.009), s.ITL)
	assert.Equal(t, calibration.SquareRootNever, sets[0].options.SquareRoot)
	assert.Equal(t, calibration.SquareRootAlways, sets[1].options.SquareRoot)
}

func TestHeldOutTargetsCountConfigurationsWithManyWorkloadsOnly(t *testing.T) {
	set := func(groups int, in, out float64) fittedSet {
		f := fittedSet{groups: groups}
		f.estimate.Residuals = []calibration.Residual{{Error: in, Counts: true}, {Error: 9}}
		f.estimate.HeldOut.Residuals = []calibration.Residual{{Error: out, Counts: true}}
		return f
	}
	targets := closedLoopTargets([]fittedSet{set(6, 0.01, -0.04), set(3, 0.03, 0.5)})
	assert.InDelta(t, 0.02, targets[0].measured, 1e-12)
	assert.InDelta(t, 0.04, targets[1].measured, 1e-12)
	assert.False(t, targets[2].met(), "no mixture of experts was measured")
}

func TestALinearGridIsFittedWithoutError(t *testing.T) {
	var b strings.Builder
	b.WriteString("context,itl_ms,batch\n")
	for _, context := range []float64{500, 2000, 8000} {
		for _, batch := range []float64{1, 8, 32, 64} {
			fmt.Fprintf(&b, "%g,%g,%g\n", context, 5+0.02*batch+4e-5*batch*context, batch)
		}
	}
	b.WriteString("4000,1000,32\n")
	data := writeData(t, "dynamo_h200_llama31_8b_fp8_decode.csv", b.String())
	prefill := filepath.Join(data, "dynamo_h200_llama31_8b_fp8_prefill.csv")
	require.NoError(t, os.WriteFile(prefill, []byte("isl,ttft_ms\n100,20\n"), 0o600))
	sets, err := readDynamo(data)
	require.NoError(t, err)
	fitted, err := fitSets(sets)
	require.NoError(t, err)
	require.Len(t, fitted, 1, "one prompt is too few to fit")
	in := fitted[0].inSample()
	require.Len(t, in, 13)
	assert.Less(t, in.quantile(0.9), 1e-3)
	assert.InDelta(t, 0.99, in.quantile(1), 0.01, "the point that is off stays off")
	assert.Less(t, fitted[0].heldOut().quantile(0.5), 1e-3)
	assert.Equal(t, 4, fitted[0].groups)
}

func TestMistakenRowsAreLeftOut(t *testing.T) {
	data := writeData(t, "splitwise_dgx_a100_h100.csv",
		"model,gpu,tp,prompt_tokens,batch,output_tokens,prefill_ms,tbt_ms\n"+
			"llama2-70b,h100-80gb-pcap,2,512,1,128,90,40\n"+
			"llama2-70b,h100-80gb,2,512,64,128,90,40\n"+
			"llama2-70b,h100-80gb,2,512,32,128,90,40\n"+
			"llama2-70b,h100-80gb,2,512,1,128,90,40\n")
	sets, err := readSplitwise(data)
	require.NoError(t, err)
	require.Len(t, sets, 2)
	assert.Equal(t, "llama2-70b h100-80gb tp2, decode", sets[0].name)
	assert.Len(t, sets[0].samples, 2)
	assert.Equal(t, calibration.Of(576), sets[0].samples[0].ContextTokens)
	assert.Equal(t, "llama2-70b h100-80gb tp2, prefill", sets[1].name)
	assert.Len(t, sets[1].samples, 1, "prefills of several prompts at once are of no use")
}
