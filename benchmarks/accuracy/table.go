package main

import (
	"fmt"
	"io"
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

// text writes the table with aligned columns.
func (t *table) text(w io.Writer) {
	width := make([]int, len(t.columns))
	for i, c := range t.columns {
		width[i] = utf8.RuneCountInString(c.name)
		for _, row := range t.rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	line := func(field func(int) string) {
		var b strings.Builder
		for i := range t.columns {
			text := field(i)
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
			if i == 0 {
				b.WriteString(text + pad)
			} else {
				b.WriteString("  " + pad + text)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	fmt.Fprintf(w, "\n%s\n\n", t.title)
	line(func(i int) string { return t.columns[i].name })
	for _, row := range t.rows {
		line(func(i int) string { return row[i] })
	}
}

// markdown writes the columns that a document may hold.
func (t *table) markdown(w io.Writer) {
	var head, rule strings.Builder
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
	fmt.Fprintf(w, "%s\n\n%s|\n%s|\n", t.title, head.String(), rule.String())
	for _, row := range t.rows {
		for i, field := range row {
			if !t.columns[i].screen {
				fmt.Fprintf(w, "| %s ", field)
			}
		}
		fmt.Fprintln(w, "|")
	}
	fmt.Fprintln(w)
}
