package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// column is a column of a table.
type column struct {
	name string
	// screen columns are shown on the terminal only: they hold third-party figures,
	// which no file of the repository may hold.
	screen bool
}

// table is what a study shows, on the terminal and in the document.
type table struct {
	title   string
	columns []column
	rows    [][]string
}

// columns returns columns by name; a name that starts with "!" is for the
// terminal only.
func columns(names ...string) []column {
	all := make([]column, len(names))
	for i, name := range names {
		short, screen := strings.CutPrefix(name, "!")
		all[i] = column{short, screen}
	}
	return all
}

func (t *table) add(fields ...string) { t.rows = append(t.rows, fields) }

// text returns the table with aligned columns.
func (t *table) text() string {
	width := make([]int, len(t.columns))
	for i, c := range t.columns {
		width[i] = utf8.RuneCountInString(c.name)
		for _, row := range t.rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	line := func(field func(int) string) {
		var l strings.Builder
		for i := range t.columns {
			text := field(i)
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
			if i == 0 {
				l.WriteString(text + pad)
			} else {
				l.WriteString("  " + pad + text)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	b.WriteString("\n" + t.title + "\n\n")
	line(func(i int) string { return t.columns[i].name })
	for _, row := range t.rows {
		line(func(i int) string { return row[i] })
	}
	return b.String()
}

// markdown returns the columns that a document may hold.
func (t *table) markdown() string {
	var head, rule, body strings.Builder
	for i, c := range t.columns {
		if c.screen {
			continue
		}
		head.WriteString("| " + c.name + " ")
		if i == 0 {
			rule.WriteString("|---")
		} else {
			rule.WriteString("|--:")
		}
	}
	for _, row := range t.rows {
		for i, field := range row {
			if !t.columns[i].screen {
				body.WriteString("| " + field + " ")
			}
		}
		body.WriteString("|\n")
	}
	return fmt.Sprintf("%s:\n\n%s|\n%s|\n%s", t.title, head.String(), rule.String(), body.String())
}

// count writes a number of things.
func count(n int) string { return strconv.Itoa(n) }

// format writes a number with four digits at most.
func format(x float64) string { return fmt.Sprintf("%.4g", x) }

// milli writes seconds in milliseconds with four digits.
func milli(seconds float64) string { return format(1e3 * seconds) }
