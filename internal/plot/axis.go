package plot

import (
	"fmt"
	"math"
	"slices"
)

// axis maps values to places.
type axis struct {
	// low and high are values, or their logarithms.
	low, high   float64
	logarithmic bool
	// from and to are the places of low and high.
	from, to float64
}

// logAxis spans positive values with a little room beside them.
func logAxis(values []float64, from, to float64) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), logarithmic: true, from: from, to: to}
	for _, v := range values {
		a.low, a.high = min(a.low, math.Log10(v)), max(a.high, math.Log10(v))
	}
	room := max(0.05, 0.05*(a.high-a.low))
	a.low, a.high = a.low-room, a.high+room
	return a
}

// errorAxis spans the relative errors of points around 0. A few errors far beyond the
// others and points that did not count do not make the rest small: they lie at the
// edge.
func errorAxis(points []Point, from, to float64) axis {
	var sizes []float64
	for i := range points {
		if !points[i].Faint {
			sizes = append(sizes, math.Abs(points[i].relative()))
		}
	}
	if len(sizes) == 0 {
		for i := range points {
			sizes = append(sizes, math.Abs(points[i].relative()))
		}
	}
	slices.Sort(sizes)
	most := min(sizes[len(sizes)-1], 4*sizes[len(sizes)*9/10])
	most = max(1.1*most, 0.01)
	return axis{low: -most, high: most, from: from, to: to}
}

// at is the place of a value, at the edge where it lies beyond.
func (a axis) at(v float64) float64 {
	if a.logarithmic {
		v = math.Log10(v)
	}
	v = max(a.low, min(a.high, v))
	return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from)
}

// beyond counts the points whose errors lie beyond the axis.
func (a axis) beyond(points []Point) int {
	n := 0
	for i := range points {
		if e := points[i].relative(); e < a.low || e > a.high {
			n++
		}
	}
	return n
}

// ticks returns round values on the axis, most of them at most.
func (a axis) ticks(most int) []float64 {
	if a.logarithmic {
		return a.logTicks(most)
	}
	step := niceStep((a.high - a.low) / float64(most))
	var out []float64
	for k := math.Ceil(a.low / step); k*step <= a.high; k++ {
		out = append(out, k*step)
	}
	return out
}

// logTicks returns powers of ten with 2 and 5 between them, or without where those
// are too many. Between values that lie close together they are round steps.
func (a axis) logTicks(most int) []float64 {
	for _, digits := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var out []float64
		for power := math.Floor(a.low); power <= a.high; power++ {
			for _, d := range digits {
				if v := d * math.Pow(10, power); math.Log10(v) >= a.low && math.Log10(v) <= a.high {
					out = append(out, v)
				}
			}
		}
		if len(out) < 2 {
			break
		}
		if len(out) <= most {
			return out
		}
	}
	low, high := math.Pow(10, a.low), math.Pow(10, a.high)
	step := niceStep((high - low) / float64(most))
	if a.high-a.low > 1 {
		return powers(a.low, a.high, most)
	}
	var out []float64
	for k := math.Ceil(low / step); k*step <= high; k++ {
		out = append(out, k*step)
	}
	return out
}

// powers returns every nth power of ten.
func powers(low, high float64, most int) []float64 {
	n := math.Ceil((high - low) / float64(most))
	var out []float64
	for p := math.Ceil(low/n) * n; p <= high; p += n {
		out = append(out, math.Pow(10, p))
	}
	return out
}

// niceStep is the smallest of 1, 2 and 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, d := range []float64{1, 2, 5} {
		if d*power >= v {
			return d * power
		}
	}
	return 10 * power
}

// tickLabel writes a value without needless digits.
func tickLabel(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%v", math.Round(v*1e6)/1e6)
}

// percentLabel writes a relative error with its sign.
func percentLabel(v float64) string {
	v *= 100
	if math.Abs(v) < 1e-9 {
		return "0 %"
	}
	return fmt.Sprintf("%+.4g %%", v)
}
