package queueing

import "math"

// SeriesCapacity is how much of a series of windows a replica sustains.
type SeriesCapacity struct {
	// Feasible is false when some window does not hold every limit, however small its
	// rate. Factor is 0 then, and either Binding is a limit that does not hold in the
	// window Window, or Unservable says why not even one request fits there.
	Feasible   bool
	Unservable string
	// Factor is the highest factor on all rates of the series at which every window
	// holds every limit. PeakRate is the highest rate of a window times Factor.
	Factor   float64
	PeakRate Rate
	// Bound tells whether a limit of the SLO binds; false means that it is the mean load
	// of the series, at 0.999 of what its windows serve in their time.
	Bound bool
	// Binding is the limit that binds, or that does not hold; Window is the index of
	// the window in which it does.
	Binding Limit
	Window  int
	// Best is the value of Binding in Window at vanishing rates. Only when not Feasible
	// and Bound.
	Best float64
}

// CapacityOfSeries returns the highest factor on the rates of a series of windows, given
// the backlog at its start, such that every limit of the SLO holds in every window in
// which requests arrive, whatever backlog the windows before leave. So a peak may
// exceed the saturation rate if it is short enough. The number of requests inside, and
// with it every latency, rises with the factor; the factor is found by root finding
// in about ten evaluations of the series. It allocates nothing. The error joins one
// error for each malformed limit.
//
// Limits are those of [Station.Capacity], on the means and quantiles of
// [WindowPerformance]. Of equally strict windows the first one binds. A series
// without arrivals, or without windows, has no capacity to speak of: its Factor is
// +Inf.
func CapacityOfSeries(windows []Window, b Backlog, slo SLO) (SeriesCapacity, error) {
	if err := slo.validate(); err != nil {
		return SeriesCapacity{}, err
	}
	var arrivals, served float64
	var peak Rate
	for i := range windows {
		w := &windows[i]
		if !(w.Rate > 0 && w.Length > 0) {
			continue
		}
		if w.Station.unservable != "" {
			return SeriesCapacity{Unservable: w.Station.unservable, Window: i}, nil
		}
		peak = max(peak, w.Rate)
		length := min(float64(w.Length), longestWindow)
		arrivals += float64(w.Rate) * length
		served += mostLoad * float64(w.Station.SaturationRate()) * length
	}
	if arrivals == 0 {
		return SeriesCapacity{Feasible: true, Factor: math.Inf(1)}, nil
	}
	s := series{windows: windows, backlog: b, limits: slo.Limits}
	c := SeriesCapacity{Feasible: true, Factor: served / arrivals}
	s.bind(&c)
	c.PeakRate = peak * Rate(c.Factor)
	return c, nil
}

// series is what capacity is looked for.
type series struct {
	windows []Window
	backlog Backlog
	limits  []Limit
}

// bind lowers the factor of c to where every limit holds.
func (s *series) bind(c *SeriesCapacity) {
	atMost := s.worst(c.Factor)
	if atMost.excess <= roundingError {
		return
	}
	c.Bound = true
	least := leastRatio * c.Factor
	atLeast := s.worst(least)
	if atLeast.excess > roundingError {
		*c = SeriesCapacity{Bound: true, Binding: atLeast.limit, Window: atLeast.window, Best: atLeast.value}
		return
	}
	excess := func(factor float64) float64 { return s.worst(factor).excess }
	c.Factor = findRoot(excess, least, c.Factor, min(atLeast.excess, 0), atMost.excess)
	at := s.worst(c.Factor)
	c.Binding, c.Window = at.limit, at.window
}

// breach is how far a limit is from holding in a window.
type breach struct {
	// excess is positive if the limit fails, value what its metric is.
	excess, value float64
	limit         Limit
	window        int
}

// worst returns the limit and window that are furthest from holding at a factor.
func (s *series) worst(factor float64) breach {
	worst := breach{excess: math.Inf(-1)}
	b := s.backlog
	for i := range s.windows {
		w := &s.windows[i]
		var p WindowPerformance
		p, b = w.Station.EvaluateWindow(w.Rate*Rate(factor), w.Length, b)
		if !(w.Rate > 0 && w.Length > 0) {
			continue
		}
		for k := range s.limits {
			l := &s.limits[k]
			if excess := p.excess(l); excess > worst.excess {
				worst = breach{excess: excess, value: p.value(l), limit: *l, window: i}
			}
		}
	}
	return worst
}

// excess is positive where a limit fails.
func (w *WindowPerformance) excess(l *Limit) float64 {
	if l.Quantile == 0 {
		return l.meanExcess(w.meanOf(l.Metric))
	}
	return l.quantileExcess((1 - w.BlockedShare) * w.CDF(l.Metric, Seconds(l.seconds())))
}

// value returns what a limit is about, in its own unit.
func (w *WindowPerformance) value(l *Limit) float64 {
	if l.Quantile == 0 {
		return l.inUnit(w.meanOf(l.Metric))
	}
	return l.inUnit(float64(w.Quantile(l.Metric, l.Quantile)))
}

func (w *WindowPerformance) meanOf(metric Metric) float64 {
	m := means{ttft: float64(w.TTFT), itl: float64(w.ITL), e2e: float64(w.E2E)}
	return m.of(metric)
}
