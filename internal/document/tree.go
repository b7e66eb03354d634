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

// node is a value, or a key of an object, which stands before its value. Nodes are
// in the order of the text, so that the first child follows its parent.
type node struct {
	// text of a scalar, unquoted; a number is decimal, or ends in a letter where it
	// is not finite.
	text string
	// Place of the first character, from 1.
	line, column int32
	// end is the index after the last descendant.
	end  int32
	kind Kind
}

// emptyDocument is the tree of a text without a value.
func emptyDocument() []node { return []node{{line: 1, column: 1, end: 1, kind: Null}} }

// Value is a value in a tree that was read from a text.
type Value struct {
	nodes []node
	at    int32
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.nodes[v.at].kind }

// Text returns the text of a scalar without quotes, and for [Invalid] what is wrong.
func (v Value) Text() string { return v.nodes[v.at].text }

// Position returns line and column, in characters from 1.
func (v Value) Position() (line, column int) {
	n := &v.nodes[v.at]
	return int(n.line), int(n.column)
}

// Describe names the value for messages: the number 3, a list.
func (v Value) Describe() string { return v.nodes[v.at].describe() }

// Elements yields the elements of a list with their indices.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != List {
			return
		}
		index, end := 0, v.nodes[v.at].end
		for i := v.at + 1; i < end; i = v.nodes[i].end {
			if !yield(index, Value{v.nodes, i}) {
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
		end := v.nodes[v.at].end
		for i := v.at + 1; i < end; i = v.nodes[i+1].end {
			if !yield(Value{v.nodes, i}, Value{v.nodes, i + 1}) {
				return
			}
		}
	}
}

func (n *node) describe() string {
	switch n.kind {
	case Null:
		return "null"
	case Bool:
		return n.text
	case Number:
		return "the number " + shorten(n.text)
	case String:
		return "the string " + quote(n.text)
	case List:
		return "a list"
	case Object:
		return "an object"
	case Invalid:
	}
	return n.text
}
