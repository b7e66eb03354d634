package document

import "iter"

// Kind is the kind of a [Value].
type Kind uint8

// The kinds. Invalid is a value that the text's format has but documents may not
// use; its text says why.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	List
	Object
)

// tree is the values of a text.
type tree struct {
	nodes []node
	// source is the text, and other what stands in it in other words, such as with
	// escapes.
	source string
	other  []string
}

// node is a value, or a key of an object, which stands before its value. Nodes are
// in the order of the text, so that the first child follows its parent. There are
// many: they hold no pointers, so that the garbage collector passes over them.
type node struct {
	// start and length of a scalar's text in the source; or start is an index into the
	// other texts where length < 0.
	start, length int32
	// Place of the first character, from 1.
	line, column int32
	// end is the index after the last descendant.
	end  int32
	kind Kind
}

// emptyDocument is the tree of a text without a value.
func emptyDocument() *tree { return &tree{nodes: []node{{line: 1, column: 1, end: 1, kind: Null}}} }

// text of a scalar, unquoted; a number is decimal, or ends in a letter where it is
// not finite. For [Invalid] it is what is wrong.
func (t *tree) text(i int32) string {
	n := &t.nodes[i]
	if n.length < 0 {
		return t.other[n.start]
	}
	return t.source[n.start : n.start+n.length]
}

// setText gives a node a text that is not in the source.
func (t *tree) setText(i int, text string) {
	t.nodes[i].start, t.nodes[i].length = int32(len(t.other)), -1 //nolint:gosec // limited by MaxValues
	t.other = append(t.other, text)
}

// Value is a value in a tree that was read from a text.
type Value struct {
	tree *tree
	at   int32
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.tree.nodes[v.at].kind }

// Text returns the text of a scalar without quotes, and for [Invalid] what is wrong.
func (v Value) Text() string { return v.tree.text(v.at) }

// Position returns line and column, in characters from 1.
func (v Value) Position() (line, column int) {
	n := &v.tree.nodes[v.at]
	return int(n.line), int(n.column)
}

// Describe names the value for messages: the number 3, a list.
func (v Value) Describe() string { return v.tree.describe(v.at) }

// Elements yields the elements of a list with their indices.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != List {
			return
		}
		index, end := 0, v.tree.nodes[v.at].end
		for i := v.at + 1; i < end; i = v.tree.nodes[i].end {
			if !yield(index, Value{v.tree, i}) {
				return
			}
			index++
		}
	}
}

// Members yields the keys and values of an object.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.Kind() != Object {
			return
		}
		end := v.tree.nodes[v.at].end
		for i := v.at + 1; i < end; i = v.tree.nodes[i+1].end {
			if !yield(Value{v.tree, i}, Value{v.tree, i + 1}) {
				return
			}
		}
	}
}

func (t *tree) describe(i int32) string {
	text := t.text(i)
	switch t.nodes[i].kind {
	case Null:
		return "null"
	case Bool:
		return text
	case Number:
		return "the number " + shorten(text)
	case String:
		return "the string " + quote(text)
	case List:
		return "a list"
	case Object:
		return "an object"
	case Invalid:
	}
	return text
}
