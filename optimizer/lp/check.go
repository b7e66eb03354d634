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
		errs = append(errs, checkBounds("row", i, p.RowLower[i], p.RowUpper[i]))
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		errs = append(errs, checkBounds("column", j, c.Lower, c.Upper), c.check(j, len(p.RowLower)))
	}
	return errors.Join(errs...)
}

// check reports the mistakes in a column but for its bounds; j names it.
func (c *Column) check(j, rows int) error {
	var errs []error
	errs = append(errs, checkFinite(c.Cost, "column %d: cost", j))
	if len(c.Rows) != len(c.Values) {
		return errors.Join(append(errs, fmt.Errorf("lp: column %d: %d rows but %d values", j, len(c.Rows), len(c.Values)))...)
	}
	previous := int32(-1)
	for k, i := range c.Rows {
		switch {
		case i < 0 || int(i) >= rows:
			errs = append(errs, fmt.Errorf("lp: column %d: row %d is outside [0, %d)", j, i, rows))
		case i <= previous:
			errs = append(errs, fmt.Errorf("lp: column %d: row %d does not follow row %d in increasing order", j, i, previous))
		}
		errs = append(errs, checkFinite(c.Values[k], "column %d, row %d: coefficient", j, i))
		previous = i
	}
	return errors.Join(errs...)
}

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

func checkFinite(value float64, format string, args ...any) error {
	if math.IsNaN(value) || math.Abs(value) >= infinite {
		return fmt.Errorf("lp: %s %v must be finite and below %g in magnitude", fmt.Sprintf(format, args...), value, float64(infinite))
	}
	return nil
}
