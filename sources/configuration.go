package sources

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// configuration counts the rows of one combination of values.
type configuration struct {
	values []string
	rows   int
}

// oneConfiguration checks that all rows are of one model, accelerator, parallelism
// and engine. Columns of equal names in several files are one.
func (r *measurementReader) oneConfiguration() error {
	var names []string
	for i := range r.parts {
		for _, c := range r.parts[i].layout.columns {
			if c.configures() && !slices.Contains(names, c.name) && (r.everywhere(c.name) || !r.constant(c.name)) {
				names = append(names, c.name)
			}
		}
	}
	found := r.configurations(names)
	if len(found) < 2 {
		return nil
	}
	var differ []int
	for k := range names {
		if slices.ContainsFunc(found, func(c configuration) bool { return c.values[k] != found[0].values[k] }) {
			differ = append(differ, k)
		}
	}
	return severalConfigurations(names, differ, found)
}

// everywhere tells whether all files have a column.
func (r *measurementReader) everywhere(name string) bool {
	return !slices.ContainsFunc(r.parts, func(t fileTable) bool { return !slices.Contains(t.columns, name) })
}

// constant tells whether a column has one value, in the files that have it.
func (r *measurementReader) constant(name string) bool {
	value, seen := "", false
	for i := range r.parts {
		at := slices.Index(r.parts[i].columns, name)
		if at < 0 {
			continue
		}
		for _, row := range r.parts[i].rows {
			if seen && row.cell(at) != value {
				return false
			}
			value, seen = row.cell(at), true
		}
	}
	return true
}

// configures tells whether a column has something that is the same in all
// measurements of one configuration.
func (c *column) configures() bool {
	switch c.meaning {
	case configurationColumn, maxBatchColumn, maxBatchedTokensColumn, kvCacheTokensColumn:
		return true
	default:
		return false
	}
}

// configurations returns the combinations of values of columns, in the order of
// the rows.
func (r *measurementReader) configurations(names []string) []configuration {
	var found []configuration
	seen := make(map[string]int)
	for i := range r.parts {
		t := &r.parts[i]
		at := make([]int, len(names))
		for k, name := range names {
			at[k] = slices.Index(t.columns, name)
		}
		for _, row := range t.rows {
			values := make([]string, len(names))
			for k := range names {
				values[k] = row.cell(at[k])
			}
			key := strings.Join(values, "\x00")
			n, known := seen[key]
			if !known {
				n = len(found)
				seen[key] = n
				found = append(found, configuration{values: values})
			}
			found[n].rows++
		}
	}
	return found
}

// listed quotes an element of a list where commas need it.
func listed(element string) string {
	if strings.ContainsAny(element, `,"`) {
		return `"` + strings.ReplaceAll(element, `"`, `""`) + `"`
	}
	return element
}

// severalConfigurations is the error that lists configurations, each as the
// condition that chooses it.
func severalConfigurations(names []string, differ []int, found []configuration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "the rows are of %d configurations, and a profile is of one. Choose by", len(found))
	for _, c := range found[:min(len(found), mostShown)] {
		b.WriteString("\n  --where '")
		for n, k := range differ {
			if n > 0 {
				b.WriteByte(',')
			}
			b.WriteString(listed(names[k] + "=" + c.values[k]))
		}
		fmt.Fprintf(&b, "' (%d rows)", c.rows)
	}
	if more := len(found) - mostShown; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return errors.New(b.String())
}
