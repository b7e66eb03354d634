package forecast

import (
	"math"
	"time"
)

const (
	// mostRecent is how many samples demand of late is drawn from at most, and leastRecent
	// how many there must be to tell noise from change.
	mostRecent, leastRecent = 20, 8
	// leastLine is how many samples a line must go through.
	leastLine = 4
	// doubt is by how many standard deviations noise may explain what looks like change.
	doubt = 2.5
	// rounding is the relative error of a rate that arithmetic may explain.
	rounding = 1e-9
)

// Sample is a rate that was observed at a time, in requests/s.
type Sample struct {
	At   time.Time
	Rate float64
}

// Line is demand of late: the level of the newest samples, or the line through them. Of
// both it goes back as far as samples agree with it up to their noise, so a step ends it,
// and constant demand is averaged over all. This is the choice of window by O. V. Lepskii,
// "On a problem of adaptive estimation in Gaussian white noise" (1990), with the χ² of the
// residuals as criterion.
//
// The noise is that of second differences of the samples; but nothing counts as change that
// chance explains in requests that know nothing of each other. Those are a Poisson process: at a
// rate λ its mean over the time Δ between two samples has the variance λ/Δ. So few samples
// are often smoother than that by chance, and those of rates over longer windows, which overlap,
// always are, which would make trends of noise.
type Line struct {
	// Level is demand at the last sample, in requests/s, and Slope its change per second; 0
	// unless neither noise nor a step explains the samples as well.
	Level, Slope float64
	// Span is for how long the slope is trusted: as long as it was seen, and a slot at most.
	// Centre is how long ago the mean of the samples was. Both are in seconds.
	Span, Centre float64
	// Variance is that of the mean of the samples, and SlopeVariance that of the slope.
	Variance, SlopeVariance float64
}

// at returns demand some seconds ahead.
func (l *Line) at(ahead float64) float64 {
	return max(0, l.Level+l.Slope*min(ahead, l.Span))
}

// deviation is the standard deviation of at.
func (l *Line) deviation(ahead float64) float64 {
	reach := l.Centre + min(ahead, l.Span)
	return math.Sqrt(l.Variance + l.SlopeVariance*reach*reach)
}

// remember adds a sample to those of late. Before a gap of more than a slot nothing counts.
func (s *State) remember(x Sample) {
	recent := s.Recent
	if n := len(recent); n > 0 && x.At.Sub(recent[n-1].At) > s.Slot {
		recent = nil
	}
	recent = recent[max(0, len(recent)+1-mostRecent):]
	next := make([]Sample, len(recent)+1)
	next[copy(next, recent)] = x
	s.Recent = next
}

// late returns demand of late.
func (s *State) late() Line {
	last := s.Recent[len(s.Recent)-1]
	if len(s.Recent) < leastRecent {
		return Line{Level: last.Rate}
	}
	var room [mostRecent]point
	points := room[:len(s.Recent)]
	for i, x := range s.Recent {
		points[i] = point{last.At.Sub(x.At).Seconds(), x.Rate}
	}
	l := agreed(points)
	l.Span = min(l.Span, s.Slot.Seconds())
	return l
}

// point is a rate that was observed some seconds before the last sample.
type point struct{ ago, rate float64 }

// agreed returns the line through as many of the last points as agree with it.
func agreed(points []point) Line {
	n := len(points)
	noise, perSecond := variance(points), float64(n-1)/points[0].ago
	best := Line{Level: points[n-1].rate, Variance: noise}
	level, line := true, true
	for size := 2; level || line; size = min(n, size+size/2) {
		w := fit(points[n-size:])
		chance, rest := max(noise, w.mean*perSecond), w.restOfLine()
		level = level && w.agrees(w.rest, chance, size-1)
		line = line && (size < leastLine || w.agrees(rest, chance, size-2))
		switch {
		case line && size >= leastLine && w.inclined(chance) && rest < w.restOfStep(points[n-size:]):
			best = w.line(noise)
		case level:
			best = w.level(noise)
		}
		if size == n {
			break
		}
	}
	return best
}

// variance returns that of the noise of points: the median of the squares of how far each
// lies from the straight line between its neighbours, by what it would be of noise.
func variance(points []point) float64 {
	var room [mostRecent]float64
	apart := room[:0]
	for i := 1; i+1 < len(points); i++ {
		before, x, after := points[i-1], points[i], points[i+1]
		share := (x.ago - after.ago) / (before.ago - after.ago)
		d := x.rate - share*before.rate - (1-share)*after.rate
		apart = append(apart, d*d/(1+share*share+(1-share)*(1-share)))
	}
	// medianSquare is the median of the square of a standard normal variable.
	const medianSquare = 0.454936
	return median(apart) / medianSquare
}

// window is the least-squares fits through some points.
type window struct {
	size int
	// mean is that of rates, and centre of times; span is how far the points go back.
	mean, centre, span float64
	// times is the sum of squares of times from their mean, both of their products with
	// rates, and rest that of rates. largest is the highest rate.
	times, both, rest, largest float64
}

func fit(points []point) window {
	last := points[len(points)-1].rate
	w := window{size: len(points), span: points[0].ago}
	// From the last rate on, so that constant demand is returned without rounding.
	for _, p := range points {
		w.mean += p.rate - last
		w.centre += p.ago
		w.largest = max(w.largest, p.rate)
	}
	w.mean /= float64(w.size)
	w.centre /= float64(w.size)
	for _, p := range points {
		t, y := w.centre-p.ago, p.rate-last-w.mean
		w.times += t * t
		w.both += t * y
		w.rest += y * y
	}
	w.mean += last
	return w
}

// restOfLine is the sum of squares of residuals of the line.
func (w *window) restOfLine() float64 { return max(0, w.rest-w.both*w.both/w.times) }

// restOfStep is the least sum of squares of residuals of two levels, one after the other. The
// points are those of the window.
func (w *window) restOfStep(points []point) float64 {
	n, before, explained := float64(w.size), 0.0, 0.0
	for i, p := range points[:w.size-1] {
		before += p.rate - w.mean
		explained = max(explained, before*before*n/(float64(i+1)*(n-float64(i+1))))
	}
	return max(0, w.rest-explained)
}

// agrees tells whether noise explains a sum of squares of residuals.
func (w *window) agrees(rest, noise float64, degrees int) bool {
	d := float64(degrees)
	return rest <= noise*(d+doubt*math.Sqrt(2*d))+w.rounding()
}

// inclined tells whether noise does not explain the slope.
func (w *window) inclined(noise float64) bool {
	return w.both*w.both > w.times*(doubt*doubt*noise+w.rounding())
}

// rounding is the square of what arithmetic may add to a rate.
func (w *window) rounding() float64 { return rounding * rounding * w.largest * w.largest }

func (w *window) level(noise float64) Line {
	return Line{Level: w.mean, Span: w.span, Centre: w.centre, Variance: noise / float64(w.size)}
}

func (w *window) line(noise float64) Line {
	slope := w.both / w.times
	return Line{
		Level: max(0, w.mean+slope*w.centre), Slope: slope, Span: w.span, Centre: w.centre,
		Variance: noise / float64(w.size), SlopeVariance: noise / w.times,
	}
}
