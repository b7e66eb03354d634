package main

import (
	"errors"
	"math"
	"slices"

	"github.com/poolwright/poolwright/benchmarks/internal/table"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// The most by which windowed predictions may be off, over all requests of a trace.
const (
	mostTTFTError = 0.10
	mostITLError  = 0.05
)

const windowAbout = `The simulation is by ` + "`simulation/replica`" + `. Predictions are by window of 15 s, each with the rate,
mean lengths, their variation and correlation of its own requests, and with the backlog carried from window to window. An error is of the
mean over all requests; beside it the median error of single windows with ten requests or more, and the error of the
stationary model at the mean rate. Load is relative to the rate at which the replica completes all requests if they are there from the
start. Replicas have α 6.83 ms, at most 256 requests and 2048 tokens per iteration; β 57 µs per request, or κ that
costs as much at the mean context; δ 2.4 µs per prompt token unless stated.`

// tracedLoads are the loads at which windows are judged.
func tracedLoads() []float64 { return []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} }

// tracePoint is traffic to a replica at one load.
type tracePoint struct {
	replica tracedReplica
	load    float64
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

// traceStudy compares windowed predictions with a simulation of recorded traffic.
func traceStudy(o options) (*study, error) {
	trace, err := readTrace(o.Data)
	if err != nil {
		return nil, err
	}
	var points []tracePoint
	for _, r := range tracedReplicas(trace) {
		saturation, err := traceSaturation(r.replica, trace)
		if err != nil {
			return nil, err
		}
		points = append(points, judgeLoads(r, func(load float64) ([]replica.Request, error) {
			return scaled(trace, load*saturation), nil
		})...)
	}
	t := table.Table{Title: "Errors by replica and load, %", Columns: table.Columns("replica", "load", "TTFT", "median window",
		"stationary", "ITL", "median window", "stationary")}
	for i := range points {
		p := &points[i]
		t.Add(p.replica.name, format(p.load),
			signedPercent(p.ttft), percent(p.ttftByWindow.quantile(0.5)), signedPercent(p.ttftStationary),
			signedPercent(p.itl), percent(p.itlByWindow.quantile(0.5)), signedPercent(p.itlStationary))
	}
	judged, err := targeted(points)
	return &study{
		title: "Recorded traffic", about: traceAbout, tables: []table.Table{t}, details: []table.Table{windowTable(points)},
		targets: []target{
			{"TTFT of β and κ, largest over loads", judged.ttft.quantile(1), mostTTFTError},
			{"ITL of β and κ, largest over loads", judged.itl.quantile(1), mostITLError},
		},
	}, err
}

// targeted returns the errors that targets are about. The error joins those of points.
func targeted(points []tracePoint) (judged struct{ ttft, itl deviations }, err error) {
	var errs []error
	for i := range points {
		p := &points[i]
		errs = append(errs, p.err)
		if !p.replica.stress {
			judged.ttft = append(judged.ttft, p.ttft)
			judged.itl = append(judged.itl, p.itl)
		}
	}
	return judged, errors.Join(errs...)
}

const traceAbout = `An hour of recorded conversations (` + "`azure2023_conv`" + `), its time scaled such that the mean rate is the load's share of what a
replica serves. ` + windowAbout + `

Targets are about β and κ. At a load of 0.9 their mean TTFT is that of the few windows in which requests queue for places: there, 1 %
more requests lengthen it by a quarter to a third, and single windows are off by more than the mean is. Two errors offset each other in part:
a window's arrivals are taken as random though their number is known, which makes queues too long; and as evenly spread over the
window though bursts are shorter, which makes them too short.

With a δ of 10 or 40 µs, prefill limits the replica, not the batch. Prompts then wait for the token budget, and where the rate
is close to what it serves, the model takes too many of those inside as decoding: queues build up too late, and ITL, which is that of full
iterations as long as prompts wait, is too short, by as much as the table shows.`

// judgeLoads judges a replica at all loads. traffic generates that of a load.
func judgeLoads(r tracedReplica, traffic func(load float64) ([]replica.Request, error)) []tracePoint {
	loads := tracedLoads()
	points := make([]tracePoint, len(loads))
	parallel(len(points), func(i int) {
		p := &points[i]
		p.replica, p.load = r, loads[i]
		requests, err := traffic(p.load)
		if err != nil {
			p.err = err
			return
		}
		p.judge(requests)
	})
	return points
}

// judge simulates and predicts a trace.
func (p *tracePoint) judge(trace []replica.Request) {
	completions, err := replica.Run(p.replica.replica, slices.Values(trace))
	if err != nil {
		p.err = err
		return
	}
	observed := replica.Windows(completions, windowLength)
	windows, err := windowsOf(p.replica.replica, trace)
	if err != nil {
		p.err = err
		return
	}
	predicted, _ := queueing.EvaluateSeries(nil, windows, queueing.Backlog{})
	p.compare(windows, observed, predicted)
	p.err = p.compareStationary(trace, observed)
}

// fewestArrivals is the least number of requests of a window that is judged by itself.
const fewestArrivals = 10

// compare takes a mean TTFT over arrivals, and a mean ITL over the requests served: a
// window predicts that of the requests that run in it.
func (p *tracePoint) compare(
	windows []queueing.Window, observed []replica.Window, predicted []queueing.WindowPerformance,
) {
	var ttft, itl struct{ observed, predicted float64 }
	var arrived, served float64
	for i := range observed {
		w, q := &observed[i], &predicted[i]
		p.windows = append(p.windows, judgedWindow{windows[i], *w, *q})
		n := float64(w.Arrived - w.Rejected)
		arrived += n
		served += float64(q.Throughput)
		ttft.observed += n * float64(w.TTFT)
		ttft.predicted += n * float64(q.TTFT)
		itl.observed += n * float64(w.ITL)
		itl.predicted += float64(q.Throughput) * float64(q.ITL)
		if n >= fewestArrivals {
			p.ttftByWindow = append(p.ttftByWindow, relative(float64(q.TTFT), float64(w.TTFT)))
			p.itlByWindow = append(p.itlByWindow, relative(float64(q.ITL), float64(w.ITL)))
		}
	}
	p.ttft = relative(ttft.predicted, ttft.observed)
	p.itl = relative(itl.predicted/served, itl.observed/arrived)
}

// windowTable lists every window.
func windowTable(points []tracePoint) table.Table {
	t := table.Table{Title: "Every window", Columns: table.Columns("replica", "load", "start", "λ", "saturation",
		"TTFT", "pred", "error", "ITL", "pred", "error", "waiting, pred", "running, pred")}
	for i := range points {
		for _, w := range points[i].windows {
			q := &w.predicted
			t.Add(points[i].replica.name, format(points[i].load), format(w.observed.Start), format(float64(w.window.Rate)),
				format(float64(w.window.Station.SaturationRate())),
				milli(float64(w.observed.TTFT)), milli(float64(q.TTFT)), signedPercent(relative(float64(q.TTFT), float64(w.observed.TTFT))),
				milli(float64(w.observed.ITL)), milli(float64(q.ITL)), signedPercent(relative(float64(q.ITL), float64(w.observed.ITL))),
				format(q.Queued), format(q.Running))
		}
	}
	return t
}

// compareStationary compares with the steady state at the mean rate.
func (p *tracePoint) compareStationary(trace []replica.Request, observed []replica.Window) error {
	shape := shapeOf(trace)
	shape.ArrivalSCV = 1
	s, err := queueing.NewStation(p.replica.replica, shape)
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
