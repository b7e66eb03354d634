package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/autoscaler"
	"github.com/poolwright/poolwright/simulation/hindsight"
	"github.com/poolwright/poolwright/simulation/study"
	"github.com/poolwright/poolwright/simulation/trace"
)

// sustained is what one replica sustains in the figures of the data, in requests/s, and
// piece the least time for which rates are constant there.
const (
	sustained = 44.2
	piece     = time.Minute
)

// transient is a short trace under Poolwright, and under an autoscaler that reacts to a
// change of the rate at once.
type transient struct {
	scenario
	startup time.Duration
	// bound is the least device-seconds of replicas that serve.
	bound                          float64
	ours, reactive                 study.AutoscalerResult
	oursDeviceSeconds, outside     float64
	reactiveDeviceSeconds, drained float64
}

// follow runs a trace.
func (s *scenario) follow(ctx context.Context, m *poolwrightv1.Simulation, open message.Opener, startup time.Duration) (*transient, error) {
	in, err := message.Simulation(m, open)
	if err != nil {
		return nil, err
	}
	n := int(in.Duration / piece)
	rates, err := trace.Rates(in.Traffic[0], in.Seeds[0], piece.Seconds(), n)
	if err != nil {
		return nil, err
	}
	sizes, err := planner.New(nil).Capacities(in.Cluster.Fleet)
	if err != nil {
		return nil, err
	}
	bound, err := leastDeviceSeconds(in.Cluster.Fleet, s.pieces(rates))
	if err != nil {
		return nil, err
	}
	r, err := study.Run(ctx, study.Config{
		// What arrives is a file: one seed is all there are.
		Cluster: in.Cluster, Traffic: in.Traffic, Seeds: in.Seeds[:1], Duration: in.Duration, Window: in.Window,
		Autoscalers: []study.Autoscaler{
			{Name: "poolwright", New: func(c *simulation.Cluster, _ uint64) (simulation.Autoscaler, error) {
				return autoscaler.Poolwright{}.New(c, autoscaler.Resources{})
			}},
			{Name: "instantly reactive", New: func(c *simulation.Cluster, _ uint64) (simulation.Autoscaler, error) {
				return &reactive{cluster: c, start: in.Cluster.Start, rates: s.pieces(rates), capacity: float64(sizes[0][0].Capacity)}, nil
			}},
		},
	}, nil)
	if err != nil {
		return nil, err
	}
	t := &transient{scenario: *s, startup: startup, bound: bound, ours: r.Autoscalers[0], reactive: r.Autoscalers[1]}
	t.oursDeviceSeconds, t.reactiveDeviceSeconds = t.ours.DeviceHours.Mean*3600, t.reactive.DeviceHours.Mean*3600
	t.drained = (s.step + startup + 2*planner.DefaultCycle + planner.DefaultBacklogDrain).Seconds()
	t.outside = attainedOutside(&r, s.step.Seconds(), t.drained)
	return t, nil
}

// pieces are the rates that arrivals were drawn with. A step is what it says, not what the
// counts of its minutes are.
func (s *scenario) pieces(rates []float64) []float64 {
	if s.step == 0 {
		return rates
	}
	level := int(s.step / piece)
	smooth := make([]float64, len(rates))
	// Levels change at the step and where as many pieces as twice before it have passed.
	edges := []int{0, level, 3 * level, len(rates)}
	for k := range edges[:len(edges)-1] {
		from, to := edges[k], min(edges[k+1], len(rates))
		sum := 0.0
		for _, r := range rates[from:to] {
			sum += r
		}
		for i := from; i < to; i++ {
			smooth[i] = sum / float64(to-from)
		}
	}
	return smooth
}

// leastDeviceSeconds are those of the replicas that serve, at the capacity of the figures.
func leastDeviceSeconds(f planner.Fleet, rates []float64) (float64, error) {
	in := hindsight.Input{Fleet: f, Capacities: [][]queueing.Rate{{sustained}}}
	for _, r := range rates {
		in.Windows = append(in.Windows, hindsight.Window{Length: piece, Rates: []queueing.Rate{queueing.Rate(r)}})
	}
	s, err := hindsight.Find(in, nil)
	if err != nil {
		return 0, fmt.Errorf("bound: %w", err)
	}
	return s.ServingDeviceSeconds, nil
}

// attainedOutside is the share of requests within the SLO of those that arrived outside a
// span of time, in seconds; NaN where there is no span.
func attainedOutside(r *study.Result, from, to float64) float64 {
	if from == 0 {
		return math.NaN()
	}
	attained, arrived := 0.0, 0.0
	for i, rate := range r.Demand[0].ArrivalRate {
		if at := float64(i) * r.Window.Seconds(); rate > 0 && (at < from || at >= to) {
			arrived += rate
			attained += rate * r.Autoscalers[0].Latencies[0].Attainment[i]
		}
	}
	return attained / arrived
}

// reactive asks for what the rate of the moment needs, at once.
type reactive struct {
	cluster  *simulation.Cluster
	start    time.Time
	rates    []float64
	capacity float64
}

func (r *reactive) Interval() time.Duration { return time.Second }

func (r *reactive) Scale(_ context.Context, now time.Time) error {
	i := min(int(now.Sub(r.start)/piece), len(r.rates)-1)
	r.cluster.SetReplicas(0, 0, max(1, int(math.Ceil(r.rates[i]/r.capacity))))
	return nil
}
