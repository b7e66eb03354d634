package llmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Units of the family.
const (
	millisecondsPerSecond = 1000
	secondsPerMinute      = 60
)

// mostMilliseconds is what a coefficient or a limit is at most: beyond that it is in
// another unit.
const mostMilliseconds = 1e9

// number is a decimal number. The API has most in quotes, and people leave those out.
type number struct{ text string }

// UnmarshalJSON takes a number, a string or null. What is in the string is looked at when
// it is read, so that all mistakes are found at once.
func (n *number) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &n.text)
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		n.text = string(b)
		return nil
	}
	return fmt.Errorf("%s is no number", b)
}

// given tells whether there is one.
func (n number) given() bool { return n.text != "" }

// mistakes are what is wrong with something, each with its path.
type mistakes []string

func (m *mistakes) add(path, format string, arguments ...any) {
	*m = append(*m, path+": "+fmt.Sprintf(format, arguments...))
}

// orNil is an error with all of them on one line.
func (m mistakes) orNil() error {
	if len(m) == 0 {
		return nil
	}
	return errors.New(strings.Join(m, "; "))
}

// value reads a number in [0, most]; 0 where it is absent.
func (m *mistakes) value(path string, n number, most float64) float64 {
	if !n.given() {
		return 0
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		m.add(path, "%q is no number", n.text)
		return 0
	}
	if !(v >= 0 && v <= most) {
		m.add(path, "%q is not in [0, %g]", n.text, most)
		return 0
	}
	return v
}

// seconds reads a number of milliseconds.
func (m *mistakes) seconds(path string, n number) float64 {
	return m.value(path, n, mostMilliseconds) / millisecondsPerSecond
}

// count reads a number in [low, high]; low where it is absent.
func (m *mistakes) count(path string, n *int64, low, high int64) int {
	if n == nil {
		return int(low)
	}
	if *n < low || *n > high {
		m.add(path, "%d is not in [%d, %d]", *n, low, high)
		return int(low)
	}
	return int(*n)
}
