package message

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// OfFleet translates a fleet that came from [Fleet] back; defaults that it filled in are
// written out.
func OfFleet(f *planner.Fleet) *poolwrightv1.Fleet {
	m := &poolwrightv1.Fleet{Objective: ofObjective(&f.Objective), Control: ofControl(&f.Control)}
	for i := range f.Pools {
		m.Pools = append(m.Pools, ofPool(&f.Pools[i]))
	}
	for i := range f.Workloads {
		m.Workloads = append(m.Workloads, ofWorkload(f, &f.Workloads[i]))
	}
	for i := range f.Scenarios {
		m.Scenarios = append(m.Scenarios, ofScenario(f, &f.Scenarios[i]))
	}
	return m
}

func ofPool(p *planner.Pool) *poolwrightv1.Pool {
	m := &poolwrightv1.Pool{
		Name: p.Name, Accelerator: p.Accelerator, PricePerHour: p.PricePerHour, Capacity: ofBound(p.Capacity),
		Zone: p.Zone, Interruptible: p.Interruptible, Committed: count(p.Committed),
	}
	if p.DevicesPerNode > 0 {
		devices := count(p.DevicesPerNode)
		m.DevicesPerNode = &devices
	}
	for _, q := range p.Quotas {
		if m.Quotas == nil {
			m.Quotas = make(map[string]int32, len(p.Quotas))
		}
		m.Quotas[q.Namespace] = count(q.Devices)
	}
	if g := p.Growth; g != nil {
		m.Growable = &poolwrightv1.Growth{Max: count(g.Max), Delay: durationpb.New(g.Delay)}
	}
	return m
}

func ofBound(b optimizer.Bound) *int32 {
	if !b.Limited {
		return nil
	}
	n := count(b.Value)
	return &n
}

func ofWorkload(f *planner.Fleet, w *planner.Workload) *poolwrightv1.Workload {
	priority := count(w.Priority)
	m := &poolwrightv1.Workload{
		Name: w.Name, Namespace: w.Namespace, Model: w.Model, ServiceClass: w.ServiceClass, Priority: &priority,
		Load: ofLoad(w), Slo: ofSLO(&w.SLO), Redundancy: count(w.Redundancy),
		MinReplicas: count(w.MinReplicas), MaxReplicas: ofBound(w.MaxReplicas), Policy: ofPolicy(w.Policy),
	}
	if w.Mixing == optimizer.Single {
		m.Mixing = poolwrightv1.Workload_SINGLE
	}
	if w.ZeroGrace > 0 {
		m.ZeroGrace = durationpb.New(w.ZeroGrace)
	}
	if w.ExpansionRate != nil {
		rate := count(*w.ExpansionRate)
		m.CostExpansionRatePercent = &rate
	}
	if w.Penalized {
		m.UnmetPenaltyPerRps = &w.UnmetPenalty
	}
	for j := range w.Variants {
		m.Variants = append(m.Variants, ofVariant(f, &w.Variants[j]))
	}
	return m
}

func ofLoad(w *planner.Workload) *poolwrightv1.Load {
	s := w.Shape
	if len(w.Shapes) > 0 {
		s = w.Shapes[0].Shape
	}
	m := &poolwrightv1.Load{
		ArrivalRate: float64(w.ArrivalRate), PrefixHitRatio: s.PrefixHitRatio,
		InputTokensScv: &s.InputSCV, OutputTokensScv: &s.OutputSCV, ArrivalScv: &s.ArrivalSCV,
	}
	if w.ArrivalRateUpper > 0 {
		upper := float64(w.ArrivalRateUpper)
		m.ArrivalRateUpper = &upper
	}
	if len(w.Shapes) == 0 {
		m.InputTokens, m.OutputTokens = float64(s.InputTokens), float64(s.OutputTokens)
	}
	for _, x := range w.Shapes {
		m.Shapes = append(m.Shapes, &poolwrightv1.RequestShape{
			Share: x.Share, InputTokens: float64(x.Shape.InputTokens), OutputTokens: float64(x.Shape.OutputTokens),
		})
	}
	return m
}

// ofSLO is nil without limits.
func ofSLO(s *queueing.SLO) *poolwrightv1.SLO {
	if len(s.Limits) == 0 {
		return nil
	}
	m := &poolwrightv1.SLO{}
	for _, l := range s.Limits {
		switch l.Metric {
		case queueing.TTFT:
			m.Ttft = withLimit(m.Ttft, l)
		case queueing.ITL:
			m.Itl = withLimit(m.Itl, l)
		case queueing.TokensPerSecond:
			m.TokensPerSecond = l.Value
		}
	}
	return m
}

// withLimit adds a limit, first making what holds it.
func withLimit(m *poolwrightv1.LatencyLimits, l queueing.Limit) *poolwrightv1.LatencyLimits {
	if m == nil {
		m = &poolwrightv1.LatencyLimits{}
	}
	limit := durationpb.New(queueing.Seconds(l.Value).Duration())
	for _, field := range []struct {
		quantile float64
		limit    **durationpb.Duration
	}{{0, &m.Mean}, {0.5, &m.P50}, {0.9, &m.P90}, {0.95, &m.P95}, {0.99, &m.P99}} {
		if field.quantile == l.Quantile && *field.limit == nil {
			*field.limit = limit
			return m
		}
	}
	m.Quantiles = append(m.Quantiles, &poolwrightv1.QuantileLimit{Q: l.Quantile, Limit: limit})
	return m
}

func ofObjective(o *planner.Objective) *poolwrightv1.Objective {
	expansion := count(o.ExpansionRate)
	m := &poolwrightv1.Objective{
		BudgetPerHour: o.BudgetPerHour, RelativeGap: &o.RelativeGap, TimeLimit: durationpb.New(o.TimeLimit),
		Strategy: nameOf(strategies, o.Strategy), SaturationPolicy: nameOf(saturations, o.Greedy.Saturation),
		DelayedBestEffort: o.Greedy.DelayedBestEffort, CostExpansionRatePercent: &expansion,
	}
	if r := o.Robustness; r.Service != optimizer.Point {
		m.Robustness = &poolwrightv1.Robustness{Service: nameOf(services, r.Service)}
		if r.Probability > 0 {
			m.Robustness.Probability = &r.Probability
		}
	}
	return m
}

// nameOf is the name of a value, all of which differ.
func nameOf[Name, Value comparable](names map[Name]Value, value Value) Name {
	for name, v := range names {
		if v == value {
			return name
		}
	}
	var none Name
	return none
}

func ofScenario(f *planner.Fleet, s *planner.Scenario) *poolwrightv1.Scenario {
	m := &poolwrightv1.Scenario{Name: s.Name, Factor: &s.Factor}
	if s.Probability > 0 {
		m.Probability = &s.Probability
	}
	for _, r := range s.Rates {
		if m.ArrivalRates == nil {
			m.ArrivalRates = make(map[string]float64, len(s.Rates))
		}
		m.ArrivalRates[f.Workloads[r.Workload].QualifiedName()] = float64(r.ArrivalRate)
	}
	return m
}
