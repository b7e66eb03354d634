package document

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// expandedBytes of a scalar's text count as a value where an alias adds it.
const expandedBytes = 8

// parseYAML reads one YAML document into nodes.
func parseYAML(text string, o Options) (*tree, error) {
	if most := o.MaxValues / 4; indicators(text) > most {
		return nil, failure(0, 0, "more than %d lines and values: write it as JSON", most)
	}
	root, err := readYAML(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return emptyDocument(), nil
	}
	b := treeBuilder{options: o, open: map[*yaml.Node]bool{}}
	b.value(root, 1)
	if b.err != nil {
		return nil, b.err
	}
	return &b.tree, nil
}

// indicators counts the characters one of which precedes every YAML value but the
// first: it bounds the parser's memory.
func indicators(text string) int {
	n := 1
	for _, c := range [...]string{"\n", "\r", ",", "[", "{", ": ", ":\t", "- ", "-\t", "? ", "?\t"} {
		n += strings.Count(text, c)
	}
	return n
}

// readYAML returns the value of the only document, nil for none. A panic of the parser is an
// error: it must not end the process.
func readYAML(text string) (value *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = failure(0, 0, "not YAML: %s", shorten(fmt.Sprint(r)))
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, next yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	switch err := decoder.Decode(&next); {
	case errors.Is(err, io.EOF):
		return document.Content[0], nil
	case err != nil:
		return nil, syntaxError(err)
	}
	return nil, failure(next.Line, 0, "a second YAML document: only one is read")
}

// syntaxError takes the line out of the parser's message.
func syntaxError(err error) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			return failure(line, 0, "not YAML: %s", rest)
		}
	}
	return failure(0, 0, "not YAML: %s", message)
}

// treeBuilder turns YAML's nodes into ours, aliases expanded.
type treeBuilder struct {
	tree
	options          Options
	values, expanded int
	// open are the anchored values around the current one.
	open map[*yaml.Node]bool
	// aliases is the number of aliases around the current value.
	aliases int
	err     *Error
}

func (b *treeBuilder) fail(n *yaml.Node, format string, args ...any) {
	if b.err == nil {
		b.err = failure(n.Line, n.Column, format, args...)
	}
}

func (b *treeBuilder) add(n *yaml.Node, kind Kind, text string) int {
	i := len(b.nodes)
	b.nodes = append(b.nodes, node{line: int32(n.Line), column: int32(n.Column), end: int32(i + 1), kind: kind}) //nolint:gosec // limited by MaxYAMLBytes
	b.setText(i, text)
	return i
}

func (b *treeBuilder) value(n *yaml.Node, depth int) {
	if b.values++; b.values > b.options.MaxValues {
		b.fail(n, "more than %d values", b.options.MaxValues)
	}
	if b.aliases > 0 {
		b.expand(n)
	}
	if depth > b.options.MaxDepth {
		b.fail(n, "nested deeper than %d levels", b.options.MaxDepth)
	}
	if b.err != nil {
		return
	}
	switch {
	case n.Kind == yaml.AliasNode:
		b.alias(n, depth)
	case n.Style&yaml.TaggedStyle != 0:
		b.add(n, Invalid, "YAML tags are not supported: remove "+shorten(n.Tag))
	case n.Kind == yaml.ScalarNode:
		kind, text := scalarOf(n)
		b.add(n, kind, text)
	default:
		b.collection(n, depth)
	}
}

// expand counts what an alias adds.
func (b *treeBuilder) expand(n *yaml.Node) {
	if b.expanded += 1 + len(n.Value)/expandedBytes; b.expanded > b.options.MaxExpanded {
		b.fail(n, "aliases expand to more than %d values", b.options.MaxExpanded)
	}
}

func (b *treeBuilder) alias(n *yaml.Node, depth int) {
	if b.open[n.Alias] {
		b.fail(n, "anchor %s contains itself", quote(n.Value))
		return
	}
	b.aliases++
	b.value(n.Alias, depth)
	b.aliases--
}

func (b *treeBuilder) collection(n *yaml.Node, depth int) {
	if n.Anchor != "" {
		b.open[n] = true
		defer delete(b.open, n)
	}
	kind := List
	if n.Kind == yaml.MappingNode {
		kind = Object
	}
	i := b.add(n, kind, "")
	for at, child := range n.Content {
		if b.err != nil {
			return
		}
		if kind == Object && at%2 == 0 {
			b.key(child)
		} else {
			b.value(child, depth+1)
		}
	}
	b.nodes[i].end = int32(len(b.nodes)) //nolint:gosec // limited by MaxValues
}

func (b *treeBuilder) key(n *yaml.Node) {
	resolved := n
	if n.Kind == yaml.AliasNode {
		resolved = n.Alias
	}
	if b.aliases > 0 || resolved != n {
		b.expand(resolved)
	}
	switch {
	case resolved.Kind != yaml.ScalarNode:
		b.add(n, Invalid, "a key must be a string, not a list or mapping")
	case resolved.Style&yaml.TaggedStyle != 0:
		b.add(n, Invalid, "YAML tags are not supported: remove "+shorten(resolved.Tag))
	case resolved.Tag == "!!merge":
		b.add(n, Invalid, "merge keys (<<) are not supported: use an alias for a whole value")
	default:
		kind, text := scalarOf(resolved)
		b.add(n, kind, text)
	}
}

// scalarOf returns kind and text of a scalar.
func scalarOf(n *yaml.Node) (Kind, string) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return String, n.Value
	}
	switch n.ShortTag() {
	case "!!null":
		return Null, n.Value
	case "!!bool":
		return Bool, strings.ToLower(n.Value)
	case "!!int", "!!float":
		return yamlNumber(n.Value)
	}
	return String, n.Value
}

// yamlNumber accepts decimal numbers only: YAML 1.1 and 1.2 read others differently.
func yamlNumber(text string) (Kind, string) {
	unsigned := strings.TrimLeft(text, "+-")
	switch strings.ToLower(unsigned) {
	case ".inf", ".nan":
		return Number, text
	}
	whole := digits(unsigned)
	rest := strings.TrimLeft(unsigned, "0123456789.")
	rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest, "e"), "E"), "+-0123456789")
	if rest != "" || whole > 1 && unsigned[0] == '0' {
		return Invalid, "write " + shorten(text) + " as a decimal number, or in quotes as a string"
	}
	return Number, strings.TrimPrefix(text, "+")
}
