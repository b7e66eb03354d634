package kthena

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Decimal is Units/10^Places exactly.
type Decimal struct {
	// Units has at most nine digits and is ≥ 0.
	Units int
	// Places is in [0, 6].
	Places int
}

const (
	mostUnits  = 999_999_999
	mostPlaces = 6
)

// ParseDecimal reads a number like "0.25".
func ParseDecimal(text string) (Decimal, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	units, err := strconv.Atoi(whole + fraction)
	d := Decimal{Units: units, Places: len(fraction)}
	if err != nil || !d.valid() {
		return Decimal{}, fmt.Errorf("kthena: %q is not a number ≥ 0 of at most nine digits, %d of them decimals", text, mostPlaces)
	}
	return d, nil
}

func (d Decimal) valid() bool {
	return d.Units >= 0 && d.Units <= mostUnits && d.Places >= 0 && d.Places <= mostPlaces
}

// one returns 10^Places.
func (d Decimal) one() int {
	one := 1
	for range d.Places {
		one *= 10
	}
	return one
}

// String returns the number without trailing zeros.
func (d Decimal) String() string {
	return strconv.FormatFloat(float64(d.Units)/float64(d.one()), 'f', -1, 64)
}

// RoleRatio keeps the prefill and decode replicas of a workload in proportion.
type RoleRatio struct {
	// Least and Most limit prefill replicas per decode replica.
	Least, Most Decimal
	// Bounds are in [0, 1,000,000]; they go before the ratio.
	Prefill, Decode Bounds
}

// Bounds are a least and a most number of replicas.
type Bounds struct{ Min, Max int }

func (b Bounds) clamp(n int) int { return min(max(n, b.Min), b.Max) }

func (b Bounds) validate(m *mistakes, path string) {
	m.within(path+".minReplicas", b.Min, 0, MostReplicas)
	m.within(path+".maxReplicas", b.Max, b.Min, MostReplicas)
}

// Pair is the replicas of the two roles.
type Pair struct{ Prefill, Decode int }

// Keep returns a pair in bounds and, as far as these permit, in proportion. It tells
// whether the ratio was to be adjusted, and whether it is violated all the same.
func (r *RoleRatio) Keep(wanted Pair) (kept Pair, adjusted, violated bool) {
	p, q := r.Prefill.clamp(wanted.Prefill), r.Decode.clamp(wanted.Decode)
	switch {
	case r.above(p, q):
		adjusted = true
		q = ceil(p*r.Most.one(), r.Most.Units)
		if q > r.Decode.Max {
			q = r.Decode.Max
			p = r.Prefill.clamp(q * r.Most.Units / r.Most.one())
		}
	case r.below(p, q):
		adjusted = true
		p = ceil(q*r.Least.Units, r.Least.one())
		if p > r.Prefill.Max {
			p = r.Prefill.Max
			q = r.Decode.clamp(p * r.Least.one() / r.Least.Units)
		}
	}
	p, q = r.Prefill.clamp(p), r.Decode.clamp(q)
	return Pair{p, q}, adjusted, r.above(p, q) || r.below(p, q)
}

// above and below compare by multiplication: there may be no decode replica.
func (r *RoleRatio) above(p, q int) bool { return p*r.Most.one() > q*r.Most.Units }
func (r *RoleRatio) below(p, q int) bool { return p*r.Least.one() < q*r.Least.Units }

// ceil returns ⌈a/b⌉ for a ≥ 0 and b > 0.
func ceil[T int | int64](a, b T) T { return (a + b - 1) / b }

// Validate returns every mistake, each with its path.
func (r *RoleRatio) Validate() error {
	var m mistakes
	m.check(r.Least.valid(), "ratio.minRatio", "%v is out of range", r.Least)
	m.check(r.Most.valid() && r.Most.Units > 0, "ratio.maxRatio", "%v is not in (0, ∞)", r.Most)
	if r.Least.valid() && r.Most.valid() {
		m.check(float64(r.Least.Units)/float64(r.Least.one()) <= float64(r.Most.Units)/float64(r.Most.one()),
			"ratio.maxRatio", "%v is less than minRatio %v", r.Most, r.Least)
	}
	r.Prefill.validate(&m, "prefill")
	r.Decode.validate(&m, "decode")
	return errors.Join(m...)
}
