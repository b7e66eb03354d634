package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// records are the rows of a CSV file, read by the names of its columns.
type records struct {
	file    string
	columns map[string]int
	rows    [][]string
}

// readRecords reads a CSV file whose first row names the columns.
func readRecords(file string) (records, error) {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return records{}, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return records{}, fmt.Errorf("%s: %w", file, err)
	}
	return recordsOf(file, all)
}

// recordsOf splits the header from the rows of a file.
func recordsOf(file string, all [][]string) (records, error) {
	if len(all) == 0 {
		return records{}, fmt.Errorf("%s: no header", file)
	}
	r := records{file: file, columns: make(map[string]int, len(all[0])), rows: all[1:]}
	for i, name := range all[0] {
		r.columns[name] = i
	}
	return r, nil
}

// record is one row. Its first mistake is kept in err.
type record struct {
	*records
	index int
	err   error
}

// check keeps an error, with its place.
func (r *record) check(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: line %d: %w", r.file, r.index+2, err)
	}
}

// text returns the field of a column, "" if there is no such column.
func (r *record) text(column string) string {
	i, ok := r.columns[column]
	if !ok {
		if r.err == nil {
			r.err = fmt.Errorf("%s: no column %q", r.file, column)
		}
		return ""
	}
	return r.rows[r.index][i]
}

// number returns the field of a column as a number, 0 if it is none.
func (r *record) number(column string) float64 {
	field := r.text(column)
	value, err := strconv.ParseFloat(field, 64)
	if err != nil {
		r.check(fmt.Errorf("%s: %q is not a number", column, field))
	}
	return value
}

// milliseconds returns the field of a column in seconds.
func (r *record) milliseconds(column string) float64 { return r.number(column) / 1e3 }
