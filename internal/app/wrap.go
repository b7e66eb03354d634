package app

import (
	"strings"
	"unicode/utf8"
)

// textColumns is the width of text for people, a little below 100 columns.
const textColumns = 98

// wrap breaks a line at spaces into lines that fit, as far as its words do. Those
// after the first begin with the indent.
func wrap(line, indent string) []string {
	var lines []string
	current, empty := "", true
	for word := range strings.SplitSeq(line, " ") {
		if !empty && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > textColumns {
			lines = append(lines, current)
			current, empty = indent, true
		}
		if !empty {
			current += " "
		}
		current += word
		empty = false
	}
	return append(lines, current)
}

// Message is the text of an error for people: lines that are too long go on below,
// indented.
func Message(err error) string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		lines = append(lines, wrap(line, "    ")...)
	}
	return strings.Join(lines, "\n")
}
