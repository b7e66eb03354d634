package message

import (
	"errors"
	"slices"
	"strings"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/simulation"
	"github.com/poolwright/poolwright/simulation/study"
	"github.com/poolwright/poolwright/simulation/trace"
)

// Simulated is an imagined fleet, what arrives there, and what scales it.
type Simulated struct {
	Name string
	// Cluster has what does not differ from run to run. It begins on a Monday, at midnight.
	Cluster simulation.Config
	// Traffic is that of each workload, in the order of the fleet.
	Traffic []trace.Workload
	// Duration is how long requests arrive, Warmup the part of it that does not count, and
	// Window the length of the windows that results are shown in.
	Duration, Warmup, Window time.Duration
	// Seeds are unique, and so are the names of the autoscalers; there is at least one of
	// each.
	Seeds       []uint64
	Autoscalers []NamedAutoscaler
}

// Results may have mostWindows windows, and mostSeries of them over all workloads: what is
// known in hindsight takes memory for each. It is a day of minutes of 2,000 workloads.
const (
	mostWindows = 100_000
	mostSeries  = 2_880_000
)

// Simulation checks a simulation and translates it. Files of requests are opened by open. The error is of type [Violations] and
// names every mistake.
func Simulation(m *poolwrightv1.Simulation, open Opener) (Simulated, error) {
	v := validate(simulationValidator, m, protovalidate.WithFilter(protovalidate.FilterFunc(besideParts)))
	var fleet planner.Fleet
	if m.GetFleet() != nil {
		var violations Violations
		fleet, violations = translateFleet(m.GetFleet())
		v.below("fleet", violations)
	}
	s := Simulated{
		Name: m.GetName(), Seeds: m.GetSeeds(),
		Warmup: m.GetWarmup().AsDuration(), Window: m.GetWindow().AsDuration(),
		Cluster: simulation.Config{
			Fleet: fleet, Start: time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC),
			Routing: routings[m.GetRouting().GetStrategy()], Gateway: simulatedGateway(m.GetGateway()),
			Disruptions: v.disruptions(m, &fleet), RateWindow: m.GetRateWindow().AsDuration(),
		},
	}
	if len(s.Seeds) == 0 {
		s.Seeds = []uint64{1}
	}
	var err error
	if len(fleet.Workloads) > 0 { // else there are none, or far too many
		s.Traffic, s.Duration, err = Traffic(m, fleet.Workloads, open)
		v.below("", err)
		s.Cluster.Undeclared = undeclared(m.GetTraffic(), fleet.Workloads)
	}
	if m.GetFleet() != nil && len(m.GetFleet().GetWorkloads()) == 0 {
		v = append(v, Violation{Path: "fleet.workloads", Message: "there is none that requests could arrive for"})
	}
	s.times(&v)
	scalers := m.GetAutoscalers()
	if len(scalers) == 0 {
		scalers = []*poolwrightv1.Autoscaler{{Kind: &poolwrightv1.Autoscaler_Poolwright{}}}
	}
	s.Autoscalers, err = Autoscalers(scalers)
	v.below("", err)
	if len(v) == 0 {
		v.cluster(s.Cluster)
	}
	if len(v) > 0 {
		return Simulated{}, v.sorted()
	}
	return s, nil
}

// besideParts leaves out what is validated by itself: the fleet and traffic.
func besideParts(m protoreflect.Message, d protoreflect.Descriptor) bool {
	switch m.Interface().(type) {
	case *poolwrightv1.Fleet:
		return false
	case *poolwrightv1.Simulation:
		return d.Name() != "traffic" && d.Name() != "duration"
	}
	return true
}

// below appends those of a part, an error of this package.
func (v *Violations) below(path string, err error) {
	var part Violations
	if errors.As(err, &part) {
		for _, x := range part {
			v.add(join(path, x.Path), "%s", x.Message)
		}
	}
}

// routings are those of clusters by their names in messages.
var routings = map[poolwrightv1.Routing_Strategy]simulation.Routing{
	poolwrightv1.Routing_LEAST_LOADED:      simulation.LeastLoaded,
	poolwrightv1.Routing_CAPACITY_WEIGHTED: simulation.CapacityWeighted,
	poolwrightv1.Routing_PREFIX_AWARE:      simulation.PrefixAware,
}

func simulatedGateway(m *poolwrightv1.Gateway) simulation.Gateway {
	g := simulation.DefaultGateway()
	if m != nil && m.MaxHeld != nil {
		g.MostHeld = int(m.GetMaxHeld())
	}
	if m.GetTimeout() != nil {
		g.Timeout = m.GetTimeout().AsDuration()
	}
	return g
}

// disruptions translates what goes wrong, in pools that there are.
func (v *Violations) disruptions(m *poolwrightv1.Simulation, f *planner.Fleet) []simulation.Disruption {
	all := make([]simulation.Disruption, 0, len(m.GetDisruptions()))
	for i, d := range m.GetDisruptions() {
		known := slices.ContainsFunc(f.Pools, func(p planner.Pool) bool { return p.Name == d.GetPool() })
		if path := element("disruptions", i) + ".pool"; !known && d.GetPool() != "" {
			v.add(path, "there is no pool %q", d.GetPool())
		}
		all = append(all, simulation.Disruption{
			At: d.GetAt().AsDuration(), Pool: d.GetPool(), Devices: int(d.GetDevices()),
			ReturnsAfter: d.GetReturnsAfter().AsDuration(), Notice: d.GetNotice().AsDuration(),
		})
	}
	return all
}

// undeclared tells whose lengths of requests are measured; nil = nobody's.
func undeclared(traffic []*poolwrightv1.Traffic, workloads []planner.Workload) []bool {
	var all []bool
	for _, of := range traffic {
		for i := range workloads {
			if name := of.GetWorkload(); of.GetMeasuredLengths() && (name == workloads[i].QualifiedName() || name == workloads[i].Name) {
				if all == nil {
					all = make([]bool, len(workloads))
				}
				all[i] = true
			}
		}
	}
	return all
}

// times completes durations, and checks that they go together. The warm-up becomes whole
// windows.
func (s *Simulated) times(v *Violations) {
	if s.Duration <= 0 || s.Window < 0 || s.Warmup < 0 {
		return // there are violations already
	}
	if s.Window == 0 {
		s.Window = study.DefaultWindow(s.Duration)
	}
	if n := s.Duration / s.Window; n > mostWindows {
		v.add("window", "%s are %d windows of %s, more than the %d allowed", s.Duration, n, s.Window, mostWindows)
	} else if all := int64(n) * int64(len(s.Traffic)); all > mostSeries {
		v.add("window", "%d windows of each of %d workloads are more than the %d allowed", n, len(s.Traffic), mostSeries)
	}
	warmup := s.Warmup
	if rest := warmup % s.Window; rest > 0 {
		warmup += s.Window - rest
	}
	if warmup >= s.Duration {
		v.add("warmup", "%s in windows of %s leave nothing of %s", s.Warmup, s.Window, s.Duration)
	}
	s.Warmup = warmup
}

// cluster checks what only a cluster knows.
func (v *Violations) cluster(c simulation.Config) {
	c.Requests = func(func(trace.Request) bool) {}
	_, err := simulation.New(c)
	if err == nil {
		return
	}
	for _, e := range unjoin(err) {
		path, text, ok := strings.Cut(strings.TrimPrefix(e.Error(), "simulation: "), ": ")
		if !ok || strings.Contains(path, " ") {
			path, text = "", e.Error()
		}
		v.add(path, "%s", text)
	}
}
