package document

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseJSON reads RFC 8259's JSON into nodes. NaN and Infinity are read as numbers,
// for the decoder to reject them by path. The text is valid UTF-8.
func parseJSON(text string, o Options) (*tree, error) {
	p := jsonParser{tree: tree{source: text}, options: o, line: 1}
	p.nodes = make([]node, 0, min(estimate(text), 2*o.MaxValues))
	p.skipSpace()
	if p.at == len(text) {
		return emptyDocument(), nil
	}
	if p.value(1) {
		p.skipSpace()
		if p.at < len(text) {
			p.fail("unexpected %s after the end of the document", p.here())
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return &p.tree, nil
}

// estimate returns an upper bound of the number of nodes: each follows one of these
// characters.
func estimate(text string) int {
	n := 1
	for _, c := range [...]string{",", ":", "{", "["} {
		n += strings.Count(text, c)
	}
	return n
}

type jsonParser struct {
	tree
	options Options
	at      int
	values  int
	// line is the number of the line, lineStart the offset of its first byte, and
	// trailing its number of bytes so far that don't start a character.
	line, lineStart, trailing int
	err                       *Error
}

// fail records what is wrong at the current place.
func (p *jsonParser) fail(format string, args ...any) bool {
	if p.err == nil {
		p.err = failure(p.line, p.column(), format, args...)
	}
	return false
}

func (p *jsonParser) column() int { return p.at - p.lineStart - p.trailing + 1 }

// here names the character at the current place.
func (p *jsonParser) here() string {
	if p.at >= len(p.source) {
		return "end of the document"
	}
	r, _ := utf8.DecodeRuneInString(p.source[p.at:])
	return quote(string(r))
}

// add appends a node that starts here.
func (p *jsonParser) add(kind Kind) int {
	i := len(p.nodes)
	p.nodes = append(p.nodes, node{line: int32(p.line), column: int32(p.column()), end: int32(i + 1), kind: kind}) //nolint:gosec // limited by MaxBytes
	return i
}

func (p *jsonParser) skipSpace() {
	for p.at < len(p.source) {
		switch p.source[p.at] {
		case ' ', '\t', '\r':
			p.at++
		case '\n':
			p.at++
			p.line++
			p.lineStart, p.trailing = p.at, 0
		default:
			return
		}
	}
}

// value reads the value that starts here, at a depth of nesting.
func (p *jsonParser) value(depth int) bool {
	if p.values++; p.values > p.options.MaxValues {
		return p.fail("more than %d values", p.options.MaxValues)
	}
	if depth > p.options.MaxDepth {
		return p.fail("nested deeper than %d levels", p.options.MaxDepth)
	}
	if p.at == len(p.source) {
		return p.fail("unexpected end of the document")
	}
	switch c := p.source[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		return p.quoted(p.add(String))
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *jsonParser) object(depth int) bool {
	object := p.add(Object)
	p.at++
	for first := true; ; first = false {
		p.skipSpace()
		switch {
		case p.skip('}'):
			p.nodes[object].end = int32(len(p.nodes)) //nolint:gosec // limited by MaxValues
			return true
		case !first && !p.skip(','):
			return p.fail("expected , or } after a value, got %s", p.here())
		}
		if !p.member(depth) {
			return false
		}
	}
}

func (p *jsonParser) member(depth int) bool {
	p.skipSpace()
	if p.at < len(p.source) && wordByte(p.source[p.at]) {
		return p.fail("expected a name in double quotes, got %s: what starts with { is read as JSON", p.here())
	}
	if p.at == len(p.source) || p.source[p.at] != '"' {
		return p.fail("expected a name in double quotes, got %s", p.here())
	}
	if !p.quoted(p.add(String)) {
		return false
	}
	p.skipSpace()
	if !p.skip(':') {
		return p.fail("expected : after a name, got %s", p.here())
	}
	p.skipSpace()
	return p.value(depth + 1)
}

func (p *jsonParser) list(depth int) bool {
	list := p.add(List)
	p.at++
	for first := true; ; first = false {
		p.skipSpace()
		switch {
		case p.skip(']'):
			p.nodes[list].end = int32(len(p.nodes)) //nolint:gosec // limited by MaxValues
			return true
		case !first && !p.skip(','):
			return p.fail("expected , or ] after a value, got %s", p.here())
		}
		p.skipSpace()
		if !p.value(depth + 1) {
			return false
		}
	}
}

// skip moves past a character if it is here.
func (p *jsonParser) skip(c byte) bool {
	if p.at < len(p.source) && p.source[p.at] == c {
		p.at++
		return true
	}
	return false
}

// quoted reads a string into a node.
func (p *jsonParser) quoted(i int) bool {
	p.at++
	start := p.at
	for p.at < len(p.source) {
		switch c := p.source[p.at]; {
		case c == '"':
			p.nodes[i].start, p.nodes[i].length = int32(start), int32(p.at-start) //nolint:gosec // limited by MaxBytes
			p.at++
			return true
		case c == '\\':
			return p.escaped(i, start)
		case c < ' ':
			return p.fail("character %s in a string must be escaped", p.here())
		default:
			p.plain(c)
		}
	}
	return p.fail("string without end")
}

// plain moves past one byte of a string.
func (p *jsonParser) plain(c byte) {
	if !utf8.RuneStart(c) {
		p.trailing++
	}
	p.at++
}

// escaped reads on a string that began at start, at its first escape.
func (p *jsonParser) escaped(i, start int) bool {
	var b strings.Builder
	b.WriteString(p.source[start:p.at])
	for p.at < len(p.source) {
		switch c := p.source[p.at]; {
		case c == '"':
			p.setText(i, b.String())
			p.at++
			return true
		case c == '\\':
			r, n := unescape(p.source[p.at:])
			if n == 0 {
				return p.fail("bad escape in a string: %s", quote(p.source[p.at:min(p.at+6, len(p.source))]))
			}
			b.WriteRune(r)
			p.at += n
		case c < ' ':
			return p.fail("character %s in a string must be escaped", p.here())
		default:
			b.WriteByte(c)
			p.plain(c)
		}
	}
	return p.fail("string without end")
}

// unescape reads one escape and returns its length, 0 where it is wrong.
func unescape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	high, ok := hexEscape(text)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(high):
		return high, 6
	}
	low, ok := hexEscape(text[6:])
	if r := utf16.DecodeRune(high, low); ok && r != utf8.RuneError {
		return r, 12
	}
	return 0, 0
}

// hexEscape reads \u and four hexadecimal digits.
func hexEscape(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[2:6]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (p *jsonParser) number() bool {
	n := numberLength(p.source[p.at:])
	if n == 0 || n < len(p.source)-p.at && wordByte(p.source[p.at+n]) {
		return p.word()
	}
	p.scalar(Number, n)
	return true
}

// scalar appends a scalar of n bytes.
func (p *jsonParser) scalar(kind Kind, n int) {
	i := p.add(kind)
	p.nodes[i].start, p.nodes[i].length = int32(p.at), int32(n) //nolint:gosec // limited by MaxBytes
	p.at += n
}

// numberLength returns the length of the JSON number that a text starts with, or 0.
func numberLength(text string) int {
	i := 0
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := digits(text[i:])
	if whole == 0 || whole > 1 && text[i] == '0' {
		return 0
	}
	i += whole
	if i < len(text) && text[i] == '.' {
		fraction := digits(text[i+1:])
		if fraction == 0 {
			return 0
		}
		i += 1 + fraction
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := digits(text[i:])
		if exponent == 0 {
			return 0
		}
		i += exponent
	}
	return i
}

// digits returns how many digits a text starts with.
func digits(text string) int {
	i := 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return i
}

// word reads what is neither quoted nor a number.
func (p *jsonParser) word() bool {
	n := 0
	for p.at+n < len(p.source) && wordByte(p.source[p.at+n]) {
		n++
	}
	switch word := p.source[p.at : p.at+n]; word {
	case "true", "false":
		p.scalar(Bool, n)
	case "null":
		p.scalar(Null, n)
	case "NaN", "Infinity", "-Infinity":
		p.scalar(Number, n)
	case "":
		return p.fail("expected a value, got %s", p.here())
	default:
		return p.fail("%s is no JSON value", quote(word))
	}
	return true
}

func wordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.' || c == '_'
}
