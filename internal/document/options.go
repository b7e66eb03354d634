package document

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
)

// Options limit what is read. A zero field means its default.
type Options struct {
	// MaxBytes is the length of a text; 64 MiB.
	MaxBytes int
	// MaxYAMLBytes is the length of a YAML text, whose parser takes far more memory
	// and time than JSON's; 8 MiB.
	MaxYAMLBytes int
	// MaxDepth is how deep values nest; 64.
	MaxDepth int
	// MaxValues is the number of values in a text, aliases expanded; 4 Mi. A YAML text
	// itself may have a quarter of it.
	MaxValues int
	// MaxExpanded is how many values aliases may add, where a scalar counts once more for
	// each 8 bytes of its text; 1 Mi.
	MaxExpanded int
}

// OfOthers are the limits for a text that somebody else has sent: aliases add no more to
// it than it has itself.
func OfOthers(text []byte) Options {
	return Options{MaxExpanded: 1 + len(text)/expandedBytes}
}

func (o Options) withDefaults() Options {
	o.MaxBytes = orDefault(o.MaxBytes, 64<<20)
	o.MaxYAMLBytes = min(orDefault(o.MaxYAMLBytes, 8<<20), o.MaxBytes)
	o.MaxDepth = orDefault(o.MaxDepth, 64)
	o.MaxValues = orDefault(o.MaxValues, 4<<20)
	o.MaxExpanded = orDefault(o.MaxExpanded, 1<<20)
	return o
}

func orDefault(v, byDefault int) int {
	if v == 0 {
		return byDefault
	}
	return v
}

// ReadAll reads a text to its end, or to one byte beyond the limit, which is an
// [*Error].
func (o Options) ReadAll(r io.Reader) ([]byte, error) {
	limit := o.withDefaults().MaxBytes
	var text bytes.Buffer
	if f, ok := r.(fs.File); ok {
		if info, err := f.Stat(); err == nil {
			text.Grow(int(min(info.Size(), int64(limit))) + bytes.MinRead)
		}
	}
	if _, err := text.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		return nil, err
	}
	if text.Len() > limit {
		return nil, tooLong("document", limit)
	}
	return text.Bytes(), nil
}

// Unmarshal reads JSON or YAML into an empty message. What is wrong is an [*Error];
// the message then holds what could be read.
func (o Options) Unmarshal(data []byte, m proto.Message) error {
	return unmarshal(m, func() (Value, error) { return o.Parse(data) })
}

func unmarshal(m proto.Message, parse func() (Value, error)) error {
	proto.Reset(m)
	v, err := parse()
	if err != nil {
		return err
	}
	return Decode(v, m)
}

// Parse reads JSON or YAML into a tree. What is wrong is an [*Error].
func (o Options) Parse(data []byte) (Value, error) {
	if looksLikeJSON(data) {
		return o.ParseJSON(data)
	}
	return o.parse(data, "document that does not start with { or [, and so is read as YAML,", o.withDefaults().MaxYAMLBytes, parseYAML)
}

// ParseJSON reads JSON into a tree. What is wrong is an [*Error].
func (o Options) ParseJSON(data []byte) (Value, error) {
	return o.parse(data, "document", o.withDefaults().MaxBytes, parseJSON)
}

func (o Options) parse(data []byte, what string, limit int, parser func(string, Options) (*tree, error)) (Value, error) {
	if len(data) > limit {
		return Value{}, tooLong(what, limit)
	}
	data = trimBOM(data)
	if at := invalidUTF8(data); at >= 0 {
		line, column := locate(data, at)
		return Value{}, failure(line, column, "not UTF-8: byte 0x%02x", data[at])
	}
	tree, err := parser(string(data), o.withDefaults())
	if err != nil {
		return Value{}, err
	}
	return Value{tree, 0}, nil
}

// ReadAll is [Options.ReadAll] with the default limits.
func ReadAll(r io.Reader) ([]byte, error) { return Options{}.ReadAll(r) }

// Unmarshal is [Options.Unmarshal] with the default limits.
func Unmarshal(data []byte, m proto.Message) error { return Options{}.Unmarshal(data, m) }

// UnmarshalJSON is [Unmarshal] for JSON only.
func UnmarshalJSON(data []byte, m proto.Message) error {
	return unmarshal(m, func() (Value, error) { return Options{}.ParseJSON(data) })
}

// UnmarshalYAML is [Unmarshal] for YAML, of which JSON is a part.
func UnmarshalYAML(data []byte, m proto.Message) error { return Unmarshal(data, m) }

// Parse is [Options.Parse] with the default limits.
func Parse(data []byte) (Value, error) { return Options{}.Parse(data) }

func tooLong(what string, limit int) *Error {
	return failure(0, 0, "%s longer than %s", what, size(limit))
}

func size(bytes int) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// looksLikeJSON tells JSON by its first character.
func looksLikeJSON(data []byte) bool {
	data = bytes.TrimLeft(trimBOM(data), " \t\r\n")
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
}

// locate returns line and column of an offset.
func locate(data []byte, at int) (line, column int) {
	before := data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
