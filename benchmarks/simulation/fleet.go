package main

import (
	"context"
	"iter"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/lp"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/replica"
	"github.com/poolwright/poolwright/simulation/trace"
)

// saturation is what one replica serves at most, in requests/s, and load the share of it
// that arrives.
const (
	saturation = 44.2
	load       = 0.7
)

var shape = queueing.Shape{InputTokens: 512, OutputTokens: 256, ArrivalSCV: 1}

// machineOf is the replica.
func machineOf() queueing.Replica {
	return queueing.Replica{
		Profile:  queueing.Profile{Alpha: 0.00683, Beta: 0.000057, Delta: 0.0000024},
		MaxBatch: 256, MaxBatchedTokens: 2048, KVCacheTokens: 420_000,
	}
}

// poisson arrivals, so many at a rate.
func poisson(rate, requests float64) (iter.Seq[replica.Request], error) {
	return replica.Load{Shape: shape, Phases: replica.Constant(queueing.Rate(rate)), Requests: int(requests), Seed: 1}.Arrivals()
}

// alone serves requests with package replica only.
func alone(_ int, requests float64) (int, error) {
	arrivals, err := poisson(load*saturation, requests)
	if err != nil {
		return 0, err
	}
	completions, err := replica.Run(machineOf(), arrivals)
	if err != nil {
		return 0, err
	}
	n := 0
	for range completions {
		n++
	}
	return n, nil
}

// constant serves requests at a constant rate with a constant number of replicas.
func constant(replicas int, requests float64) (int, error) {
	rate := load * saturation * float64(replicas)
	arrivals, err := poisson(rate, requests)
	if err != nil {
		return 0, err
	}
	asTrace := func(yield func(trace.Request) bool) {
		for r := range arrivals {
			if !yield(trace.Request{At: r.Arrival, Input: r.Input, Output: r.Output}) {
				return
			}
		}
	}
	return serve(fleetOf(replicas, replicas), asTrace, 2*requests/rate, nil)
}

// day serves a day with its ups and downs under Poolwright's loop.
func day(_ int, requests float64) (int, error) {
	const seconds = 24 * 3600
	// The curve has a mean of 0.6.
	curve := simulation.Curve{Trough: 0.2, Peak: 14 * time.Hour}
	peak := requests / 0.6 / seconds
	var points []trace.Point
	for minute := range 24 * 60 {
		at := time.Duration(minute) * time.Minute
		points = append(points, trace.Point{At: at.Seconds(), Rate: peak * curve.Factor(start.Add(at))})
	}
	rate, err := trace.Linear(points)
	if err != nil {
		return 0, err
	}
	source, err := trace.Generate(trace.Generator{
		Arrivals: trace.Arrivals{Rate: rate, SCV: 1}, Input: trace.Lengths{Mean: 512}, Output: trace.Lengths{Mean: 256},
	})
	if err != nil {
		return 0, err
	}
	arrivals, failed := trace.Requests([]trace.Workload{{Name: "chat", Source: source}}, 1)
	n, err := serve(fleetOf(64, 3), arrivals, seconds, func(c *simulation.Cluster) simulation.Autoscaler {
		return &loop{controller.New(controller.Config{Planner: planner.New(lp.Simplex()), Catalog: c, Observer: c, Actuator: c})}
	})
	if err != nil {
		return 0, err
	}
	return n, failed()
}

// loop is the production loop.
type loop struct{ *controller.Controller }

func (*loop) Interval() time.Duration { return planner.DefaultCycle }

func (l *loop) Scale(ctx context.Context, now time.Time) error {
	_, err := l.Tick(ctx, now, nil)
	return err
}

var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func fleetOf(devices, replicas int) planner.Fleet {
	machine := machineOf()
	return planner.Fleet{
		Pools: []planner.Pool{{Name: "h100", PricePerHour: 4, Capacity: optimizer.Bound{Limited: true, Value: devices}}},
		Workloads: []planner.Workload{{
			Name: "chat", Priority: 1, Shape: shape,
			SLO: queueing.SLO{Limits: []queueing.Limit{
				{Metric: queueing.TTFT, Quantile: 0.95, Value: 1}, {Metric: queueing.ITL, Value: 0.05},
			}},
			Variants: []planner.Variant{{
				Name: "chat-h100", Pools: []int{0}, DevicesPerReplica: 1, NodesPerReplica: 1, Replica: &machine,
				CurrentReplicas: replicas, Startup: time.Minute,
			}},
		}},
	}
}

// serve simulates for so many seconds, and returns the number of requests that completed.
func serve(fleet planner.Fleet, arrivals iter.Seq[trace.Request], seconds float64, scaler func(*simulation.Cluster) simulation.Autoscaler) (int, error) {
	c, err := simulation.New(simulation.Config{Fleet: fleet, Requests: arrivals, Start: start, Gateway: simulation.DefaultGateway()})
	if err != nil {
		return 0, err
	}
	var a simulation.Autoscaler
	if scaler != nil {
		a = scaler(c)
	}
	n := 0
	err = c.Run(context.Background(), a, start.Add(time.Duration(seconds*float64(time.Second))), func(w simulation.Window) {
		n += w.Workloads[0].Completed
	})
	return n, err
}
