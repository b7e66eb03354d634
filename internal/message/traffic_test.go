package message_test

import (
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/trace"
)

const trafficFleet = `
fleet:
  pools: [{accelerator: H100}]
  workloads:
  - {name: chat, load: {arrivalRate: 10, inputTokens: 100, outputTokens: 50}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}
  - {name: code, namespace: prod, load: {arrivalRate: 1}, variants: [{name: v, accelerator: H100, capacityRps: 1}]}
`

// trafficFiles are what the simulations of these tests may open.
var trafficFiles = fstest.MapFS{
	"conv.csv":  {Data: []byte("t,in,out\n0,100,10\n1,200,20\n2.5,300,30\n9,400,40\n")},
	"bad.csv":   {Data: []byte("t,in,out\n0,100,x\n5,1,1\n4,1,1\n")},
	"rates.csv": {Data: []byte("t,a,b\n0,100,1\n10,300,\n")},
}

func openTraffic(name string) (io.ReadCloser, error) { return trafficFiles.Open(name) }

// readTraffic reads a simulation of [trafficFleet].
func readTraffic(t *testing.T, text string, open message.Opener) ([]trace.Workload, time.Duration, error) {
	t.Helper()
	m := &poolwrightv1.Simulation{}
	require.NoError(t, document.Unmarshal([]byte(trafficFleet+text), m))
	f, err := message.Fleet(m.GetFleet())
	require.NoError(t, err)
	return message.Traffic(m, f.Workloads, open)
}

// code is no traffic for the second workload, whose load has no lengths.
const code = "- {workload: prod/code, parts: [{generated: {rate: {constant: 0}, input: {mean: 1}, output: {mean: 1}}}]}\n"

// trafficOf returns the workloads of a simulation that is right.
func trafficOf(t *testing.T, text string) ([]trace.Workload, time.Duration) {
	t.Helper()
	workloads, duration, err := readTraffic(t, text+code, openTraffic)
	require.NoError(t, err)
	require.Len(t, workloads, 2)
	return workloads, duration
}

func requestsUntil(t *testing.T, workloads []trace.Workload, end float64) []trace.Request {
	t.Helper()
	requests, failed := trace.Requests(workloads, 1)
	var all []trace.Request
	for r := range requests {
		if r.At >= end {
			break
		}
		all = append(all, r)
	}
	require.NoError(t, failed())
	return all
}

func TestTrafficOfATrace(t *testing.T) {
	workloads, duration := trafficOf(t, "traffic:\n- {workload: chat, parts: [{trace: {file: conv.csv}}]}\n")
	assert.Equal(t, 10*time.Second, duration)
	assert.Equal(t, "chat", workloads[0].Name)
	assert.Equal(t, "prod/code", workloads[1].Name)
	all := requestsUntil(t, workloads, 10)
	require.Len(t, all, 4)
	assert.Equal(t, trace.Request{At: 2.5, Input: 300, Output: 30}, all[2])
}

// Pieces of traces are cut, stretched and put one after another.
func TestTrafficIsSpliced(t *testing.T) {
	workloads, duration := trafficOf(t, `
traffic:
- workload: chat
  parts:
  - {trace: {file: conv.csv}, from: 1s, to: 9s, stretch: 2}
  - {trace: {file: conv.csv}, at: 60s}
`)
	assert.Equal(t, 70*time.Second, duration)
	var at []float64
	for _, r := range requestsUntil(t, workloads, 100) {
		at = append(at, r.At)
	}
	assert.Equal(t, []float64{0, 3, 60, 61, 62.5, 69}, at)
}

func TestTrafficIsScaled(t *testing.T) {
	workloads, _ := trafficOf(t, `
traffic:
- workload: chat
  parts:
  - {trace: {file: conv.csv}, resample: {factor: 100, window: 3s}}
  - {trace: {file: conv.csv}, replicate: {factor: 3, jitter: 100ms}}
`)
	rates, err := trace.Rates(workloads[0], 1, 3, 3)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{100 + 3, 0, 0}, rates, 1e-9)
}

// A workload without traffic has that of its load, until the end that is asked for.
func TestTrafficOfALoad(t *testing.T) {
	workloads, duration := trafficOf(t, "duration: 1000s\ntraffic:\n")
	assert.Equal(t, 1000*time.Second, duration)
	all := requestsUntil(t, workloads, 1000)
	assert.InDelta(t, 10_000, len(all), 400)
	var input, output float64
	for _, r := range all {
		input += float64(r.Input) / float64(len(all))
		output += float64(r.Output) / float64(len(all))
	}
	assert.InDelta(t, 100, input, 4)
	assert.InDelta(t, 50, output, 2)
}

func TestTrafficOfALoadNeedsLengths(t *testing.T) {
	_, _, err := readTraffic(t, "duration: 10s", openTraffic)
	require.ErrorContains(t, err, "fleet.workloads[1].load: output: mean 0 is not in [1, 10000000]")
}

// A rate is a base times factors, and each part knows its own time.
func TestGeneratedTraffic(t *testing.T) {
	workloads, _ := trafficOf(t, `
duration: 48h
traffic:
- workload: chat
  parts:
  - generated:
      rate:
        linear: {points: [{rate: 1}, {at: 48h, rate: 1}]}
        factor: 2
        hours: [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
        days: [1, 1, 1, 1, 1, 1, 5]
        starts: 143h
        crowds: [{at: 30h, hold: 1h, factor: 10}]
`)
	rates, err := trace.Rates(workloads[0], 1, 3600, 48)
	require.NoError(t, err)
	assert.InDelta(t, 1, rates[0], 1e-9, "the last hour of Saturday falls to the factor of midnight")
	assert.InDelta(t, 5, rates[1], 1e-9, "the first of Sunday")
	assert.InDelta(t, 10, rates[2], 1e-9)
	assert.InDelta(t, 2, rates[26], 1e-9, "Monday")
	assert.InDelta(t, 20, rates[30], 1e-9, "the crowd")
}

func TestGeneratedTrafficOfAFile(t *testing.T) {
	workloads, _ := trafficOf(t, `
duration: 30s
traffic:
- workload: chat
  parts: [{generated: {rate: {file: {file: rates.csv, column: a, from: 5s}}, sample: {trace: {file: conv.csv}, to: 2s}}, at: 10s}]
`)
	rates, err := trace.Rates(workloads[0], 1, 5, 6)
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 0, 100, 300, 300, 0}, rates)
	for _, r := range requestsUntil(t, workloads, 30) {
		assert.Contains(t, []int{100, 200}, r.Input)
		assert.Equal(t, r.Input, 10*r.Output)
	}
}

// A mix of clients is their sum, each with its own process.
func TestTrafficOfClients(t *testing.T) {
	workloads, _ := trafficOf(t, `
duration: 500s
traffic:
- workload: chat
  parts:
  - {generated: {rate: {constant: 30}, process: GAMMA, scv: 4, input: {mean: 1000, scv: 0}, prefixes: {groups: 2, tokens: 500}}}
  - {generated: {rate: {constant: 10}, states: [{factor: 1, sojourn: 5s}, {factor: 3, sojourn: 5s}], input: {mean: 10, scv: 0, distribution: GAMMA}, output: {mean: 9, max: 12}}}
`)
	counts := map[int]int{}
	for _, r := range requestsUntil(t, workloads, 500) {
		counts[r.Input]++
		if r.Input == 1000 {
			require.Equal(t, 500, r.BlockTokens)
		} else {
			require.LessOrEqual(t, r.Output, 12)
		}
	}
	assert.InDelta(t, 15_000, counts[1000], 4*245)
	assert.InDelta(t, 5_000, counts[10], 1200)
	assert.Len(t, counts, 2)
}

// Next to nothing is as good as nothing, also where states change before the next request.
func TestRareTraffic(t *testing.T) {
	workloads, _ := trafficOf(t, `
duration: 500s
traffic:
- workload: chat
  parts: [{generated: {rate: {constant: 1, factor: 1e-300}, states: [{factor: 1, sojourn: 5s}, {factor: 3, sojourn: 5s}], input: {mean: 1000}}}]
`)
	assert.Empty(t, requestsUntil(t, workloads, 500))
}

func TestTrafficMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"duration: 9s\ntraffic:\n- {workload: chat}":                                                                               "traffic[0].parts: must contain at least 1 item(s)",
		"traffic:\n- {workload: chat, parts: [{generated: {rate: {constant: 1}}}]}\n" + code:                                       "duration: it is needed, as there is no trace that ends",
		"duration: 9s\ntraffic:\n- {workload: mail, parts: [{trace: {file: conv.csv}}]}\n" + code:                                  `traffic[0].workload: there is no workload "mail"`,
		"duration: 9s\ntraffic:\n" + code + code:                                                                                   `traffic[1].workload: "prod/code" has traffic already`,
		"traffic:\n- {workload: chat, parts: [{trace: {file: no.csv}}]}\n" + code:                                                  "traffic[0].parts[0].trace.file: no.csv: open no.csv: file does not exist",
		"traffic:\n- {workload: chat, parts: [{trace: {file: bad.csv}}]}\n" + code:                                                 "traffic[0].parts[0].trace.file: bad.csv:2: output \"x\" is no number of tokens\ntraffic[0].parts[0].trace.file: bad.csv:4: time 4 s is before 5 s, that of the request before",
		"traffic:\n- {workload: chat, parts: [{trace: {file: conv.csv}, from: 10s}]}\n" + code:                                     "traffic[0].parts[0].from: the trace ends at 9 s",
		"traffic:\n- {workload: chat, parts: [{trace: {file: conv.csv}, from: 3s, to: 2s}]}\n" + code:                              "traffic[0].parts[0]: cut from 3 s to 2 s: nothing remains",
		"duration: 9s\ntraffic:\n- {workload: chat, parts: [{generated: {rate: {constant: 1}}, replicate: {factor: 2}}]}\n" + code: "traffic[0].parts[0]: resample and replicate are for traces: what is generated has a rate",
		generated("rate: {constant: 1}, process: GAMMA"):                                                                           "traffic[0].parts[0].generated.scv: GAMMA needs it",
		generated("rate: {constant: 1}, scv: 2"):                                                                                   "traffic[0].parts[0].generated.scv: that of POISSON is 1",
		generated("rate: {constant: 1, hours: [1, 2], days: [3]}"):                                                                 "traffic[0].parts[0].generated.rate.days: expected 7 factors, got 1\ntraffic[0].parts[0].generated.rate.hours: expected 24 factors, got 2",
		generated("rate: {steps: {points: [{at: 1s, rate: 1}]}}"):                                                                  "traffic[0].parts[0].generated.rate.steps: the first point of a curve must be at 0",
		generated("rate: {linear: {points: [{rate: 1}, {rate: 1}]}}"):                                                              "traffic[0].parts[0].generated.rate.linear: points[1]: 0 s is not later than the point before",
		generated("rate: {file: {file: rates.csv, column: c}}"):                                                                    `traffic[0].parts[0].generated.rate.file.file: rates.csv:1: there is no column "c" of rates`,
		generated("rate: {file: {file: rates.csv, column: a, from: 20s}}"):                                                         "traffic[0].parts[0].generated.rate.file.from: the rates end at 20 s",
		generated("rate: {constant: 1}, states: [{factor: 5e-324, sojourn: 10ms}]"):                                                "traffic[0].parts[0].generated: states: the mean of factors over time must be positive and finite, and is 0",
		generated("rate: {constant: 1}, states: [{sojourn: 1s}]"):                                                                  "traffic[0].parts[0].generated: states: the mean of factors over time must be positive and finite, and is 0",
		generated("rate: {constant: 1}, input: {mean: 5}, sample: {trace: {file: conv.csv}}"):                                      "traffic[0].parts[0].generated.input: give either input and output, or a sample",
		generated("rate: {constant: 1}, output: {mean: 0.5, min: 7, max: 5}"):                                                      "traffic[0].parts[0].generated.output.max: 5 is less than min, which is 7\ntraffic[0].parts[0].generated.output.mean: it must be at least 1",
		generated("rate: {constant: 1}, sample: {trace: {file: conv.csv}, from: 20s}"):                                             "traffic[0].parts[0].generated.sample: a sample needs requests",
		"duration: 9s\ntraffic:\n- {workload: chat, parts: [{generated: {rate: {constant: 1000}}, from: 3h}]}\n" + code:            "traffic[0].parts[0].from: about 1.08e+07 requests so far are left out before it, more than the 10000000 allowed: let the rate start later",
		generated("rate: {constant: 1, crowds: [" + strings.Repeat("{hold: 1h, factor: 1e6}, ", 60) + "]}"):                        "traffic[0].parts[0].generated.rate: its factors make rates that are no numbers any more",
		"duration: 9s\ntraffic:\n- {workload: chat, parts: [{generated: {rate: {constant: 1}, states: [{factor: 1, sojourn: 1ms}, {factor: 2, sojourn: 1ms}]}, stretch: 1e-5}]}\n" + code: "traffic[0].parts[0].generated.states: about 9e+08 changes of states so far are more than the 10000000 allowed",
		"duration: 9s\ntraffic:\n- {workload: chat, parts: [{generated: {rate: {constant: 1}}, stretch: 1e-7, at: 1s}]}\n" + code:                                                         "traffic[0].parts[0]: it would take more than a year of requests",
	} {
		_, _, err := readTraffic(t, text, openTraffic)
		var violations message.Violations
		require.ErrorAs(t, err, &violations, text)
		assert.EqualError(t, err, want, text)
	}
}

func generated(text string) string {
	return "duration: 9s\ntraffic:\n- {workload: chat, parts: [{generated: {" + text + "}}]}\n" + code
}

// Who asks over the network reads no files of the server, and learns nothing about them.
func TestTrafficWithoutFiles(t *testing.T) {
	_, _, err := readTraffic(t, "traffic:\n- {workload: chat, parts: [{trace: {file: /etc/passwd}}]}\n"+code, message.NoFiles)
	require.EqualError(t, err, "traffic[0].parts[0].trace.file: /etc/passwd: files can't be read over the network: run the simulation where they are, by the command line")
	assert.NotErrorIs(t, err, fs.ErrNotExist)
}

// A trace that several parts name is checked once.
func TestTracesAreCheckedOnce(t *testing.T) {
	opened := 0
	_, _, err := readTraffic(t, `
traffic:
- workload: chat
  parts: [{trace: {file: conv.csv}}, {trace: {file: conv.csv}, at: 10s}, {generated: {rate: {constant: 1}, sample: {trace: {file: conv.csv}}}}]
`+code, func(name string) (io.ReadCloser, error) {
		opened++
		return openTraffic(name)
	})
	require.NoError(t, err)
	assert.Equal(t, 2, opened, "once for the check, once for the sample")
}
