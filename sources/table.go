package sources

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/poolwright/poolwright/internal/document"
)

// The largest number of columns of a table, and of values in it.
const (
	mostColumns = 1000
	mostCells   = 5_000_000
)

// table is measurements in rows and columns, from CSV or from objects in JSON or
// YAML.
type table struct {
	columns []string
	rows    []tableRow
}

// tableRow is one row; cells are trimmed, and empty where there is no value.
type tableRow struct {
	line  int
	cells []string
}

// cell is the value in a column, empty where there is none.
func (r *tableRow) cell(column int) string {
	if column < 0 || column >= len(r.cells) {
		return ""
	}
	return r.cells[column]
}

// readCSV reads a table with a header. Separators are commas, semicolons or tabs.
func readCSV(data []byte, mistakes *document.Error) table {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		mistakes.Add(document.Violation{Message: "not UTF-8"})
		return table{}
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = separator(data)
	r.Comment = '#'
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	var t table
	for cellCount := 0; ; {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			mistakes.Add(csvViolation(err))
			return table{}
		}
		line, _ := r.FieldPos(0)
		if cellCount += len(cells); cellCount > mostCells {
			mistakes.Add(tooManyCells(line))
			return table{}
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		t.rows = append(t.rows, tableRow{line, cells})
	}
	t.header(mistakes)
	return t
}

func tooManyCells(line int) document.Violation {
	return document.Violation{Message: fmt.Sprintf("more than %d values", mostCells), Line: line}
}

func csvViolation(err error) document.Violation {
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return document.Violation{Message: wrong.Err.Error(), Line: wrong.Line, Column: wrong.Column}
	}
	return document.Violation{Message: err.Error()}
}

// separator is the character that the header has most of.
func separator(data []byte) rune {
	header := firstLine(data)
	best := ','
	for _, c := range ";\t" {
		if strings.Count(header, string(c)) > strings.Count(header, string(best)) {
			best = c
		}
	}
	return best
}

// firstLine is the first line that is neither empty nor a comment.
func firstLine(data []byte) string {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return string(line)
		}
	}
	return ""
}

// header takes the first row as names. Where names repeat, they go on in the rows
// below, as long as those have no numbers.
func (t *table) header(mistakes *document.Error) {
	if len(t.rows) == 0 {
		mistakes.Add(document.Violation{Message: "empty document; expected a header and rows"})
		return
	}
	if n := len(t.rows[0].cells); n > mostColumns {
		mistakes.Add(document.Violation{Message: fmt.Sprintf("%d columns are more than the %d allowed", n, mostColumns)})
		return
	}
	t.columns, t.rows = t.rows[0].cells, t.rows[1:]
	for range 2 {
		if !repeats(t.columns) || len(t.rows) == 0 || len(t.rows[0].cells) != len(t.columns) || slices.ContainsFunc(t.rows[0].cells, isNumber) {
			break
		}
		for i, cell := range t.rows[0].cells {
			t.columns[i] = strings.TrimSpace(t.columns[i] + " " + cell)
		}
		t.rows = t.rows[1:]
	}
	t.check(mistakes)
}

// check reports rows that don't fit the header.
func (t *table) check(mistakes *document.Error) {
	if repeats(t.columns) {
		mistakes.Add(document.Violation{Message: "columns of equal names: " + strings.Join(repeated(t.columns), ", "), Line: 1})
	}
	whole := t.rows[:0]
	for _, row := range t.rows {
		if len(row.cells) != len(t.columns) {
			mistakes.Add(document.Violation{
				Message: fmt.Sprintf("%d values under %d columns", len(row.cells), len(t.columns)), Line: row.line,
			})
			continue
		}
		whole = append(whole, row)
	}
	t.rows = whole
}

func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil
}

// repeats tells whether names are given twice. Columns without a name don't count.
func repeats(names []string) bool { return len(repeated(names)) > 0 }

// repeated returns the names that are given more than once, in order.
func repeated(names []string) []string {
	count := make(map[string]int, len(names))
	var out []string
	for _, name := range names {
		if count[name]++; count[name] == 2 && name != "" {
			out = append(out, name)
		}
	}
	return out
}

// recordTable makes a table of objects. Lists and objects inside them are left out.
func recordTable(records []entry, mistakes *document.Error) table {
	t := recordReader{index: make(map[string]int)}
	for i, r := range records {
		if r.value.Kind() != document.Object {
			mistakes.Add(document.Violation{
				Path: fmt.Sprintf("[%d]", i), Message: "expected an object, got " + r.value.Describe(), Line: r.line,
			})
			continue
		}
		if wrong := t.read(r); wrong != "" {
			mistakes.Add(document.Violation{Message: wrong, Line: r.line})
			return table{}
		}
	}
	return t.table
}

// recordReader makes a table of objects.
type recordReader struct {
	table
	index     map[string]int
	cellCount int
}

// read appends an object as a row, and returns what is wrong with it.
func (t *recordReader) read(object entry) string {
	row := tableRow{line: object.line}
	for key, member := range object.value.Members() {
		at, seen := t.index[key.Text()]
		if !seen {
			at = len(t.columns)
			t.index[key.Text()] = at
			t.columns = append(t.columns, key.Text())
		}
		for len(row.cells) <= at {
			row.cells = append(row.cells, "")
		}
		if row.cells[at] != "" {
			return fmt.Sprintf("%q is given twice", key.Text())
		}
		row.cells[at] = scalarText(member)
	}
	t.rows = append(t.rows, row)
	switch t.cellCount += len(row.cells); {
	case len(t.columns) > mostColumns:
		return fmt.Sprintf("more than %d names", mostColumns)
	case t.cellCount > mostCells:
		return tooManyCells(row.line).Message
	}
	return ""
}

// scalarText is the text of a scalar, empty for null, lists and objects.
func scalarText(v document.Value) string {
	switch v.Kind() {
	case document.Number, document.Bool:
		return v.Text()
	case document.String:
		return strings.TrimSpace(v.Text())
	default:
		return ""
	}
}
