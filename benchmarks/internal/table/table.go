// Package table writes tables for the terminal and for Markdown documents.
package table

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Column is a column of a table.
type Column struct {
	Name string
	// Screen columns are shown on the terminal only: they hold third-party figures,
	// which no file of the repository may hold.
	Screen bool `json:",omitempty"`
}

// Table is a table with a title.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string
}

// Columns returns columns by name; a name that starts with "!" is for the
// terminal only.
func Columns(names ...string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		short, screen := strings.CutPrefix(name, "!")
		all[i] = Column{short, screen}
	}
	return all
}

// Add adds a row with a field for every column.
func (t *Table) Add(fields ...string) { t.Rows = append(t.Rows, fields) }

// Text returns the table with aligned columns.
func (t *Table) Text() string {
	width := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		width[i] = utf8.RuneCountInString(c.Name)
		for _, row := range t.Rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	line := func(field func(int) string) {
		var l strings.Builder
		for i := range t.Columns {
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
	b.WriteString("\n" + t.Title + "\n\n")
	line(func(i int) string { return t.Columns[i].Name })
	for _, row := range t.Rows {
		line(func(i int) string { return row[i] })
	}
	return b.String()
}

// Markdown returns the columns that a document may hold.
func (t *Table) Markdown() string {
	var head, rule strings.Builder
	for i, c := range t.Columns {
		if c.Screen {
			continue
		}
		head.WriteString("| " + c.Name + " ")
		if i == 0 {
			rule.WriteString("|---")
		} else {
			rule.WriteString("|--:")
		}
	}
	return fmt.Sprintf("%s:\n\n%s|\n%s|\n%s", t.Title, head.String(), rule.String(), t.MarkdownRows())
}

// MarkdownRows returns the rows of [Table.Markdown] alone.
func (t *Table) MarkdownRows() string {
	var b strings.Builder
	for _, row := range t.Rows {
		for i, field := range row {
			if !t.Columns[i].Screen {
				b.WriteString("| " + field + " ")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}
