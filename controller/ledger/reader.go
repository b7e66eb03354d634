package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Position is where a line begins.
type Position struct {
	// File is the name of the file.
	File string `json:"file"`
	// Line counts from 1, and Offset from 0, in bytes.
	Line   int   `json:"line"`
	Offset int64 `json:"offset"`
}

// String names the position as people do.
func (p Position) String() string {
	return fmt.Sprintf("%s, line %d (byte %d)", p.File, p.Line, p.Offset)
}

// Damage is a line that cannot be used.
type Damage struct {
	Position

	Reason string `json:"reason"`
}

// mostLine is the length of the longest line that is read, in bytes.
const mostLine = 1 << 30

var (
	errTorn = errors.New("the line has no end: writing it was cut short")
	errLong = errors.New("the line is too long")
)

// lineReader reads lines and knows where they are.
type lineReader struct {
	in   *bufio.Reader
	next Position
	most int
}

func newLineReader(in io.Reader, file string) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 1<<16), next: Position{File: file, Line: 1}, most: mostLine}
}

// read returns the next line without its end, and where it begins. The error is io.EOF
// after the last line, errTorn for one without an end, errLong, or that of the reader;
// after errLong reading goes on.
func (r *lineReader) read() ([]byte, Position, error) {
	at := r.next
	r.next.Line++
	var text []byte
	for {
		part, err := r.in.ReadSlice('\n')
		r.next.Offset += int64(len(part))
		if len(text) <= r.most {
			text = append(text, part...)
		}
		switch {
		case err == nil && len(text) > r.most:
			return nil, at, errLong
		case err == nil:
			return text[:len(text)-1], at, nil
		case errors.Is(err, io.EOF) && r.next.Offset > at.Offset:
			return text, at, errTorn
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, at, err
		}
	}
}
