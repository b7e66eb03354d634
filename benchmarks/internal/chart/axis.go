package chart

import (
	"math"
	"strconv"
	"strings"
)

// place returns where a value lies between the ends of the axis, as a share within
// [0, 1], and -1 or 1 if it lies below or above them.
func (a Axis) place(v float64) (share float64, beyond int) {
	low, high := a.Low, a.High
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(v)
	}
	switch share = (v - low) / (high - low); {
	case share < 0:
		return 0, -1
	case share > 1:
		return 1, 1
	}
	return share, 0
}

// mostTicks is how many ticks an axis has at most, about.
const mostTicks = 6

// ticks returns round values from Low to High.
func (a Axis) ticks() []float64 {
	if a.Log {
		return a.powers()
	}
	step := roundStep((a.High - a.Low) / mostTicks)
	var ticks []float64
	for k := math.Ceil(a.Low/step - 1e-9); k*step <= a.High*(1+1e-9)+1e-12; k++ {
		// Adding 0 makes a 0 of a negative 0.
		ticks = append(ticks, k*step+0)
	}
	return ticks
}

// powers returns powers of ten, every one, second, third … of them.
func (a Axis) powers() []float64 {
	low, high := math.Ceil(math.Log10(a.Low)-1e-9), math.Floor(math.Log10(a.High)+1e-9)
	stride := max(1, math.Ceil((high-low)/mostTicks))
	var ticks []float64
	for power := low; power <= high; power += stride {
		ticks = append(ticks, math.Pow(10, power))
	}
	return ticks
}

// roundStep returns the least of 1, 2 and 5 times a power of ten that is at least x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// label writes a tick, large powers of ten as 1e5.
func label(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "e+0", "e", 1)
}
