package hpa

import (
	"math"
	"math/bits"
)

// total is an exact sum, so that the order in which pods are listed changes nothing
// where numbers saturate.
type total struct {
	high int64
	low  uint64
}

func (t *total) add(v int64) {
	low, carry := bits.Add64(t.low, uint64(v), 0)
	t.low, t.high = low, t.high+v>>63+int64(carry)
}

// clamped returns the sum as near as 64 bits come to it.
func (t total) clamped() int64 {
	switch {
	case t.high == int64(t.low)>>63:
		return int64(t.low)
	case t.high < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// scaled returns a·b/c for b, c > 0, truncated towards zero, or as near as 64 bits
// come to it.
func scaled(a, b, c int64) int64 {
	negative := a < 0
	magnitude := uint64(a)
	if negative {
		magnitude = -magnitude
	}
	high, low := bits.Mul64(magnitude, uint64(b))
	quotient := uint64(math.MaxInt64)
	if high < uint64(c) {
		quotient, _ = bits.Div64(high, low, uint64(c))
		quotient = min(quotient, math.MaxInt64)
	}
	if negative {
		return -int64(quotient)
	}
	return int64(quotient)
}

// whole returns x without its fraction as near as 64 bits come to it; what is not a
// number counts as 0.
func whole(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	case math.IsNaN(x):
		return 0
	default:
		return int64(x)
	}
}

// count rounds up to a number of replicas.
func count(x float64) int32 { return max(0, replicas(whole(math.Ceil(x)))) }

// replicas clamps a number of replicas to what the API can say.
func replicas(n int64) int32 {
	return int32(min(max(n, math.MinInt32), math.MaxInt32))
}
