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
		arrivals.Process, arrivals.SCV = trace.Gamma, math.Max(scv, trace.MinSCV)
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
	if horizon > trace.MaxTime {
		x.violations.add(path, "it would take more than a year of requests")
	}
	x.process(g, at)
	x.effort(g, horizon, at)
	x.skipped(generator.Arrivals.Rate, m, path)
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

// What all generated traffic may have together. It keeps hostile input cheap.
const (
	maxStateChanges = 10_000_000
	maxPrefixGroups = 1_000_000
	maxSkipped      = 10_000_000
)

// effort bounds what a few words can ask for.
func (x *trafficTranslation) effort(m *poolwrightv1.GeneratedTraffic, horizon float64, path string) {
	var sojourns float64
	for _, s := range m.GetStates() {
		sojourns += secondsOf(s.GetSojourn())
	}
	if sojourns > 0 {
		x.stateChanges += horizon * float64(len(m.GetStates())) / sojourns
		if x.stateChanges > maxStateChanges {
			x.violations.add(path+".states", "about %.3g changes of states so far are more than the %d allowed", x.stateChanges, maxStateChanges)
		}
	}
	if groups := int(m.GetPrefixes().GetGroups()); groups > 0 {
		if x.prefixGroups += groups; x.prefixGroups > maxPrefixGroups {
			x.violations.add(path+".prefixes.groups", "%d groups so far are more than the %d allowed", x.prefixGroups, maxPrefixGroups)
		}
	}
}

// skipped bounds the requests that are drawn to be left out, which no simulation counts.
func (x *trafficTranslation) skipped(rate trace.Curve, m *poolwrightv1.TrafficPart, path string) {
	from := secondsOf(m.GetFrom())
	if from == 0 {
		return
	}
	if x.skippedRequests += rate.Integral(0, from); !(x.skippedRequests <= maxSkipped) {
		x.violations.add(path+".from", "about %.3g requests so far are left out before it, more than the %d allowed: let the rate start later",
			x.skippedRequests, maxSkipped)
	}
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
