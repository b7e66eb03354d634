package main

import (
	"fmt"
	"strconv"
)

// count writes a number of things.
func count(n int) string { return strconv.Itoa(n) }

// format writes a number with four digits at most.
func format(x float64) string { return fmt.Sprintf("%.4g", x) }

// milli writes seconds in milliseconds with four digits.
func milli(seconds float64) string { return format(1e3 * seconds) }
