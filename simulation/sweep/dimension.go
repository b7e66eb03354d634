package sweep

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
)

// Dimension is one field of a simulation and the values that it takes.
type Dimension struct {
	// Path of the field, see [New].
	Path string
	// Values as in a document, each once, however it is written.
	Values []string
}

// MaxPoints is the most points that a sweep may have.
const MaxPoints = 100_000

// Parse reads a dimension such as pools.H100=8..64:8. After the path come values, separated by
// commas, and ranges low..high:step of numbers or durations, whose step is 1, or 1s, where it
// is left out, and which end at or before high.
func Parse(text string) (Dimension, error) {
	path, list, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	if !ok || path == "" {
		return Dimension{}, fmt.Errorf("sweep: %q is not of the form path=values, such as pools.H100=8..64:8", text)
	}
	d := Dimension{Path: path}
	var mistakes []error
	for item := range strings.SplitSeq(list, ",") {
		values, err := expand(strings.TrimSpace(item))
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("sweep: %s: %w", path, err))
		}
		d.Values = append(d.Values, values...)
	}
	if len(d.Values) > MaxPoints {
		mistakes = append(mistakes, fmt.Errorf("sweep: %s: %d values are more than %d", path, len(d.Values), MaxPoints))
	}
	if err := errors.Join(mistakes...); err != nil {
		return Dimension{}, err
	}
	return d, nil
}

// String is what Parse reads, with ranges written out.
func (d Dimension) String() string { return d.Path + "=" + strings.Join(d.Values, ",") }

// expand returns the values of one item.
func expand(item string) ([]string, error) {
	if item == "" {
		return nil, errors.New("a value is empty")
	}
	low, rest, ok := strings.Cut(item, "..")
	if !ok {
		return []string{item}, nil
	}
	high, step, stepped := strings.Cut(rest, ":")
	if decimal.MatchString(low) {
		if !stepped {
			step = "1"
		}
		return numbers(item, low, high, step)
	}
	if !stepped {
		step = "1s"
	}
	return durations(item, low, high, step)
}

var decimal = regexp.MustCompile(`^-?[0-9]{1,18}(\.[0-9]{1,18})?$`)

// numbers counts in decimals, exactly.
func numbers(item, low, high, step string) ([]string, error) {
	var bounds [3]*big.Rat
	places := 0
	for i, text := range []string{low, high, step} {
		if !decimal.MatchString(text) {
			return nil, fmt.Errorf("range %s: %q is no number", item, text)
		}
		bounds[i], _ = new(big.Rat).SetString(text)
		if _, fraction, ok := strings.Cut(text, "."); ok && i != 1 {
			places = max(places, len(fraction))
		}
	}
	if bounds[2].Sign() <= 0 {
		return nil, fmt.Errorf("range %s: step %s is not above 0", item, step)
	}
	if bounds[0].Cmp(bounds[1]) > 0 {
		return nil, fmt.Errorf("range %s: %s is above %s", item, low, high)
	}
	var values []string
	for x := bounds[0]; x.Cmp(bounds[1]) <= 0; x = new(big.Rat).Add(x, bounds[2]) {
		if len(values) == MaxPoints {
			return nil, fmt.Errorf("range %s: more than %d values", item, MaxPoints)
		}
		values = append(values, x.FloatString(places))
	}
	return values, nil
}

func durations(item, low, high, step string) ([]string, error) {
	var bounds [3]time.Duration
	for i, text := range []string{low, high, step} {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("range %s: %q is neither a number nor a duration such as 30s", item, text)
		}
		bounds[i] = d
	}
	if bounds[2] <= 0 {
		return nil, fmt.Errorf("range %s: step %s is not above 0", item, step)
	}
	if bounds[0] > bounds[1] {
		return nil, fmt.Errorf("range %s: %s is above %s", item, low, high)
	}
	count := (bounds[1]-bounds[0])/bounds[2] + 1
	if count <= 0 || count > MaxPoints {
		return nil, fmt.Errorf("range %s: more than %d values", item, MaxPoints)
	}
	values := make([]string, 0, count)
	for d := bounds[0]; len(values) < int(count); d += bounds[2] {
		values = append(values, d.String())
	}
	return values, nil
}
