package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// MaxTime is the latest time of a request in a trace, in seconds: a year.
const MaxTime = 366 * day

// DefaultBlockTokens is the tokens of a prompt that one of its hash_ids stands for, unless
// said otherwise: those of Mooncake's traces.
const DefaultBlockTokens = 512

// File is a trace that is read, from its beginning, each time that it is asked for.
type File struct {
	// Name is for messages.
	Name string
	// Open opens it; gzip is undone here.
	Open func() (io.ReadCloser, error)
	// BlockTokens is the tokens of a prompt that one of its hash_ids stands for; 0 =
	// [DefaultBlockTokens].
	BlockTokens int
}

// maxMistakes of a file are listed.
const maxMistakes = 20

// Read checks a trace from its beginning to its end and returns its requests; none of them
// is kept. The format is found by the content:
//
//   - CSV with a header and columns for time, prompt and output tokens, in any order and
//     among others: t, in and out; or arrival_s, input_tokens and output_tokens; times are
//     in seconds after the start;
//   - the CSV of the Azure LLM inference traces: TIMESTAMP, ContextTokens and
//     GeneratedTokens; the first request is at time 0;
//   - the JSON lines of Mooncake: timestamp, in milliseconds after the start,
//     input_length, output_length and, optionally, hash_ids, the names of the prompt's blocks.
//
// Each may be compressed by gzip. Times ascend, and lengths are whole numbers up to
// [MaxTokens]. An output of 0 tokens counts as 1: the prompt is computed, which gives one.
//
// The error lists 20 mistakes at most, each as `file:line: what`. If the file can't be read
// later on, the function that comes with [Requests] says so.
func Read(f File) (Source, error) {
	if f.BlockTokens == 0 {
		f.BlockTokens = DefaultBlockTokens
	}
	r, err := openReader(f)
	if err != nil {
		return nil, err
	}
	var errs []error
	var request Request
	mistakes, requests := 0, 0
	for {
		err := r.read(&request)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			requests++
			continue
		}
		if mistakes++; mistakes <= maxMistakes {
			errs = append(errs, err)
		}
		if r.broken {
			break
		}
	}
	if more := mistakes - maxMistakes; more > 0 {
		errs = append(errs, fmt.Errorf("%s: and %d more mistakes", f.Name, more))
	}
	if mistakes == 0 && requests == 0 {
		errs = append(errs, fmt.Errorf("%s: it has no requests", f.Name))
	}
	if err := errors.Join(append(errs, r.close())...); err != nil {
		return nil, err
	}
	return &file{File: f, last: math.Max(0, r.last)}, nil
}

// file is a trace that was checked.
type file struct {
	File
	last float64
}

func (f *file) stream(seed) stream { return &fileStream{file: f} }

func (f *file) expect(s seed, edges, counts []float64) error {
	c := counter{edges: edges, counts: counts}
	return expectEach(f.stream(s), func(r *Request) { c.add(r.At) }, c.done)
}

func (f *file) end() float64 { return f.last }

// fileStream opens the file at the first request and closes it behind the last.
type fileStream struct {
	file   *file
	reader *reader
	err    error
	ended  bool
}

func (s *fileStream) next(r *Request) bool {
	if s.reader == nil && !s.ended {
		s.reader, s.err = openReader(s.file.File)
		s.ended = s.err != nil
	}
	if s.ended {
		return false
	}
	if err := s.reader.read(r); err != nil {
		if !errors.Is(err, io.EOF) {
			s.err = err
		}
		s.end()
		return false
	}
	return true
}

func (s *fileStream) end() {
	if s.reader != nil {
		s.err = errors.Join(s.err, s.reader.close())
	}
	s.reader, s.ended = nil, true
}

func (s *fileStream) close() error {
	s.end()
	return s.err
}
