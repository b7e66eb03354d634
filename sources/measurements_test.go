package sources_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

// measurements reads texts as files a, b and so on.
func measurements(o sources.TableOptions, texts ...string) (*poolwrightv1.Measurements, []string, error) {
	var files []sources.File
	for i, text := range texts {
		files = append(files, sources.File{Name: string(rune('a' + i)), Data: []byte(text)})
	}
	return sources.ReadMeasurements(files, o)
}

func readSamples(t *testing.T, text string) []*poolwrightv1.Sample {
	t.Helper()
	m, _, err := measurements(sources.TableOptions{}, text)
	require.NoError(t, err)
	return m.GetSamples()
}

func requireSamples(t *testing.T, got []*poolwrightv1.Sample, want ...*poolwrightv1.Sample) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i], got[i]), "sample %d:\nwant %v\ngot  %v", i, want[i], got[i])
	}
}

// The same two samples in every format.
func TestFormatsOfMeasurements(t *testing.T) {
	want := []*poolwrightv1.Sample{
		{Group: "chat", Concurrency: proto.Float64(8), InputTokens: proto.Float64(1024), OutputTokens: proto.Float64(256), TtftMs: proto.Float64(95.5), ItlMs: proto.Float64(12.25)},
		{Group: "code", Concurrency: proto.Float64(16), InputTokens: proto.Float64(1024), OutputTokens: proto.Float64(256), ItlMs: proto.Float64(14)},
	}
	for name, text := range map[string]string{
		"csv":              "concurrency,isl,osl,ttft_ms,tpot_ms,workload\n8,1024,256,95.5,12.25,chat\n16,1024,256,,14,code\n",
		"byte order mark":  "\ufeffconcurrency,isl,osl,ttft_ms,tpot_ms,workload\r\n8,1024,256,95.5,12.25,chat\r\n16,1024,256,n/a,14,code\r\n",
		"semicolons":       "# a comment, with commas\n\nconcurrency; isl; osl; ttft_ms; tpot_ms; workload\n8; 1024; 256; 95.5; 12.25; chat\n16; 1024; 256; -; 14; code\n",
		"tabs and seconds": "users\tprompt_tokens\tcompletion_tokens\tTTFT (s)\tITL (s)\tscenario\n8\t1024\t256\t0.0955\t0.01225\tchat\n16\t1024\t256\tNaN\t0.014\tcode\n",
		"json objects":     `[{"max_concurrency":8,"input_len":1024,"output_len":256,"mean_ttft_ms":95.5,"mean_tpot_ms":12.25,"group":"chat"},{"max_concurrency":16,"input_len":1024,"output_len":256,"mean_ttft_ms":null,"mean_tpot_ms":14,"group":"code"}]`,
		"json lines":       "{\"concurrency\":8,\"in\":1024,\"out\":256,\"ttft_us\":95500,\"itl_us\":12250,\"group\":\"chat\"}\n\n{\"concurrency\":16,\"in\":1024,\"out\":256,\"itl_us\":14000,\"group\":\"code\"}\n",
		"yaml objects":     "- {clients: 8, input: 1024, output: 256, ttft_ms: 95.5, itl_ms: 12.25, group: chat}\n- {clients: 16, input: 1024, output: 256, itl_ms: 14, group: code}\n",
		"message":          "samples:\n- {concurrency: 8, inputTokens: 1024, outputTokens: 256, ttftMs: 95.5, itlMs: 12.25, group: chat}\n- {concurrency: 16, inputTokens: 1024, outputTokens: 256, itlMs: 14, group: code}\n",
		"message in json":  `{"samples":[{"concurrency":8,"inputTokens":1024,"outputTokens":256,"ttftMs":95.5,"itlMs":12.25,"group":"chat"},{"concurrency":16,"inputTokens":1024,"outputTokens":256,"itlMs":14,"group":"code"}]}`,
	} {
		t.Run(name, func(t *testing.T) { requireSamples(t, readSamples(t, text), want...) })
	}
}

// What rows say about the load decides what they are samples of.
func TestKindsOfRows(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []*poolwrightv1.Sample
	}{
		{
			"decoding batch", "context,batch,itl_ms\n350,4,8.5\n",
			[]*poolwrightv1.Sample{{Group: "context 350", Batch: proto.Float64(4), ContextTokens: proto.Float64(350), ItlMs: proto.Float64(8.5)}},
		},
		{
			"single prompt", "isl,ttft_ms\n100,19.5\n",
			[]*poolwrightv1.Sample{{Group: "prompts", InputTokens: proto.Float64(100), TtftMs: proto.Float64(19.5)}},
		},
		{
			"requests that begin together", "prompt_tokens,batch,output_tokens,prefill_ms,tbt_ms\n128,1,64,24,8.5\n128,2,64,29,8.75\n",
			[]*poolwrightv1.Sample{
				{Group: "context 160", Batch: proto.Float64(1), ContextTokens: proto.Float64(160), ItlMs: proto.Float64(8.5)},
				{Group: "prompts", InputTokens: proto.Float64(128), TtftMs: proto.Float64(24)},
				{Group: "context 160", Batch: proto.Float64(2), ContextTokens: proto.Float64(160), ItlMs: proto.Float64(8.75)},
			},
		},
		{
			"traffic at a rate", "rate_rps,achieved_rps,in,in_mean,out,batch_mean,waiting,ttft_ms,tpot_ms\n2,1.75,128,130,64,3.5,0.25,40,11\n",
			[]*poolwrightv1.Sample{{
				Group: "130/64", ArrivalRate: proto.Float64(1.75), InputTokens: proto.Float64(130), OutputTokens: proto.Float64(64),
				Running: proto.Float64(3.5), Waiting: proto.Float64(0.25), TtftMs: proto.Float64(40), ItlMs: proto.Float64(11),
			}},
		},
		{
			"rate per minute", "arrival_rate_rpm,in,out,ttft_ms\n120,128,64,40\n",
			[]*poolwrightv1.Sample{{Group: "128/64", ArrivalRate: proto.Float64(2), InputTokens: proto.Float64(128), OutputTokens: proto.Float64(64), TtftMs: proto.Float64(40)}},
		},
		{
			"clients, with the rate that they reached", "concurrency,rps,in,out,ttft_ms\n4,1.5,128,64,40\n",
			[]*poolwrightv1.Sample{{Group: "128/64", Concurrency: proto.Float64(4), InputTokens: proto.Float64(128), OutputTokens: proto.Float64(64), TtftMs: proto.Float64(40)}},
		},
		{
			"one token has no time between tokens", "concurrency,in,out,ttft_ms,tpot_ms\n4,128,1,40,0\n",
			[]*poolwrightv1.Sample{{Group: "128/1", Concurrency: proto.Float64(4), InputTokens: proto.Float64(128), OutputTokens: proto.Float64(1), TtftMs: proto.Float64(40)}},
		},
		{
			"weight, cache and variation", "concurrency,in,out,ttft_ms,weight,prefix_hit_ratio,output_tokens_scv,input_scv\n4,128,64,40,2,0.5,0.25,0.75\n",
			[]*poolwrightv1.Sample{{
				Group: "128/64", Concurrency: proto.Float64(4), InputTokens: proto.Float64(128), OutputTokens: proto.Float64(64), TtftMs: proto.Float64(40),
				Weight: proto.Float64(2), PrefixHitRatio: proto.Float64(0.5), OutputTokensScv: proto.Float64(0.25),
				InputTokensScv: proto.Float64(0.75),
			}},
		},
	} {
		t.Run(test.name, func(t *testing.T) { requireSamples(t, readSamples(t, test.text), test.want...) })
	}
}

// vllm is the result of vLLM's load test, shortened, with a rate and with clients.
func vllm(rate, clients string) string {
	return `{"date":"20260131-120000","backend":"vllm","model_id":"m","tokenizer_id":"m","num_prompts":100,"request_rate":` + rate +
		`,"burstiness":1.0,"max_concurrency":` + clients + `,"duration":50.0,"completed":100,"total_input_tokens":102400,"total_output_tokens":12800,
"request_throughput":2.0,"output_throughput":256.0,"total_token_throughput":2304.0,"mean_ttft_ms":80.5,"median_ttft_ms":70.0,"p99_ttft_ms":300.0,
"mean_tpot_ms":11.5,"mean_itl_ms":11.75,"p99_itl_ms":40.0,"ttfts":[0.08,0.081],"input_lens":[1024,1024]}`
}

func TestResultsOfVLLM(t *testing.T) {
	sample := func() *poolwrightv1.Sample {
		return &poolwrightv1.Sample{
			Group: "1024/128", InputTokens: proto.Float64(1024), OutputTokens: proto.Float64(128), TtftMs: proto.Float64(80.5), ItlMs: proto.Float64(11.5),
		}
	}
	closed, open := sample(), sample()
	closed.Concurrency = proto.Float64(16)
	open.ArrivalRate = proto.Float64(2)
	requireSamples(t, readSamples(t, vllm(`"inf"`, "16")), closed)
	requireSamples(t, readSamples(t, vllm("Infinity", "16")), closed)
	requireSamples(t, readSamples(t, vllm("2.5", "null")), open)

	_, _, err := measurements(sources.TableOptions{}, vllm(`"inf"`, "null"))
	require.EqualError(t, err, "a: no rows with measurements; 1 row: all requests came at once, which is no steady state; not used")

	m, _, err := measurements(sources.TableOptions{}, vllm(`"inf"`, "16"), vllm("2.5", "null"))
	require.NoError(t, err)
	requireSamples(t, m.GetSamples(), closed, open)
}

// GuideLLM writes three lines of names above its rows.
func TestTableOfGuideLLM(t *testing.T) {
	m, notes, err := measurements(sources.TableOptions{}, `Run Info,Benchmark,Server Throughput,Server Throughput,Time to First Token,Time to First Token,Time per Output Token,Inter Token Latency,Token Metrics,Token Metrics
Run ID,Strategy,Successful Requests/Sec,Successful Concurrency,Successful ms,Successful ms,Successful ms,Successful ms,Successful Input Tokens,Successful Output Tokens
,,Mean,Mean,Mean,Median,Mean,Mean,Mean,Mean
1,synchronous,0.5,0.9,40,39,9.5,9.6,1000,100
1,constant,2,3.5,45,44,10.5,10.6,1000,100
`)
	require.NoError(t, err)
	requireSamples(t, m.GetSamples(),
		&poolwrightv1.Sample{Group: "1000/100", Concurrency: proto.Float64(1), InputTokens: proto.Float64(1000), OutputTokens: proto.Float64(100), TtftMs: proto.Float64(40), ItlMs: proto.Float64(9.5)},
		&poolwrightv1.Sample{Group: "1000/100", ArrivalRate: proto.Float64(2), InputTokens: proto.Float64(1000), OutputTokens: proto.Float64(100), TtftMs: proto.Float64(45), ItlMs: proto.Float64(10.5)},
	)
	require.Contains(t, strings.Join(notes, "\n"), "Time to First Token Successful ms Median (no means)")
}

func TestNotesSayWhatIsReadAndWhatIsNot(t *testing.T) {
	_, notes, err := measurements(sources.TableOptions{}, "model,concurrency,in,out,ttft_ms,ttft_p99_ms,tpot_ms,itl_ms,color\nm,4,128,64,40,90,11,12,red\nm,8,128,64,,,,,blue\n")
	require.NoError(t, err)
	require.Equal(t, []string{
		"read: TTFT from ttft_ms in ms, ITL from tpot_ms in ms, concurrency from concurrency, input tokens from in, output tokens from out",
		"not used: color (unknown names); ttft_p99_ms (no means); itl_ms for tpot_ms (the other one is read)",
		"1 row: without TTFT and ITL, not used",
	}, notes)
}

func TestSettingsOfTheEngineAreTakenOver(t *testing.T) {
	m, _, err := measurements(sources.TableOptions{}, "concurrency,in,out,ttft_ms,max_num_seqs,max_num_batched_tokens,kv_cache_tokens\n4,128,64,40,256,8192,420000\n")
	require.NoError(t, err)
	require.True(t, proto.Equal(&poolwrightv1.CalibrationOptions{
		MaxBatch: proto.Int32(256), MaxBatchedTokens: proto.Float64(8192), KvCacheTokens: proto.Float64(420000),
	}, m.GetOptions()), "%v", m.GetOptions())
}

const severalConfigurations = `model,gpu,tp,concurrency,in,out,itl_ms,load
A,h100,2,1,100,10,9,0.1
A,h100,4,1,100,10,7,0.2
"A, tuned",h100,4,1,100,10,8,0.3
A,h100,4,2,100,10,8,0.8
`

func TestRowsOfSeveralConfigurationsNeedAChoice(t *testing.T) {
	_, _, err := measurements(sources.TableOptions{}, severalConfigurations)
	require.EqualError(t, err, `the rows are of 3 configurations, and a profile is of one. Choose by
  --where 'model=A,tp=2' (1 rows)
  --where 'model=A,tp=4' (2 rows)
  --where '"model=A, tuned",tp=4' (1 rows)`)

	for where, rows := range map[string]int{"model=a tp=4": 2, "model=A TP=4.0": 2, "tp!=4": 1, "tp=4 load>=0.8": 1, "model!=A": 1, "tp<4": 1, "tp>2 model=A load<=0.2": 1} {
		var o sources.TableOptions
		for _, text := range strings.Fields(where) {
			c, err := sources.ParseCondition(text)
			require.NoError(t, err)
			o.Where = append(o.Where, c)
		}
		m, _, err := measurements(o, severalConfigurations)
		require.NoError(t, err, where)
		require.Len(t, m.GetSamples(), rows, where)
	}
}

func TestConditionsThatCannotBeMet(t *testing.T) {
	for text, want := range map[string]string{
		"gpu=h200": `a: --where 'gpu=h200': no row meets it; there are h100`,
		"cpu=x":    `a: --where 'cpu=x': there is no column "cpu"; there are model, gpu, tp, concurrency, in, out, itl_ms, load`,
	} {
		c, err := sources.ParseCondition(text)
		require.NoError(t, err)
		_, _, err = measurements(sources.TableOptions{Where: []sources.Condition{c}}, severalConfigurations)
		require.EqualError(t, err, want)
	}
	_, _, err := measurements(sources.TableOptions{Where: []sources.Condition{{Column: "gpu", Operator: "=", Value: "h100"}}}, "samples: []")
	require.EqualError(t, err, "--where 'gpu=h100': there is no table")
	for _, text := range []string{"", "gpu", "=h100", "gpu!h100", "load<x", "load>=", "load<nan"} {
		_, err := sources.ParseCondition(text)
		require.Error(t, err, text)
	}
}

// A column that only one of several files has does not tell configurations apart,
// as long as it has one value.
func TestColumnOfOneFileIsNoConfiguration(t *testing.T) {
	m, _, err := measurements(sources.TableOptions{}, "batch,context,itl_ms,max_kv_tokens\n1,100,5,1000\n2,100,6,1000\n", "isl,ttft_ms\n100,20\n")
	require.NoError(t, err)
	require.Len(t, m.GetSamples(), 3)
	_, _, err = measurements(sources.TableOptions{}, "gpu,batch,context,itl_ms\nh100,1,100,5\n", "gpu,isl,ttft_ms\nh200,100,20\n")
	require.ErrorContains(t, err, "--where 'gpu=h200' (1 rows)")
}

func TestColumnsUnderOtherNames(t *testing.T) {
	text := "n,prompt,answer,latency,first,ttft_ms\n4,128,64,0.011,0.04,99\n"
	m, _, err := measurements(sources.TableOptions{Columns: []sources.Assignment{
		{Column: "n", Name: "concurrency"},
		{Column: "answer", Name: "output_tokens"},
		{Column: "latency", Name: "itl_s"},
		{Column: "first", Name: "ttft_s"},
		{Column: "ttft_ms", Name: "ignore"},
	}}, text)
	require.NoError(t, err)
	requireSamples(t, m.GetSamples(), &poolwrightv1.Sample{
		Group: "128/64", Concurrency: proto.Float64(4), InputTokens: proto.Float64(128), OutputTokens: proto.Float64(64), ItlMs: proto.Float64(11), TtftMs: proto.Float64(40),
	})
	_, _, err = measurements(sources.TableOptions{Columns: []sources.Assignment{{Column: "m", Name: "ttft_ms"}}}, text)
	require.EqualError(t, err, `--columns m=ttft_ms: there is no column "m"`)
	_, _, err = measurements(sources.TableOptions{Columns: []sources.Assignment{{Column: "n", Name: "wombats"}}}, text)
	require.EqualError(t, err, `a: --columns n=wombats: "wombats" is no name that is understood`)
}

func TestTimesNeedAUnit(t *testing.T) {
	text := "concurrency,in,out,ttft_mean,tpot\n4,128,64,0.04,0.011\n"
	_, _, err := measurements(sources.TableOptions{}, text)
	require.EqualError(t, err, "a: ttft_mean: in what unit? Name it ttft_mean_ms or ttft_mean_s, or give --time-unit\n"+
		"tpot: in what unit? Name it tpot_ms or tpot_s, or give --time-unit")
	m, _, err := measurements(sources.TableOptions{TimeUnit: "s"}, text)
	require.NoError(t, err)
	require.InDelta(t, 40, m.GetSamples()[0].GetTtftMs(), 1e-9)
	require.InDelta(t, 11, m.GetSamples()[0].GetItlMs(), 1e-9)
}

// Every mistake with its file, line and column.
func TestMistakesInMeasurements(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"values": {
			"concurrency,in,out,ttft_ms,tpot_ms\nfour,128,64,40,11\n4,128,64,1e999,11\n4,128,64,40\n",
			"line 2: concurrency: expected a finite number, got \"four\"\nline 3: ttft_ms: expected a finite number, got \"1e999\"\nline 4: 4 values under 5 columns",
		},
		"numbers": {
			"concurrency,in,out,ttft_ms,tpot_ms\nfour,128,64,40,11\n4,128,64,inf,11\n",
			"line 2: concurrency: expected a finite number, got \"four\"\nline 3: ttft_ms: expected a finite number, got \"inf\"",
		},
		"ranges": {
			"users,in,out,ttft_ms,tpot_ms\n0,128,64,40,11\n4,-128,64,0,11\n",
			"line 2: users: must be greater than or equal to 1 and less than or equal to 1000000\n" +
				"line 3: in: must be greater than or equal to 0 and less than or equal to 1000000000\n" +
				"line 3: ttft_ms: must be greater than 0 and less than or equal to 1000000000",
		},
		"no load":       {"in,out,ttft_ms\n128,64,40\n", "line 2: give batch and contextTokens, or concurrency, or arrivalRate, or inputTokens alone"},
		"no latency":    {"in,out,speed\n128,64,40\n", "no column is known as TTFT or ITL; there are in, out, speed. Say which one is by --columns NAME=ttft_ms or NAME=itl_ms"},
		"no rows":       {"in,ttft_ms\n", "no rows with measurements"},
		"equal names":   {"in,ttft_ms,in\n1,2,3\n", "line 1: columns of equal names: in"},
		"quotes":        {"in,ttft_ms\n1,\"2\n", "line 2, column 6: extraneous or missing \" in quoted-field"},
		"not UTF-8":     {"in,ttft_ms\n1,\xff\n", "not UTF-8"},
		"empty":         {"", "empty document; expected an object (Measurements) (line 1, column 1)"},
		"no objects":    {"[1]", "line 1: [0]: expected an object, got the number 1"},
		"message":       {"samples: [{concurency: 4}]\n", "samples[0].concurency: unknown field; did you mean concurrency? (line 1, column 12)"},
		"broken object": {"{\"ttft_ms\": 1\n", "line 2, column 1: expected , or } after a value, got end of the document"},
	} {
		t.Run(name, func(t *testing.T) {
			m, notes, err := measurements(sources.TableOptions{}, test.text)
			require.ErrorContains(t, err, test.want)
			assert.True(t, strings.HasPrefix(err.Error(), "a: "))
			assert.Nil(t, m)
			assert.Nil(t, notes)
		})
	}
}

func TestMistakesOfSeveralFiles(t *testing.T) {
	_, _, err := measurements(sources.TableOptions{}, "in,ttft_ms\nx,1\n", "in,ttft_ms\n1,y\n")
	require.EqualError(t, err, "a: line 2: in: expected a finite number, got \"x\"\nb: line 2: ttft_ms: expected a finite number, got \"y\"")
	_, _, err = measurements(sources.TableOptions{}, "options: {maxBatch: 1}\n", "device: {name: H100}\n")
	require.EqualError(t, err, "b: options, device and model are in a too: give them once")
}

func TestHostileTablesAreCheap(t *testing.T) {
	for name, text := range map[string]string{
		"columns": strings.Repeat("a,", 200_000) + "ttft_ms\n1\n",
		"cells":   "in,ttft_ms\n" + strings.Repeat(",", 6_000_000),
		"names":   namedObjects(t, 2000),
	} {
		_, _, err := measurements(sources.TableOptions{}, text)
		require.ErrorContains(t, err, "more than", name)
		require.Less(t, len(err.Error()), 1000, name)
	}
}

// namedObjects is a list of objects, each with a name of its own.
func namedObjects(t *testing.T, n int) string {
	t.Helper()
	var objects []map[string]int
	for i := range n {
		objects = append(objects, map[string]int{string(rune(0x4e00 + i)): i})
	}
	data, err := json.Marshal(objects)
	require.NoError(t, err)
	return string(data)
}
