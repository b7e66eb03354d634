package message

import (
	"math"

	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/trace"
)

// processes are those of arrivals by their names in messages.
var processes = map[poolwrightv1.GeneratedTraffic_Process]trace.Process{
	poolwrightv1.GeneratedTraffic_POISSON: trace.Poisson,
	poolwrightv1.GeneratedTraffic_GAMMA:   trace.Gamma,
	poolwrightv1.GeneratedTraffic_WEIBULL: trace.Weibull,
}

// distributions are those of lengths by their names in messages.
var distributions = map[poolwrightv1.TokenLengths_Distribution]trace.Distribution{
	poolwrightv1.TokenLengths_LOGNORMAL: trace.LogNormalLengths,
	poolwrightv1.TokenLengths_GAMMA:     trace.GammaLengths,
}

// ofLoad is the requests that the load of a workload tells of, with lengths that vary as
// lognormal variables.
func (x *trafficTranslation) ofLoad(w *planner.Workload, path string) []trace.Source {
	if w.ArrivalRate == 0 {
		return nil
	}
	arrivals := trace.Arrivals{Rate: trace.Constant(float64(w.ArrivalRate))}
	if scv := w.Shape.ArrivalSCV; scv != 1 {
		// A gamma variable of the least SCV is as good as a constant.
		arrivals.Process, arrivals.SCV = trace.Gamma, math.Max(scv, 1e-4)
	}
	return x.generators(trace.Generator{Arrivals: arrivals}, nil, w, path)
}

// generated is a part that is drawn; nil after a violation.
func (x *trafficTranslation) generated(m *poolwrightv1.TrafficPart, w *planner.Workload, path string) trace.Source {
	before := len(x.violations)
	g, at := m.GetGenerated(), path+".generated"
	horizon := secondsOf(m.GetFrom()) + math.Max(0, x.horizon-secondsOf(m.GetAt()))/orOne(m.Stretch)
	generator := trace.Generator{Arrivals: trace.Arrivals{
		Rate:    x.rate(g.GetRate(), math.Min(horizon, trace.MaxTime), at+".rate"),
		Process: processes[g.GetProcess()],
		SCV:     g.GetScv(),
	}}
	if horizon > trace.MaxTime && g.GetRate() != nil {
		x.violations.add(path, "it would take more than a year of requests")
	}
	x.process(g, at)
	for _, s := range g.GetStates() {
		generator.Arrivals.States = append(generator.Arrivals.States, trace.State{Factor: s.GetFactor(), Sojourn: secondsOf(s.GetSojourn())})
	}
	if g.GetSample() != nil {
		generator.Sample = x.sample(g.GetSample(), at+".sample")
	}
	if p := g.GetPrefixes(); p != nil {
		generator.Prefixes = trace.Prefixes{
			Groups: int(p.GetGroups()), Tokens: int(p.GetTokens()), Share: orOne(p.Share), Popularity: p.GetPopularity(),
		}
	}
	if len(x.violations) > before {
		return nil
	}
	sources := x.generators(generator, g, w, at)
	if len(x.violations) > before {
		return nil
	}
	return x.placed(m, trace.Sum(sources...), path)
}

// process checks what the schema can't say of arrivals and lengths.
func (x *trafficTranslation) process(m *poolwrightv1.GeneratedTraffic, path string) {
	switch {
	case m.GetProcess() == poolwrightv1.GeneratedTraffic_POISSON && m.Scv != nil && m.GetScv() != 1:
		x.violations.add(path+".scv", "that of POISSON is 1")
	case m.GetProcess() != poolwrightv1.GeneratedTraffic_POISSON && m.Scv == nil:
		x.violations.add(path+".scv", "%s needs it", m.GetProcess())
	}
	x.checkLengths(m.GetInput(), 0, path+".input")
	x.checkLengths(m.GetOutput(), 1, path+".output")
	if m.GetSample() == nil {
		return
	}
	if m.GetInput() != nil {
		x.violations.add(path+".input", "give either input and output, or a sample")
	}
	if m.GetOutput() != nil {
		x.violations.add(path+".output", "give either input and output, or a sample")
	}
}

func (x *trafficTranslation) checkLengths(m *poolwrightv1.TokenLengths, least float64, path string) {
	if m != nil && m.GetMean() < least {
		x.violations.add(path+".mean", "it must be at least %g", least)
	}
	if m != nil && m.Max != nil && m.GetMax() < m.GetMin() {
		x.violations.add(path+".max", "%d is less than min, which is %d", m.GetMax(), m.GetMin())
	}
}

// generators has one generator for each shape of the workload, as far as its lengths are
// those of its load.
func (x *trafficTranslation) generators(g trace.Generator, m *poolwrightv1.GeneratedTraffic, w *planner.Workload, path string) []trace.Source {
	shapes := w.Shapes
	if len(shapes) == 0 || m.GetSample() != nil || m.GetInput() != nil && m.GetOutput() != nil {
		shapes = []planner.ShapeShare{{Share: 1, Shape: w.Shape}}
	}
	var sources []trace.Source
	rate := g.Arrivals.Rate
	for _, s := range shapes {
		g.Arrivals.Rate = rate.Times(s.Share)
		g.Input = lengthsOr(m.GetInput(), s.Shape.InputTokens, s.Shape.InputSCV)
		g.Output = lengthsOr(m.GetOutput(), s.Shape.OutputTokens, s.Shape.OutputSCV)
		if ratio := s.Shape.PrefixHitRatio; m.GetPrefixes() == nil && ratio > 0 {
			g.Prefixes = trace.Prefixes{Groups: 1, Ratio: ratio, Share: 1}
		}
		source, err := trace.Generate(g)
		if err != nil {
			x.add(path, err)
			return nil
		}
		sources = append(sources, source)
	}
	return sources
}

// lengthsOr are what the message says, or else those of a load.
func lengthsOr(m *poolwrightv1.TokenLengths, mean queueing.Tokens, scv float64) trace.Lengths {
	if m == nil {
		return trace.Lengths{Distribution: trace.LogNormalLengths, Mean: float64(mean), SCV: scv}
	}
	return trace.Lengths{
		Distribution: distributions[m.GetDistribution()],
		Mean:         m.GetMean(),
		SCV:          orOne(m.Scv),
		Min:          int(m.GetMin()),
		Max:          int(m.GetMax()),
	}
}

// sample reads the lengths of a trace; empty after a violation.
func (x *trafficTranslation) sample(m *poolwrightv1.LengthSample, path string) trace.Sample {
	key := sampleKey{
		traceKey{m.GetTrace().GetFile(), int(m.GetTrace().GetBlockTokens())},
		secondsOf(m.GetFrom()), secondsOf(m.GetTo()),
	}
	if s, ok := x.samples[key]; ok {
		return s
	}
	s := x.trace(m.GetTrace(), path+".trace")
	if s == nil {
		return trace.Sample{}
	}
	s, err := trace.Place(s, trace.Placement{From: key.from, To: key.to})
	if err != nil {
		x.add(path, err)
		return trace.Sample{}
	}
	sample, err := trace.NewSample(s)
	if err != nil {
		x.add(path, err)
	}
	x.samples[key] = sample
	return sample
}

// rate is a curve over a time in seconds; empty after a violation.
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
	case len(factors) == 1:
		return factors[0]
	}
	return trace.Product(horizon, factors...)
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
