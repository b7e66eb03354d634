package sources

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Condition is what a row must have in a column to be read.
type Condition struct {
	// Column is compared with Value by Operator: =, !=, <, <=, > or >=.
	Column, Operator, Value string
}

// ParseCondition reads conditions such as gpu=h200 and load<0.8. The error says what is
// wrong with the form, or that something is to be less or more than what is no number.
func ParseCondition(text string) (Condition, error) {
	at := strings.IndexAny(text, "=!<>")
	if at > 0 {
		for _, operator := range []string{"!=", "<=", ">=", "=", "<", ">"} {
			if value, ok := strings.CutPrefix(text[at:], operator); ok {
				c := Condition{text[:at], operator, value}
				err := c.validate()
				return c, err
			}
		}
	}
	return Condition{}, fmt.Errorf("expected COLUMN=VALUE, or !=, <, <=, > or >= in place of =, got %q", text)
}

func (c *Condition) validate() error {
	if c.Operator == "=" || c.Operator == "!=" {
		return nil
	}
	if v, err := strconv.ParseFloat(c.Value, 64); err != nil || math.IsNaN(v) {
		return fmt.Errorf("'%s': %q is not a number", c, c.Value)
	}
	return nil
}

// String is the condition as it is written.
func (c Condition) String() string { return c.Column + c.Operator + c.Value }

// meets tells whether a value meets the condition. Numbers are compared by value,
// texts without regard to case; only numbers are less or more than others.
func (c *Condition) meets(value string) bool {
	x, errX := strconv.ParseFloat(value, 64)
	y, errY := strconv.ParseFloat(c.Value, 64)
	numbers := errX == nil && errY == nil
	switch c.Operator {
	case "=":
		return strings.EqualFold(value, c.Value) || numbers && x == y
	case "!=":
		return !strings.EqualFold(value, c.Value) && !(numbers && x == y)
	case "<":
		return numbers && cmp.Compare(x, y) < 0
	case "<=":
		return numbers && cmp.Compare(x, y) <= 0
	case ">":
		return numbers && cmp.Compare(x, y) > 0
	default:
		return numbers && cmp.Compare(x, y) >= 0
	}
}

// filter leaves only rows that meet all conditions.
func (r *measurementReader) filter() error {
	var mistakes []error
	if len(r.parts) == 0 && len(r.options.Where) > 0 {
		return fmt.Errorf("--where '%s': there is no table", r.options.Where[0])
	}
	for i := range r.parts {
		for _, c := range r.options.Where {
			if err := r.parts[i].filter(c); err != nil {
				mistakes = append(mistakes, fmt.Errorf("%s: --where '%s': %w", r.parts[i].file, c, err))
			}
		}
	}
	return errors.Join(mistakes...)
}

func (t *table) filter(c Condition) error {
	column := slices.Index(t.columns, c.Column)
	if column < 0 {
		wanted := words(c.Column)
		column = slices.IndexFunc(t.columns, func(name string) bool { return slices.Equal(words(name), wanted) })
	}
	if column < 0 {
		return fmt.Errorf("there is no column %q; there are %s", c.Column, shortList(t.columns))
	}
	var values []string
	var rows []tableRow
	for _, row := range t.rows {
		value := row.cell(column)
		if c.meets(value) {
			rows = append(rows, row)
		} else if len(rows) == 0 && len(values) <= mostShown && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("no row meets it; there are %s", shortList(values))
	}
	t.rows = rows
	return nil
}
