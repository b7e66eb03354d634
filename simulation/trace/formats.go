package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// column is what a column of a CSV file says.
type column int

const (
	ignored column = iota
	seconds
	timestamp
	input
	output
)

// columnOf is what a column says by its name in lower case.
func columnOf(name string) column {
	switch name {
	case "t", "arrival_s":
		return seconds
	case "timestamp":
		return timestamp
	case "in", "input_tokens", "contexttokens":
		return input
	case "out", "output_tokens", "generatedtokens":
		return output
	}
	return ignored
}

// table is a CSV file.
type table struct {
	columns []column
	// start is the moment of the first request, where requests have timestamps.
	start time.Time
}

// csvFormat is that of a header.
func csvFormat(header []byte) (format, error) {
	t := &table{}
	var times, inputs, outputs int
	for name := range strings.SplitSeq(string(header), ",") {
		c := columnOf(strings.ToLower(strings.Trim(name, ` "`)))
		t.columns = append(t.columns, c)
		switch c {
		case seconds, timestamp:
			times++
		case input:
			inputs++
		case output:
			outputs++
		}
	}
	if times != 1 || inputs != 1 || outputs != 1 {
		return nil, errors.New("it is no trace: neither JSON lines nor a header with one column for times (t, arrival_s or TIMESTAMP), " +
			"one for prompts (in, input_tokens or ContextTokens) and one for outputs (out, output_tokens or GeneratedTokens)")
	}
	return t.parse, nil
}

func (t *table) parse(line []byte, r *Request) error {
	*r = Request{}
	var errs []error
	rest, more := line, true
	for _, c := range t.columns {
		if !more {
			return fmt.Errorf("expected %d columns", len(t.columns))
		}
		var cell []byte
		cell, rest, more = bytes.Cut(rest, []byte{','})
		if err := t.cell(c, cell, r); err != nil {
			errs = append(errs, err)
		}
	}
	if more {
		errs = append(errs, fmt.Errorf("expected %d columns", len(t.columns)))
	}
	if errs == nil {
		return nil
	}
	return errors.Join(errs...)
}

func (t *table) cell(c column, cell []byte, r *Request) (err error) {
	cell = bytes.Trim(cell, ` "`)
	switch c {
	case seconds:
		var x float64
		if x, err = strconv.ParseFloat(string(cell), 64); err != nil {
			return fmt.Errorf("time %q is no number", cell)
		}
		r.At, err = checkTime(x)
	case timestamp:
		r.At, err = t.after(cell)
	case input:
		r.Input, err = tokens("prompt", cell, 0)
	case output:
		r.Output, err = tokens("output", cell, 1)
	}
	return err
}

// after is a timestamp as seconds after the first one.
func (t *table) after(cell []byte) (float64, error) {
	at, err := time.Parse("2006-01-02 15:04:05", string(cell))
	if err != nil {
		if at, err = time.Parse("2006-01-02 15:04:05-07:00", string(cell)); err != nil {
			return 0, fmt.Errorf("time %q is not like 2023-11-16 18:15:46.680", cell)
		}
	}
	if t.start.IsZero() {
		t.start = at
	}
	return checkTime(at.Sub(t.start).Seconds())
}

func checkTime(t float64) (float64, error) {
	if !(t >= 0 && t <= MaxTime) {
		return 0, fmt.Errorf("time %g s is not within a year after the start", t)
	}
	return t, nil
}

func tokens(what string, cell []byte, least int) (int, error) {
	n, err := strconv.Atoi(string(cell))
	if err != nil {
		return 0, fmt.Errorf("%s %q is no number of tokens", what, cell)
	}
	return checkTokens(what, n, least)
}

func checkTokens(what string, n, least int) (int, error) {
	if n < 0 || n > MaxTokens {
		return 0, fmt.Errorf("%s: %d tokens are not in [0, %d]", what, n, MaxTokens)
	}
	return max(n, least), nil
}

// jsonRequest is a line of Mooncake's traces.
type jsonRequest struct {
	Timestamp *float64 `json:"timestamp"`
	Input     *int     `json:"input_length"`
	Output    *int     `json:"output_length"`
	Prefix    []uint64 `json:"hash_ids"`
}

// jsonFormat is that of JSON lines. Names of blocks become those of the file, as another's
// are for other prompts.
func jsonFormat(file string, blockTokens int) format {
	names := seedOf(0, file).low
	return func(line []byte, r *Request) error {
		var x jsonRequest
		var mistyped *json.UnmarshalTypeError
		switch err := json.Unmarshal(line, &x); {
		case errors.As(err, &mistyped):
			return fmt.Errorf("%s: unexpected %s", mistyped.Field, mistyped.Value)
		case err != nil:
			return fmt.Errorf("it is no JSON object: %w", err)
		}
		if x.Timestamp == nil || x.Input == nil || x.Output == nil {
			return errors.New("expected timestamp, input_length and output_length")
		}
		if blocks := int(math.Ceil(float64(*x.Input) / float64(blockTokens))); len(x.Prefix) > blocks {
			return fmt.Errorf("%d hash_ids are more than the %d blocks of %d tokens of the prompt", len(x.Prefix), blocks, blockTokens)
		}
		for i := range x.Prefix {
			x.Prefix[i] = mix(x.Prefix[i] ^ names)
		}
		*r = Request{Prefix: x.Prefix}
		if r.Prefix != nil {
			r.BlockTokens = blockTokens
		}
		var errs [3]error
		r.At, errs[0] = checkTime(*x.Timestamp / 1000)
		r.Input, errs[1] = checkTokens("prompt", *x.Input, 0)
		r.Output, errs[2] = checkTokens("output", *x.Output, 1)
		return errors.Join(errs[:]...)
	}
}
