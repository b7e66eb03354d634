package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line of a trace, in bytes. One of Mooncake's takes 8 or less for a
// block of a prompt.
const maxLine = 16 << 20

// reader reads a trace line by line.
type reader struct {
	name   string
	opened io.Closer
	lines  *lines
	parse  format
	// last is the time of the last request without a mistake.
	last float64
	// broken says that nothing more can be read.
	broken bool
}

// format sets what a line says of a request.
type format func(line []byte, r *Request) error

func openReader(f File) (*reader, error) {
	opened, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	r := &reader{name: f.Name, opened: opened}
	if r.lines, err = newLines(opened); err == nil {
		r.parse, err = r.format(f)
	}
	if err != nil {
		return nil, errors.Join(r.mistake(err), r.close())
	}
	return r, nil
}

// format finds the format by the first line, which it takes where that is a header.
func (r *reader) format(f File) (format, error) {
	first, err := r.lines.peek()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty")
	case err != nil:
		return nil, err
	case first[0] == '{':
		return jsonFormat(f.Name, f.BlockTokens), nil
	}
	if _, err := r.lines.next(); err != nil {
		return nil, err
	}
	return csvFormat(first)
}

// read sets the next request or returns a mistake, or io.EOF.
func (r *reader) read(request *Request) error {
	line, err := r.lines.next()
	if err != nil {
		r.broken = true
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return r.mistake(err)
	}
	if err := r.parse(line, request); err != nil {
		return r.mistake(err)
	}
	if request.At < r.last {
		return r.mistake(fmt.Errorf("time %g s is before %g s, that of the request before", request.At, r.last))
	}
	r.last = request.At
	return nil
}

func (r *reader) mistake(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs []error
		for _, e := range joined.Unwrap() {
			errs = append(errs, r.mistake(e))
		}
		return errors.Join(errs...)
	}
	if r.lines == nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	return fmt.Errorf("%s:%d: %w", r.name, r.lines.number, err)
}

func (r *reader) close() error { return r.opened.Close() }

// lines are those of a text that are not blank; gzip is undone.
type lines struct {
	scanner *bufio.Scanner
	// number is that of the last line.
	number int
	peeked []byte
}

func newLines(r io.Reader) (*lines, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	start, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text := io.Reader(buffered)
	if bytes.Equal(start, []byte{0x1f, 0x8b}) {
		if text, err = gzip.NewReader(buffered); err != nil {
			return nil, err
		}
	}
	l := &lines{scanner: bufio.NewScanner(text)}
	l.scanner.Buffer(make([]byte, 1<<16), maxLine)
	return l, nil
}

// peek is the next line, which stays.
func (l *lines) peek() ([]byte, error) {
	if l.peeked == nil {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		l.peeked = line
	}
	return l.peeked, nil
}

// next is the next line, until the one after it is asked for, or io.EOF.
func (l *lines) next() ([]byte, error) {
	if line := l.peeked; line != nil {
		l.peeked = nil
		return line, nil
	}
	for l.scanner.Scan() {
		l.number++
		line := l.scanner.Bytes()
		if l.number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
	err := l.scanner.Err()
	if err == nil {
		return nil, io.EOF
	}
	l.number++
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the line has more than %d bytes", maxLine)
	}
	return nil, err
}
