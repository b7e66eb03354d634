package lp

import (
	"errors"
	"fmt"
	"math"
)

const (
	// infinite is the magnitude from which a bound is no bound. Clp refuses matrix
	// elements from here on.
	infinite = 1e20
	// negligible is the magnitude below which a coefficient is zero, as in Clp.
	negligible = 1e-20
)

// check reports every mistake in the problem.
func (p *Problem) check() error {
	if len(p.RowLower) != len(p.RowUpper) {
		return fmt.Errorf("lp: %d lower but %d upper row bounds", len(p.RowLower), len(p.RowUpper))
	}
	var errs []error
	for i := range p.RowLower {
		if err := checkBounds("row", i, p.RowLower[i], p.RowUpper[i]); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, checkColumns(p.Columns, 0, len(p.RowLower)))...)
}

// checkColumns reports every mistake in columns whose numbers start at first.
func checkColumns(columns []Column, first, rows int) error {
	var errs []error
	for k := range columns {
		c, j := &columns[k], first+k
		if err := checkBounds("column", j, c.Lower, c.Upper); err != nil {
			errs = append(errs, err)
		}
		if !usable(c.Cost) {
			errs = append(errs, fmt.Errorf("lp: column %d: cost %v must be finite and below %g in magnitude", j, c.Cost, float64(infinite)))
		}
		if err := c.checkEntries(j, rows); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// checkEntries reports the mistakes in a column's coefficients; j names it.
func (c *Column) checkEntries(j, rows int) error {
	if len(c.Rows) != len(c.Values) {
		return fmt.Errorf("lp: column %d: %d rows but %d values", j, len(c.Rows), len(c.Values))
	}
	var errs []error
	previous := int32(-1)
	for k, i := range c.Rows {
		switch {
		case i < 0 || int(i) >= rows:
			errs = append(errs, fmt.Errorf("lp: column %d: row %d is outside [0, %d)", j, i, rows))
		case i <= previous:
			errs = append(errs, fmt.Errorf("lp: column %d: row %d does not follow row %d in increasing order", j, i, previous))
		}
		if !usable(c.Values[k]) {
			errs = append(errs, fmt.Errorf("lp: column %d, row %d: coefficient %v must be finite and below %g in magnitude", j, i, c.Values[k], float64(infinite)))
		}
		previous = i
	}
	return errors.Join(errs...)
}

// usable reports whether a cost or coefficient is a number within the limits.
func usable(value float64) bool { return math.Abs(value) < infinite }

// checkBounds refuses bounds that no value can lie between.
func checkBounds(kind string, index int, lower, upper float64) error {
	if err := checkBoundValues(kind, index, lower, upper); err != nil {
		return err
	}
	if lower > upper {
		return fmt.Errorf("lp: %s %d: lower bound %v > upper bound %v", kind, index, lower, upper)
	}
	return nil
}

// checkBoundValues refuses bounds that are not numbers or at the wrong infinity.
func checkBoundValues(kind string, index int, lower, upper float64) error {
	switch {
	case math.IsNaN(lower) || lower >= infinite:
		return fmt.Errorf("lp: %s %d: lower bound %v must be a number below %g", kind, index, lower, float64(infinite))
	case math.IsNaN(upper) || upper <= -infinite:
		return fmt.Errorf("lp: %s %d: upper bound %v must be a number above %g", kind, index, upper, -float64(infinite))
	}
	return nil
}
