package main

import (
	"errors"
	"math"
	"slices"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// traceStudy compares windowed predictions with a simulation of recorded traffic.
func traceStudy(o options) (*study, error) {
	trace, err := readTrace(o.data)
	if err != nil {
		return nil, err
	}
	return windowStudy("Recorded traffic", traceAbout, trace)
}

const traceAbout = `An hour of recorded conversations (` + "`azure2023_conv`" + `), its time scaled such that the mean rate is the load's share of what a
replica serves. ` + windowAbout

// driftStudy does the same with generated traffic.
func driftStudy(options) (*study, error) {
	trace, err := driftingTrace()
	if err != nil {
		return nil, err
	}
	return windowStudy("Generated drifting traffic", driftAbout, trace)
}

const driftAbout = `An hour of generated traffic whose rate drifts and has bursts, with log-normal lengths. ` + windowAbout

const windowAbout = `The simulation is by ` + "`simulation/replica`" + `. Predictions are by window of 15 s, each with the rate,
mean lengths and variation of its own requests, and with the backlog carried from window to window. The error is of the mean over all
requests; beside it the median error of single windows with ten requests or more, and the error of the
stationary model at the mean rate.`

// tracePoint is a trace at one load.
type tracePoint struct {
	load float64
	// windowed and stationary errors of means over all requests.
	ttft, itl, ttftStationary, itlStationary float64
	// byWindow are errors of the means of single windows.
	ttftByWindow, itlByWindow deviations
	windows                   []judgedWindow
	err                       error
}

// judgedWindow is one window of a trace, observed and predicted.
type judgedWindow struct {
	window    queueing.Window
	observed  replica.Window
	predicted queueing.WindowPerformance
}

func windowStudy(title, about string, trace []replica.Request) (*study, error) {
	r := traceReplica()
	saturation, err := traceSaturation(r, trace)
	if err != nil {
		return nil, err
	}
	points := make([]tracePoint, 0, 7)
	for _, load := range []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
		points = append(points, tracePoint{load: load})
	}
	parallel(len(points), func(i int) {
		points[i].judge(r, scaled(trace, points[i].load*saturation))
	})
	var errs []error
	t := table{title: "Errors by load, %", columns: columns("load", "TTFT", "median window", "stationary",
		"ITL", "median window", "stationary")}
	var ttft, itl deviations
	for i := range points {
		p := &points[i]
		errs = append(errs, p.err)
		ttft, itl = append(ttft, p.ttft), append(itl, p.itl)
		t.add(format(p.load), signedPercent(p.ttft), percent(p.ttftByWindow.quantile(0.5)), signedPercent(p.ttftStationary),
			signedPercent(p.itl), percent(p.itlByWindow.quantile(0.5)), signedPercent(p.itlStationary))
	}
	return &study{
		title: title, about: about, tables: []table{t}, details: []table{windowTable(points)},
		targets: []target{
			{"TTFT, largest over loads", ttft.quantile(1), 0.10},
			{"ITL, largest over loads", itl.quantile(1), 0.05},
		},
	}, errors.Join(errs...)
}

// judge simulates and predicts a trace.
func (p *tracePoint) judge(r queueing.Replica, trace []replica.Request) {
	completions, err := replica.Run(r, slices.Values(trace))
	if err != nil {
		p.err = err
		return
	}
	observed := replica.Windows(completions, windowLength)
	windows, err := windowsOf(r, trace)
	if err != nil {
		p.err = err
		return
	}
	predicted, _ := queueing.EvaluateSeries(nil, windows, queueing.Backlog{})
	p.compare(windows, observed, predicted)
	p.err = p.compareStationary(r, trace, observed)
}

// fewestArrivals is the least number of requests of a window that is judged by itself.
const fewestArrivals = 10

func (p *tracePoint) compare(
	windows []queueing.Window, observed []replica.Window, predicted []queueing.WindowPerformance,
) {
	var ttft, itl struct{ observed, predicted float64 }
	for i := range observed {
		w, q := &observed[i], &predicted[i]
		p.windows = append(p.windows, judgedWindow{windows[i], *w, *q})
		n := float64(w.Arrived - w.Rejected)
		ttft.observed += n * float64(w.TTFT)
		ttft.predicted += n * float64(q.TTFT)
		itl.observed += n * float64(w.ITL)
		itl.predicted += n * float64(q.ITL)
		if n >= fewestArrivals {
			p.ttftByWindow = append(p.ttftByWindow, relative(float64(q.TTFT), float64(w.TTFT)))
			p.itlByWindow = append(p.itlByWindow, relative(float64(q.ITL), float64(w.ITL)))
		}
	}
	p.ttft = relative(ttft.predicted, ttft.observed)
	p.itl = relative(itl.predicted, itl.observed)
}

// windowTable lists every window.
func windowTable(points []tracePoint) table {
	t := table{title: "Every window", columns: columns("load", "start", "λ", "saturation",
		"TTFT", "pred", "error", "ITL", "pred", "error", "waiting, pred", "running, pred")}
	for i := range points {
		for _, w := range points[i].windows {
			q := &w.predicted
			t.add(format(points[i].load), format(w.observed.Start), format(float64(w.window.Rate)),
				format(float64(w.window.Station.SaturationRate())),
				milli(float64(w.observed.TTFT)), milli(float64(q.TTFT)), signedPercent(relative(float64(q.TTFT), float64(w.observed.TTFT))),
				milli(float64(w.observed.ITL)), milli(float64(q.ITL)), signedPercent(relative(float64(q.ITL), float64(w.observed.ITL))),
				format(q.Queued), format(q.Running))
		}
	}
	return t
}

// compareStationary compares with the steady state at the mean rate.
func (p *tracePoint) compareStationary(r queueing.Replica, trace []replica.Request, observed []replica.Window) error {
	shape := shapeOf(trace)
	shape.ArrivalSCV = 1
	s, err := queueing.NewStation(r, shape)
	if err != nil {
		return err
	}
	q := s.Evaluate(queueing.Rate(float64(len(trace)) / math.Max(trace[len(trace)-1].Arrival, 1)))
	var n, ttft, itl float64
	for i := range observed {
		w := &observed[i]
		arrived := float64(w.Arrived - w.Rejected)
		n += arrived
		ttft += arrived * float64(w.TTFT)
		itl += arrived * float64(w.ITL)
	}
	p.ttftStationary = relative(float64(q.TTFT.Mean()), ttft/n)
	p.itlStationary = relative(float64(q.ITL.Mean()), itl/n)
	return nil
}
