package trace_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/poolwright/poolwright/simulation/trace"
)

// inMemory is a file named f.
func inMemory(text string) trace.File {
	return trace.File{Name: "f", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

func read(t *testing.T, text string) []trace.Request {
	t.Helper()
	s, err := trace.Read(inMemory(text))
	require.NoError(t, err)
	return all(t, s, 1)
}

func compressed(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(tb, err)
	require.NoError(tb, w.Close())
	return b.String()
}

// written is requests in every format that can be read.
func written(tb testing.TB, requests []trace.Request) map[string]string {
	tb.Helper()
	short, long, azure, zoned, lines := "t,in,out\n", "output_tokens,model,arrival_s,input_tokens\n",
		"\ufeffTIMESTAMP,ContextTokens,GeneratedTokens\r\n", "TIMESTAMP,ContextTokens,GeneratedTokens\n", ""
	start := time.Date(2023, 11, 16, 18, 15, 46, 680590000, time.UTC)
	for _, r := range requests {
		at := start.Add(time.Duration(r.At * 1e9))
		short += fmt.Sprintf("%v,%d,%d\n", r.At, r.Input, r.Output)
		long += fmt.Sprintf("%d,m,\"%v\", %d\n\n", r.Output, r.At, r.Input)
		azure += fmt.Sprintf("%s,%d,%d\r\n", at.Format("2006-01-02 15:04:05.0000000"), r.Input, r.Output)
		zoned += fmt.Sprintf("%s,%d,%d\n", at.Format("2006-01-02 15:04:05.999999-07:00"), r.Input, r.Output)
		line, err := json.Marshal(map[string]any{"timestamp": r.At * 1000, "input_length": r.Input, "output_length": r.Output, "hash_ids": r.Prefix, "chat_id": 1})
		require.NoError(tb, err)
		lines += string(line) + "\n"
	}
	return map[string]string{
		"t,in,out": short, "other columns": long, "Azure 2023": azure, "Azure 2024": zoned, "Mooncake": lines,
		"compressed": compressed(tb, short), "compressed lines": compressed(tb, lines[:40]) + compressed(tb, lines[40:]),
	}
}

// What is written in any of the formats is read as it was.
func TestFormats(t *testing.T) {
	requests := []trace.Request{{At: 0, Input: 374, Output: 44}, {At: 4.25, Input: 0, Output: 1}, {At: 4.25, Input: 7, Output: 434}, {At: 90000.5, Input: trace.MaxTokens, Output: trace.MaxTokens}}
	for name, text := range written(t, requests) {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, requests, read(t, text))
		})
	}
}

// Prompts of a file begin alike where their hash_ids do; those of another file never.
func TestPrefixesOfATrace(t *testing.T) {
	text := `{"timestamp": 27482, "input_length": 1400, "output_length": 52, "hash_ids": [46, 47, 2366]}
{"timestamp": 30535, "input_length": 1200, "output_length": 26, "hash_ids": [46, 47, 2367]}
`
	requests := read(t, text)
	require.Len(t, requests, 2)
	one, two := requests[0], requests[1]
	assert.Equal(t, trace.Request{At: 27.482, Input: 1400, Output: 52, Prefix: one.Prefix, BlockTokens: 512}, one)
	require.Len(t, one.Prefix, 3)
	assert.Equal(t, one.Prefix[:2], two.Prefix[:2])
	assert.NotEqual(t, one.Prefix[2], two.Prefix[2])
	f := inMemory(text)
	f.Name, f.BlockTokens = "another", 500
	s, err := trace.Read(f)
	require.NoError(t, err)
	other := all(t, s, 1)[0]
	assert.Equal(t, 500, other.BlockTokens)
	assert.NotContains(t, one.Prefix, other.Prefix[0])
}

func TestNoOutputIsOneToken(t *testing.T) {
	assert.Equal(t, []trace.Request{{Input: 5, Output: 1}}, read(t, "t,in,out\n0,5,0\n"))
}

func TestTraceMistakes(t *testing.T) {
	for text, want := range map[string]string{ //nolint:gosec // tokens are no credentials
		"":                          "f:0: it is empty",
		"\n \n":                     "f:2: it is empty",
		"t,in,out\n":                "f: it has no requests",
		"t,in\n1,2\n":               "f:1: it is no trace: neither JSON lines nor a header with one column for times",
		"t,in,out,in\n":             "f:1: it is no trace",
		"t,in,out\n1,2\n":           "f:2: expected 3 columns",
		"t,in,out\n1,2,3,\n":        "f:2: expected 3 columns",
		"t,in,out\nx,y,\n":          "f:2: time \"x\" is no number\nf:2: prompt \"y\" is no number of tokens\nf:2: output \"\" is no number of tokens",
		"t,in,out\n1.5,2.5,3\n":     `f:2: prompt "2.5" is no number of tokens`,
		"t,in,out\n-1,2,3\n":        "f:2: time -1 s is not within a year",
		"t,in,out\nNaN,2,3\n":       "f:2: time NaN s is not within a year",
		"t,in,out\n1e9,2,3\n":       "f:2: time 1e+09 s is not within a year",
		"t,in,out\n1,-2,10000001\n": "f:2: prompt: -2 tokens are not in [0, 10000000]\nf:2: output: 10000001 tokens are not in [0, 10000000]",
		"t,in,out\n3,2,1\n\n2,1,1\nx,1,1\n4,1,1\n":       "f:4: time 2 s is before 3 s, that of the request before\nf:5: time \"x\" is no number",
		"TIMESTAMP,ContextTokens,GeneratedTokens\n5,1,1": `f:2: time "5" is not like 2023-11-16 18:15:46.680`,
		`{"timestamp": 1, "input_length": 1}`:            "f:1: expected timestamp, input_length and output_length",
		`{"timestamp": "1"}`:                             "f:1: timestamp: unexpected string",
		"{\n":                                            "f:1: it is no JSON object: unexpected end of JSON input",
		`{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1, 2]}`: "f:1: 2 hash_ids are more than the 1 blocks of 512 tokens of the prompt",
		"\x1f\x8bx":                 "f: unexpected EOF",
		compressedTraceCutOff:       "f:",
		strings.Repeat("x", 17<<20): "f:1: the line has more than 16777216 bytes",
	} {
		_, err := trace.Read(inMemory(text))
		require.Error(t, err, "%.100q", text)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%.100q:\n%v\nwant %s", text, err, want)
	}
}

// compressedTraceCutOff is the first half of a compressed trace.
var compressedTraceCutOff = func() string {
	text := compressed(&testing.B{}, "t,in,out\n"+strings.Repeat("1,2,3\n", 1000))
	return text[:len(text)/2]
}()

// Of many mistakes the first are listed.
func TestMistakesAreBounded(t *testing.T) {
	_, err := trace.Read(inMemory("t,in,out\n" + strings.Repeat("x,1,1\n", 1000)))
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 21)
	assert.Equal(t, `f:21: time "x" is no number`, lines[19])
	assert.Equal(t, "f: and 980 more mistakes", lines[20])
}

// endless is a trace of so many requests, which is nowhere as a whole.
type endless struct {
	line, requests int
	rest           []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		switch {
		case e.line == 0:
			e.rest = []byte("t,in,out\n")
		case e.line <= e.requests:
			e.rest = fmt.Appendf(e.rest[:0], "%d.5,100,200\n", e.line)
		default:
			return 0, io.EOF
		}
		e.line++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Memory does not grow with the requests that are read.
func TestReadingKeepsNothing(t *testing.T) {
	const requests = 1_000_000
	s, err := trace.Read(trace.File{Name: "f", Open: func() (io.ReadCloser, error) { return io.NopCloser(&endless{requests: requests}), nil }})
	require.NoError(t, err)
	resampled, err := trace.Resample(s, 0.5, 60)
	require.NoError(t, err)
	for _, s := range []trace.Source{s, resampled} {
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n := 0
		for range each(t, trace.Workload{Source: s}) {
			if n++; n == requests/4 {
				runtime.GC()
				runtime.ReadMemStats(&now)
			}
		}
		assert.Greater(t, n, requests/3)
		assert.Less(t, float64(now.HeapAlloc)-float64(before.HeapAlloc), 1e6)
	}
}
