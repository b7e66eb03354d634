package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Curve is a rate over time, in requests/s, or a factor of one. It is linear from each of
// its breaks to the next, and may jump there. Before time 0 there is nothing, and behind
// its end it is 0. The zero value is 0 throughout.
type Curve struct{ pieces []piece }

// piece is a part of a curve, from start until before end; end may be +Inf where the slope
// is 0.
type piece struct{ start, end, rate, slope float64 }

// at extrapolates.
func (p *piece) at(t float64) float64 { return p.rate + p.slope*(t-p.start) }

// area is the integral over a part of the piece.
func (p *piece) area(a, b float64) float64 {
	if p.rate == 0 && p.slope == 0 {
		return 0
	}
	return (b - a) * (p.rate + p.slope*((a-p.start)+(b-p.start))/2)
}

// Point is the value of a curve at a time, in seconds after the start.
type Point struct{ At, Rate float64 }

// Constant is the same rate for all time.
func Constant(rate float64) Curve {
	return Curve{[]piece{{0, math.Inf(1), rate, 0}}}
}

// Steps has the rate of each point from its time until the next; the last one's stays. The
// points are in ascending order, the first one at 0.
func Steps(points []Point) (Curve, error) {
	if err := checkPoints(points); err != nil {
		return Curve{}, err
	}
	c := Curve{make([]piece, len(points))}
	for i, p := range points {
		c.pieces[i] = piece{p.At, math.Inf(1), p.Rate, 0}
		if i > 0 {
			c.pieces[i-1].end = p.At
		}
	}
	return c, nil
}

// Linear joins the points by straight lines; the rate of the last one stays. The points are
// in ascending order, the first one at 0.
func Linear(points []Point) (Curve, error) {
	c, err := Steps(points)
	if err != nil {
		return Curve{}, err
	}
	for i := range len(c.pieces) - 1 {
		p := &c.pieces[i]
		p.slope = (points[i+1].Rate - p.rate) / (p.end - p.start)
	}
	return c, nil
}

func checkPoints(points []Point) error {
	var errs []error
	if len(points) == 0 || points[0].At != 0 {
		errs = append(errs, errors.New("trace: the first point of a curve must be at 0"))
	}
	for i, p := range points {
		if i > 0 && !(p.At > points[i-1].At) {
			errs = append(errs, fmt.Errorf("trace: points[%d]: %g s is not later than the point before", i, p.At))
		}
		if !(p.Rate >= 0) || math.IsInf(p.Rate, 1) {
			errs = append(errs, fmt.Errorf("trace: points[%d]: rate %g is not finite and ≥ 0", i, p.Rate))
		}
	}
	return errors.Join(errs...)
}

// Until is the curve until before a time.
func (c Curve) Until(end float64) Curve {
	i := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].start >= end })
	pieces := slices.Clone(c.pieces[:i])
	if i > 0 {
		pieces[i-1].end = math.Min(pieces[i-1].end, end)
	}
	return Curve{pieces}
}

// From is the curve from a time on, which becomes 0.
func (c Curve) From(start float64) Curve {
	i := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].end > start })
	pieces := slices.Clone(c.pieces[i:])
	for k := range pieces {
		p := &pieces[k]
		from := math.Max(p.start, start)
		*p = piece{from - start, p.end - start, p.at(from), p.slope}
	}
	return Curve{pieces}
}

// Times is the curve times a factor.
func (c Curve) Times(factor float64) Curve {
	pieces := slices.Clone(c.pieces)
	for i := range pieces {
		pieces[i].rate *= factor
		pieces[i].slope *= factor
	}
	return Curve{pieces}
}

// End is the time behind which the curve is 0, or +Inf.
func (c Curve) End() float64 {
	if len(c.pieces) == 0 {
		return 0
	}
	return c.pieces[len(c.pieces)-1].end
}

// Integral is the number of requests that the rate gives from a until b.
func (c Curve) Integral(a, b float64) float64 {
	var sum float64
	for i := range c.pieces {
		p := &c.pieces[i]
		if from, to := math.Max(a, p.start), math.Min(b, p.end); from < to {
			sum += p.area(from, to)
		}
	}
	return sum
}

// A product that bends is made of pieces of so many seconds, or of that share of its time
// where it is longer, so that its size is bounded.
const (
	productStep  = 60
	productShare = 1.0 / 2000
)

// Product multiplies curves, until before a finite time or the first of their ends. Where
// two or more change at once, it is exact at the ends of pieces of a minute, or a 2,000th of
// the time where that is longer, and linear between.
func Product(until float64, curves ...Curve) Curve {
	for _, c := range curves {
		until = math.Min(until, c.End())
	}
	step := math.Max(productStep, until*productShare)
	breaks := productBreaks(until, curves)
	product := Curve{make([]piece, 0, len(breaks))}
	rest := make([][]piece, len(curves))
	for i, c := range curves {
		rest[i] = c.pieces
	}
	for i := range len(breaks) - 1 {
		product.multiply(breaks[i], breaks[i+1], step, rest)
	}
	return product
}

// multiply appends the product from a until b, in which each curve is one piece: the first
// of the rest that reaches beyond a.
func (c *Curve) multiply(a, b, step float64, rest [][]piece) {
	sloped := 0
	for i := range rest {
		for rest[i][0].end <= a {
			rest[i] = rest[i][1:]
		}
		if rest[i][0].slope != 0 {
			sloped++
		}
	}
	at := func(t float64) float64 {
		product := 1.0
		for i := range rest {
			product *= rest[i][0].at(t)
		}
		return product
	}
	n := 1.0
	if sloped > 1 {
		n = math.Ceil((b - a) / step)
	}
	for k := range int(n) {
		from, to := a+(b-a)*float64(k)/n, a+(b-a)*float64(k+1)/n
		rate := at(from)
		c.pieces = append(c.pieces, piece{from, to, rate, (at(to) - rate) / (to - from)})
	}
}

// productBreaks are the times between which every curve is linear.
func productBreaks(until float64, curves []Curve) []float64 {
	breaks := []float64{0, until}
	for _, c := range curves {
		for _, p := range c.pieces {
			if p.start < until {
				breaks = append(breaks, p.start)
			}
		}
	}
	slices.Sort(breaks)
	return slices.Compact(breaks)
}

const (
	hour = 3600.0
	day  = 24 * hour
	week = 7 * day
)

// Hours is a factor over the day until before a finite time: the factors hold at the full hours,
// from midnight on, and change linearly between. Time 0 is start seconds after midnight.
func Hours(factors [24]float64, start, until float64) (Curve, error) {
	start = math.Mod(start, day)
	points := make([]Point, 0, int(until/hour)+26)
	for i := 0; ; i++ {
		at := float64(i) * hour
		points = append(points, Point{at, factors[i%24]})
		if at >= start+until {
			break
		}
	}
	c, err := Linear(points)
	return c.From(start).Until(until), err
}

// Days is a factor over the week until before a finite time: each factor holds for a day, from
// Monday on. Time 0 is start seconds after the midnight before Monday.
func Days(factors [7]float64, start, until float64) (Curve, error) {
	start = math.Mod(start, week)
	points := make([]Point, 0, int(until/day)+9)
	for i := 0; float64(i)*day < start+until; i++ {
		points = append(points, Point{float64(i) * day, factors[i%7]})
	}
	c, err := Steps(points)
	return c.From(start).Until(until), err
}

// Crowd is a flash crowd: a factor that leaves 1 at At, is Factor after Rise, stays so for
// Hold, and is 1 again after Decay. All times are in seconds.
type Crowd struct{ At, Rise, Hold, Decay, Factor float64 }

// Curve is the factor over time.
func (c Crowd) Curve() (Curve, error) {
	full := c.At + c.Rise
	var pieces []piece
	add := func(start, end, from, to float64) {
		if start < end {
			pieces = append(pieces, piece{start, end, from, (to - from) / (end - start)})
		}
	}
	if !(c.At >= 0 && c.Rise >= 0 && c.Hold >= 0 && c.Decay >= 0 && c.Factor >= 0) || math.IsInf(full+c.Hold+c.Decay+c.Factor, 1) {
		return Curve{}, fmt.Errorf("trace: flash crowd %+v: all must be finite and ≥ 0", c)
	}
	add(0, c.At, 1, 1)
	add(c.At, full, 1, c.Factor)
	add(full, full+c.Hold, c.Factor, c.Factor)
	add(full+c.Hold, full+c.Hold+c.Decay, c.Factor, 1)
	return Curve{append(pieces, piece{full + c.Hold + c.Decay, math.Inf(1), 1, 0})}, nil
}
