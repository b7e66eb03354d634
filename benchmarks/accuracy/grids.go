package main

import (
	"path/filepath"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/calibration"
)

// gridStudy asks how linear pure decoding and pure prefill are on real machines.
func gridStudy(o options) (*study, error) {
	var sets []sampleSet
	for _, read := range []func(string) ([]sampleSet, error){readDynamo, readSplitwise, readSageServe} {
		more, err := read(filepath.Join(o.data, "measured"))
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
	err := eachRecord(filepath.Join(folder, "dynamo_h200_llama31_8b_fp8_decode.csv"), func(r *record) {
		c.add("Llama-3.1-8B h200, decode",
			decodePoint(r.number("batch"), r.number("context"), r.milliseconds("itl_ms")), calibration.Options{})
	})
	if err != nil {
		return nil, err
	}
	err = eachRecord(filepath.Join(folder, "dynamo_h200_llama31_8b_fp8_prefill.csv"), func(r *record) {
		c.add("Llama-3.1-8B h200, prefill",
			prefillPoint(r.number("isl"), r.milliseconds("ttft_ms")), calibration.Options{})
	})
	return c.sets, err
}

// readSplitwise reads prefill by prompt length and decoding by batch. Rows of the
// power-capped device are derived from others, and those of one batch are known
// to be mistaken.
func readSplitwise(folder string) ([]sampleSet, error) {
	return readBatches(filepath.Join(folder, "splitwise_dgx_a100_h100.csv"), "tbt_ms", func(r *record) bool {
		mistaken := r.text("model") == "llama2-70b" && r.text("tp") == "2" && r.text("batch") == "64"
		return r.text("gpu") != "h100-80gb-pcap" && !mistaken
	})
}

func readSageServe(folder string) ([]sampleSet, error) {
	sets, err := readBatches(filepath.Join(folder, "sageserve_a100_llama3.csv"), "itl_ms",
		func(*record) bool { return true })
	if err != nil {
		return nil, err
	}
	var c collected
	err = eachRecord(filepath.Join(folder, "sageserve_a100_llama31_8b_tp4_prefill.csv"), func(r *record) {
		c.add("Llama-3.1-8B a100-80gb tp4, prefill sweep",
			prefillPoint(r.number("prompt_tokens"), r.milliseconds("prefill_ms")), calibration.Options{})
	})
	return append(sets, c.sets...), err
}

// readBatches reads a table whose rows have a prefill, of a single prompt where the
// batch is 1, and decoding of a batch.
func readBatches(file, itl string, wanted func(*record) bool) ([]sampleSet, error) {
	var c collected
	err := eachRecord(file, func(r *record) {
		if !wanted(r) {
			return
		}
		name := r.text("model") + " " + r.text("gpu") + " tp" + r.text("tp")
		prompt, batch := r.number("prompt_tokens"), r.number("batch")
		c.add(name+", decode", decodePoint(batch, prompt+r.number("output_tokens")/2, r.milliseconds(itl)), calibration.Options{})
		if batch == 1 {
			c.add(name+", prefill", prefillPoint(prompt, r.milliseconds("prefill_ms")), calibration.Options{})
		}
	})
	return c.sets, err
}

// eachRecord calls f for each row of a file and returns the first mistake.
func eachRecord(file string, f func(*record)) error {
	all, err := readRecords(file)
	if err != nil {
		return err
	}
	for i := range all.rows {
		r := record{records: &all, index: i}
		f(&r)
		if r.err != nil {
			return r.err
		}
	}
	return nil
}
