package main

import (
	"path/filepath"

	"github.com/poolwright/poolwright/benchmarks/internal/records"
	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/calibration"
)

// gridStudy asks how linear pure decoding and pure prefill are on real machines.
func gridStudy(o options) (*study, error) {
	var sets []sampleSet
	for _, read := range []func(string) ([]sampleSet, error){readDynamo, readSplitwise, readSageServe} {
		more, err := read(filepath.Join(o.Data, "measured"))
		if err != nil {
			return nil, err
		}
		sets = append(sets, more...)
	}
	fitted, err := fitSets(sets)
	if err != nil {
		return nil, err
	}
	return &study{
		title:   "Decode and prefill alone, measured",
		about:   gridAbout,
		tables:  []table.Table{fitTable("ITL and TTFT; held out: each context or prompt length by the others", fitted)},
		details: []table.Table{profileTable(fitted)},
	}, nil
}

const gridAbout = `Pure decoding over batch and context, and single prompts on an idle machine, as measured by others. How
well is an iteration linear in batch and context, and a prefill quadratic in the prompt? Short prompts take a constant time
on several machines, which the form of a profile does not have.`

// decodePoint returns a batch that decodes; groups are contexts.
func decodePoint(batch, context, itl float64) calibration.Sample {
	return calibration.Sample{
		Group: format(context), Batch: calibration.Of(batch), ContextTokens: calibration.Of(context), ITL: calibration.Of(itl),
	}
}

// prefillPoint returns a prompt on an idle machine; groups are prompt lengths.
func prefillPoint(prompt, ttft float64) calibration.Sample {
	return calibration.Sample{
		Group: format(prompt), InputTokens: calibration.Of(prompt), TTFT: calibration.Of(ttft),
	}
}

// readDynamo reads a decode grid and a prefill sweep of one H200.
func readDynamo(folder string) ([]sampleSet, error) {
	var c collected
	err := records.Each(filepath.Join(folder, "dynamo_h200_llama31_8b_fp8_decode.csv"), func(r *records.Record) {
		c.add("Llama-3.1-8B h200, decode",
			decodePoint(r.Number("batch"), r.Number("context"), r.Milliseconds("itl_ms")), calibration.Options{})
	})
	if err != nil {
		return nil, err
	}
	err = records.Each(filepath.Join(folder, "dynamo_h200_llama31_8b_fp8_prefill.csv"), func(r *records.Record) {
		c.add("Llama-3.1-8B h200, prefill",
			prefillPoint(r.Number("isl"), r.Milliseconds("ttft_ms")), calibration.Options{})
	})
	return c.sets, err
}

// readSplitwise reads prefill by prompt length and decoding by batch. Rows of the
// power-capped device are derived from others, and those of one batch are known
// to be mistaken.
func readSplitwise(folder string) ([]sampleSet, error) {
	return readBatches(filepath.Join(folder, "splitwise_dgx_a100_h100.csv"), "tbt_ms", func(r *records.Record) bool {
		mistaken := r.Text("model") == "llama2-70b" && r.Text("tp") == "2" && r.Text("batch") == "64"
		return r.Text("gpu") != "h100-80gb-pcap" && !mistaken
	})
}

func readSageServe(folder string) ([]sampleSet, error) {
	sets, err := readBatches(filepath.Join(folder, "sageserve_a100_llama3.csv"), "itl_ms",
		func(*records.Record) bool { return true })
	if err != nil {
		return nil, err
	}
	var c collected
	err = records.Each(filepath.Join(folder, "sageserve_a100_llama31_8b_tp4_prefill.csv"), func(r *records.Record) {
		c.add("Llama-3.1-8B a100-80gb tp4, prefill sweep",
			prefillPoint(r.Number("prompt_tokens"), r.Milliseconds("prefill_ms")), calibration.Options{})
	})
	return append(sets, c.sets...), err
}

// readBatches reads a table whose rows have a prefill, of a single prompt where the
// batch is 1, and decoding of a batch.
func readBatches(file, itl string, wanted func(*records.Record) bool) ([]sampleSet, error) {
	var c collected
	err := records.Each(file, func(r *records.Record) {
		if !wanted(r) {
			return
		}
		name := r.Text("model") + " " + r.Text("gpu") + " tp" + r.Text("tp")
		prompt, batch := r.Number("prompt_tokens"), r.Number("batch")
		c.add(name+", decode", decodePoint(batch, prompt+r.Number("output_tokens")/2, r.Milliseconds(itl)), calibration.Options{})
		if batch == 1 {
			c.add(name+", prefill", prefillPoint(prompt, r.Milliseconds("prefill_ms")), calibration.Options{})
		}
	})
	return c.sets, err
}
