package message

import (
	"math"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation/trace"
)

// rate is a curve that ends after a time in seconds; empty after a violation.
func (x *trafficTranslation) rate(m *poolwrightv1.RateCurve, horizon float64, path string) trace.Curve {
	base, ok := x.base(m, path)
	factors := []trace.Curve{base.Times(orOne(m.Factor))}
	factor := func(path string, c trace.Curve, err error) {
		if err != nil {
			x.add(path, err)
			ok = false
		}
		factors = append(factors, c)
	}
	starts := secondsOf(m.GetStarts())
	if n := len(m.GetHours()); n == 24 {
		c, err := trace.Hours([24]float64(m.GetHours()), starts, horizon)
		factor(path+".hours", c, err)
	} else if n > 0 {
		x.violations.add(path+".hours", "expected 24 factors, got %d", n)
	}
	if n := len(m.GetDays()); n == 7 {
		c, err := trace.Days([7]float64(m.GetDays()), starts, horizon)
		factor(path+".days", c, err)
	} else if n > 0 {
		x.violations.add(path+".days", "expected 7 factors, got %d", n)
	}
	for i, f := range m.GetCrowds() {
		c, err := trace.Crowd{
			At: secondsOf(f.GetAt()), Rise: secondsOf(f.GetRise()), Hold: secondsOf(f.GetHold()), Decay: secondsOf(f.GetDecay()), Factor: f.GetFactor(),
		}.Curve()
		factor(element(path+".crowds", i), c, err)
	}
	switch {
	case !ok:
		return trace.Curve{}
	case len(factors) > 1:
		factors[0] = trace.Product(horizon, factors...)
	}
	if n := factors[0].Integral(0, horizon); math.IsNaN(n) || math.IsInf(n, 1) {
		x.violations.add(path, "its factors make rates that are no numbers any more")
	}
	return factors[0].Until(horizon)
}

// base is that of a curve, false after a violation.
func (x *trafficTranslation) base(m *poolwrightv1.RateCurve, path string) (c trace.Curve, ok bool) {
	var err error
	switch base := m.GetBase().(type) {
	case *poolwrightv1.RateCurve_Constant:
		return trace.Constant(base.Constant), true
	case *poolwrightv1.RateCurve_Steps:
		path += ".steps"
		c, err = trace.Steps(ratePoints(base.Steps))
	case *poolwrightv1.RateCurve_Linear:
		path += ".linear"
		c, err = trace.Linear(ratePoints(base.Linear))
	case *poolwrightv1.RateCurve_File:
		c, err = trace.Series(x.file(traceKey{file: base.File.GetFile()}), base.File.GetColumn())
		if err == nil && secondsOf(base.File.GetFrom()) >= c.End() {
			x.violations.add(path+".file.from", "the rates end at %g s", c.End())
			return trace.Curve{}, false
		}
		c = c.From(secondsOf(base.File.GetFrom()))
		path += ".file.file"
	}
	if err != nil {
		x.add(path, err)
	}
	return c, err == nil
}

func ratePoints(m *poolwrightv1.RatePoints) []trace.Point {
	points := make([]trace.Point, 0, len(m.GetPoints()))
	for _, p := range m.GetPoints() {
		points = append(points, trace.Point{At: secondsOf(p.GetAt()), Rate: p.GetRate()})
	}
	return points
}
