// Package records reads CSV files by the names of their columns.
package records

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Record is one row. Its first mistake is what [Each] returns.
type Record struct {
	file    string
	columns map[string]int
	fields  []string
	line    int
	err     error
}

// Each calls f for each row of a file whose first row names the columns, until one has
// a mistake. A file whose name ends in .gz is compressed.
func Each(file string, f func(*Record)) error {
	rows, err := read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: no header", file)
	}
	columns := make(map[string]int, len(rows[0]))
	for i, name := range rows[0] {
		columns[name] = i
	}
	for i, fields := range rows[1:] {
		r := Record{file: file, columns: columns, fields: fields, line: i + 2}
		f(&r)
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

func read(file string) ([][]string, error) {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	var text io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if text, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	return csv.NewReader(text).ReadAll()
}

// Check keeps an error, with its place.
func (r *Record) Check(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: line %d: %w", r.file, r.line, err)
	}
}

// Row returns all fields.
func (r *Record) Row() string { return strings.Join(r.fields, ",") }

// Text returns the field of a column, "" if there is no such column.
func (r *Record) Text(column string) string {
	i, ok := r.columns[column]
	if !ok {
		if r.err == nil {
			r.err = fmt.Errorf("%s: no column %q", r.file, column)
		}
		return ""
	}
	return r.fields[i]
}

// Number returns the field of a column as a number, 0 if it is none.
func (r *Record) Number(column string) float64 {
	field := r.Text(column)
	value, err := strconv.ParseFloat(field, 64)
	if err != nil {
		r.Check(fmt.Errorf("%s: %q is not a number", column, field))
	}
	return value
}

// Milliseconds returns the field of a column in seconds.
func (r *Record) Milliseconds(column string) float64 { return r.Number(column) / 1e3 }
