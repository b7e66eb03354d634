package plot

import "math"

// Residuals are observations beside predictions of the same quantity.
type Residuals struct {
	// Title and Subtitle stand above the plot.
	Title, Subtitle string
	// Unit of observations and predictions.
	Unit string
	// Series are the names of kinds of points, four at most.
	Series []string
	Points []Point
}

// Point is an observation and its prediction. Points that are not finite and above 0
// are left out: they have no place on a logarithmic axis.
type Point struct {
	// Series is an index of the plot's series.
	Series int
	// Observed and Predicted are in the plot's unit.
	Observed, Predicted float64
	// Faint points did not count in the fit.
	Faint bool
	// Label says what the point is.
	Label string
}

// drawable tells whether a point has a place in the plot.
func (p *Point) drawable() bool {
	for _, v := range [...]float64{p.Observed, p.Predicted} {
		if !(v > 0) || math.IsInf(v, 1) {
			return false
		}
	}
	return p.Series >= 0 && p.Series < len(marks)
}

// relative is the relative error of the prediction.
func (p *Point) relative() float64 { return p.Predicted/p.Observed - 1 }

// drawables returns the points that have a place in the plot.
func (r *Residuals) drawables() []Point {
	var out []Point
	for _, p := range r.Points {
		if p.drawable() && p.Series < len(r.Series) {
			out = append(out, p)
		}
	}
	return out
}
