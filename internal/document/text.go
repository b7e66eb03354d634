package document

import (
	"strconv"
	"strings"
)

// maxShown is how much of a text is repeated in messages, in bytes.
const maxShown = 60

// shorten cuts a text that is too long to be shown.
func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

func quote(text string) string { return strconv.Quote(shorten(text)) }

// oneOf lists names as a choice: A, B or C.
func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Closest returns the name that a text was probably meant to be, or "" where none or
// several are likely.
func Closest(text string, names []string) string {
	if len(text) > maxShown {
		return ""
	}
	best, distance := "", max(1, len(text)/3)+1
	for _, name := range names {
		switch d := editDistance(normal(text), normal(name)); {
		case d < distance:
			best, distance = name, d
		case d == distance:
			best = ""
		}
	}
	return best
}

// normal leaves out what doesn't distinguish names.
func normal(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// editDistance is the number of bytes to insert, delete, replace or swap with their
// neighbour (the optimal string alignment distance).
func editDistance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range current {
		current[j] = j
	}
	for i := range len(a) {
		before, previous, current = previous, current, before
		current[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			current[j+1] = min(previous[j]+cost, previous[j+1]+1, current[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				current[j+1] = min(current[j+1], before[j-1]+1)
			}
		}
	}
	return current[len(b)]
}
