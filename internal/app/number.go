package app

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is a number that may be absent. The zero value is absent. On the command
// line it may end in K, M, G or B, or T for a power of thousand.
type Number struct{ value *float64 }

// String is the number, empty where it is absent.
func (n *Number) String() string {
	if n.value == nil {
		return ""
	}
	return strconv.FormatFloat(*n.value, 'g', -1, 64)
}

// Set reads a finite number.
func (n *Number) Set(text string) error {
	digits, factor := text, 1.0
	if last := len(text) - 1; last > 0 {
		for power, suffixes := range []string{1: "kK", 2: "mM", 3: "gGbB", 4: "tT"} {
			if strings.IndexByte(suffixes, text[last]) >= 0 {
				digits, factor = text[:last], math.Pow(1000, float64(power))
			}
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return fmt.Errorf("expected a finite number such as 0.5, 8e9 or 8B")
	}
	v *= factor
	n.value = &v
	return nil
}

// Type names the values of the flag in help texts.
func (n *Number) Type() string { return "number" }

// Count is a whole number that may be absent. The zero value is absent.
type Count struct{ value *int32 }

// String is the number, empty where it is absent.
func (c *Count) String() string {
	if c.value == nil {
		return ""
	}
	return strconv.Itoa(int(*c.value))
}

// Set reads a whole number.
func (c *Count) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return fmt.Errorf("expected a whole number")
	}
	n := int32(v)
	c.value = &n
	return nil
}

// Type names the values of the flag in help texts.
func (c *Count) Type() string { return "count" }

// Choice is one of several names, or absent. It may be written in small letters,
// with dashes.
type Choice struct {
	// Names are the choices, in capital letters with underscores.
	Names []string
	value string
}

// String is the choice in small letters, empty where it is absent.
func (c *Choice) String() string { return asFlag(c.value) }

func asFlag(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// Set chooses a name.
func (c *Choice) Set(text string) error {
	for _, name := range c.Names {
		if asFlag(text) == asFlag(name) {
			c.value = name
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.Flags(), ", "))
}

// Flags are the names as they are written on the command line.
func (c *Choice) Flags() []string {
	var out []string
	for _, name := range c.Names {
		out = append(out, asFlag(name))
	}
	return out
}

// Type names the values of the flag in help texts.
func (c *Choice) Type() string { return "name" }
