package message

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/internal/parallel"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// Defaults of an objective.
const (
	DefaultRelativeGap = 0.001
	DefaultTimeLimit   = time.Second
)

// Fleet checks a fleet and translates it. The error is of type [Violations] and
// names every mistake.
func Fleet(m *poolwrightv1.Fleet) (planner.Fleet, error) {
	f, v := translateFleet(m)
	if len(v) > 0 {
		return planner.Fleet{}, v.sorted()
	}
	return f, nil
}

// translateFleet translates what can be, unless there is far too much of something, and
// returns every mistake.
func translateFleet(m *poolwrightv1.Fleet) (planner.Fleet, Violations) {
	if v := tooMany(m); len(v) > 0 {
		return planner.Fleet{}, v
	}
	t := translation{keepsRules: m.KeepsRules()}
	if !t.keepsRules {
		t.violations = validate(fleetValidator, m, protovalidate.WithFilter(protovalidate.FilterFunc(besideWorkloads)))
	}
	f := planner.Fleet{
		Pools:     make([]planner.Pool, 0, len(m.GetPools())),
		Objective: objective(m.GetObjective()),
	}
	for i, p := range m.GetPools() {
		f.Pools = append(f.Pools, t.pool(p, element("pools", i)))
	}
	t.indexPools(f.Pools)
	f.Workloads = t.workloads(m.GetWorkloads())
	t.uniqueWorkloads(f.Workloads)
	f.Scenarios = t.scenarios(m, f.Workloads)
	f.Control = t.control(m.GetControl())
	t.robustness(m, &f)
	return f, t.violations
}

// besideWorkloads leaves out the workloads, each of which is validated by itself.
func besideWorkloads(m protoreflect.Message, d protoreflect.Descriptor) bool {
	_, fleet := m.Interface().(*poolwrightv1.Fleet)
	return !fleet || d.Name() != "workloads"
}

// workloadBlock is how many workloads go to a processor at a time.
const workloadBlock = 64

// workloads validates and translates workloads.
func (t *translation) workloads(ms []*poolwrightv1.Workload) []planner.Workload {
	workloads := make([]planner.Workload, len(ms))
	violations := make([]Violations, parallel.Count(len(ms), workloadBlock))
	parallel.Blocks(len(ms), workloadBlock, func(block, from, to int) {
		part := *t
		part.violations = nil
		for i := from; i < to; i++ {
			path := element("workloads", i)
			part.rules(ms[i], path)
			workloads[i] = part.workload(ms[i], path)
		}
		violations[block] = part.violations
	})
	t.violations = append(t.violations, slices.Concat(violations...)...)
	return workloads
}

// rules checks those of the schema for a workload.
func (t *translation) rules(m *poolwrightv1.Workload, path string) {
	if t.keepsRules || m.KeepsRules() {
		return
	}
	for _, v := range validate(fleetValidator, m) {
		t.violations.add(join(path, v.Path), "%s", v.Message)
	}
}

// translation carries what the parts of one fleet need of each other.
type translation struct {
	violations Violations
	// keepsRules: the fleet keeps those of the schema, which is told without the reflection of a
	// validator where it has nothing uncommon.
	keepsRules    bool
	byName        map[string]int
	byAccelerator map[string][]int
	pools         []planner.Pool
}

// strategies and saturations are those of the planner by their names in messages.
var (
	strategies = map[poolwrightv1.Objective_Strategy]planner.Strategy{
		poolwrightv1.Objective_OPTIMAL:        planner.Optimal,
		poolwrightv1.Objective_INFERNO_GREEDY: planner.InfernoGreedy,
		poolwrightv1.Objective_KTHENA:         planner.Kthena,
	}
	saturations = map[poolwrightv1.Objective_SaturationPolicy]greedy.Saturation{
		poolwrightv1.Objective_NONE:                 greedy.None,
		poolwrightv1.Objective_PRIORITY_EXHAUSTIVE:  greedy.PriorityExhaustive,
		poolwrightv1.Objective_PRIORITY_ROUND_ROBIN: greedy.PriorityRoundRobin,
		poolwrightv1.Objective_ROUND_ROBIN:          greedy.RoundRobin,
	}
)

func objective(m *poolwrightv1.Objective) planner.Objective {
	o := planner.Objective{
		BudgetPerHour: m.GetBudgetPerHour(),
		RelativeGap:   DefaultRelativeGap,
		TimeLimit:     DefaultTimeLimit,
		Strategy:      strategies[m.GetStrategy()],
		Greedy: greedy.Options{
			Saturation:        saturations[m.GetSaturationPolicy()],
			DelayedBestEffort: m.GetDelayedBestEffort(),
		},
		ExpansionRate: greedy.DefaultExpansionRate,
		Robustness:    robustness(m.GetRobustness()),
	}
	if m != nil && m.CostExpansionRatePercent != nil {
		o.ExpansionRate = int(m.GetCostExpansionRatePercent())
	}
	if m != nil && m.RelativeGap != nil {
		o.RelativeGap = m.GetRelativeGap()
	}
	if m.GetTimeLimit() != nil {
		o.TimeLimit = m.GetTimeLimit().AsDuration()
	}
	return o
}

func bound(v *int32) optimizer.Bound {
	if v == nil {
		return optimizer.Bound{}
	}
	return optimizer.Bound{Limited: true, Value: int(*v)}
}

func (t *translation) pool(m *poolwrightv1.Pool, path string) planner.Pool {
	p := planner.Pool{
		Name:           m.GetName(),
		Accelerator:    m.GetAccelerator(),
		Zone:           m.GetZone(),
		PricePerHour:   m.GetPricePerHour(),
		Capacity:       bound(m.Capacity),
		DevicesPerNode: int(m.GetDevicesPerNode()),
		Interruptible:  m.GetInterruptible(),
		Committed:      int(m.GetCommitted()),
	}
	t.printable(path, "name", p.Name)
	t.printable(path, "accelerator", p.Accelerator)
	if p.Name == "" {
		p.Name = p.Accelerator
	}
	for namespace, devices := range m.GetQuotas() {
		t.printable(path, "quotas", namespace)
		p.Quotas = append(p.Quotas, planner.Quota{Namespace: namespace, Devices: int(devices)})
	}
	sort.Slice(p.Quotas, func(a, b int) bool { return p.Quotas[a].Namespace < p.Quotas[b].Namespace })
	if p.Capacity.Limited && 0 <= p.Capacity.Value && p.Capacity.Value < p.Committed {
		t.violations.add(path+".committed", "%d is more than the capacity of %d", p.Committed, p.Capacity.Value)
	}
	if g := m.GetGrowable(); g != nil {
		p.Growth = &planner.Growth{Max: int(g.GetMax()), Delay: g.GetDelay().AsDuration()}
		if p.Capacity.Limited && 0 <= p.Growth.Max && p.Growth.Max < p.Capacity.Value {
			t.violations.add(path+".growable.max", "%d is less than the capacity of %d", p.Growth.Max, p.Capacity.Value)
		}
	}
	return p
}

func (t *translation) indexPools(pools []planner.Pool) {
	t.pools = pools
	t.byName = make(map[string]int, len(pools))
	t.byAccelerator = make(map[string][]int)
	for i := range pools {
		p := &pools[i]
		if first, ok := t.byName[p.Name]; ok && p.Name != "" {
			t.violations.add(fmt.Sprintf("pools[%d].name", i), "%q is the name of pools[%d] too", p.Name, first)
			continue
		}
		t.byName[p.Name] = i
		t.byAccelerator[p.Accelerator] = append(t.byAccelerator[p.Accelerator], i)
	}
}

func (t *translation) uniqueWorkloads(workloads []planner.Workload) {
	seen := make(map[string]int, len(workloads))
	for i := range workloads {
		name := workloads[i].QualifiedName()
		if first, ok := seen[name]; ok && workloads[i].Name != "" {
			t.violations.add(fmt.Sprintf("workloads[%d].name", i), "%q is the name of workloads[%d] too", name, first)
			continue
		}
		seen[name] = i
	}
}

func (t *translation) workload(m *poolwrightv1.Workload, path string) planner.Workload {
	w := planner.Workload{
		Namespace:    m.GetNamespace(),
		Name:         m.GetName(),
		Model:        m.GetModel(),
		ServiceClass: m.GetServiceClass(),
		Priority:     1,
		ArrivalRate:  queueing.Rate(m.GetLoad().GetArrivalRate()),
		SLO:          slo(m.GetSlo()),
		Redundancy:   int(m.GetRedundancy()),
		MinReplicas:  int(m.GetMinReplicas()),
		MaxReplicas:  bound(m.MaxReplicas),
		UnmetPenalty: m.GetUnmetPenaltyPerRps(),
		Penalized:    m.UnmetPenaltyPerRps != nil,
	}
	w.ArrivalRateUpper = queueing.Rate(m.GetLoad().GetArrivalRateUpper())
	if m.Priority != nil {
		w.Priority = int(m.GetPriority())
	}
	w.Mixing = mixing(m.GetMixing())
	setDuration(&w.ZeroGrace, m.GetZeroGrace())
	if m.CostExpansionRatePercent != nil {
		rate := int(m.GetCostExpansionRatePercent())
		w.ExpansionRate = &rate
	}
	t.printable(path, "name", w.Name)
	t.printable(path, "namespace", w.Namespace)
	w.Policy = t.policy(m.GetPolicy(), path+".policy")
	w.Shape, w.Shapes = t.shape(m, path+".load")
	t.minMax(w.MinReplicas, w.MaxReplicas, path)
	t.variants(m, &w, path)
	t.roles(&w, path)
	return w
}

func mixing(m poolwrightv1.Workload_Mixing) optimizer.Mixing {
	if m == poolwrightv1.Workload_SINGLE {
		return optimizer.Single
	}
	return optimizer.Allowed
}

func (t *translation) minMax(low int, high optimizer.Bound, path string) {
	if high.Limited && low > high.Value {
		t.violations.add(join(path, "minReplicas"), "%d is more than maxReplicas, which is %d", low, high.Value)
	}
}

func (t *translation) variants(m *poolwrightv1.Workload, w *planner.Workload, path string) {
	seen := make(map[string]int, len(m.GetVariants()))
	w.Variants = make([]planner.Variant, 0, len(m.GetVariants()))
	for j, v := range m.GetVariants() {
		p := element(path+".variants", j)
		if first, ok := seen[v.GetName()]; ok && v.GetName() != "" {
			t.violations.add(p+".name", "%q is the name of %s.variants[%d] too", v.GetName(), path, first)
		} else {
			seen[v.GetName()] = j
		}
		w.Variants = append(w.Variants, t.variant(v, p))
	}
}

// orOne is the value of an optional field whose default is 1.
func orOne[T ~int32 | ~float64](v *T) T {
	if v == nil {
		return 1
	}
	return *v
}

// shape is that of all requests of a load together, and shapes are those of its mix.
func (t *translation) shape(m *poolwrightv1.Workload, path string) (queueing.Shape, []planner.ShapeShare) {
	l := m.GetLoad()
	s := queueing.Shape{
		InputTokens:    queueing.Tokens(l.GetInputTokens()),
		OutputTokens:   queueing.Tokens(l.GetOutputTokens()),
		PrefixHitRatio: l.GetPrefixHitRatio(),
	}
	if l != nil {
		s.InputSCV, s.OutputSCV, s.ArrivalSCV = orOne(l.InputTokensScv), orOne(l.OutputTokensScv), orOne(l.ArrivalScv)
	}
	if len(l.GetShapes()) == 0 {
		t.lengths(m, path)
		return s, nil
	}
	if l.GetInputTokens() != 0 || l.GetOutputTokens() != 0 {
		t.violations.add(path+".shapes", "give either shapes or inputTokens and outputTokens")
	}
	var mix []planner.ShapeShare
	var shapes []queueing.Shape
	var shares []float64
	var share float64
	for _, x := range l.GetShapes() {
		one := s
		one.InputTokens, one.OutputTokens = queueing.Tokens(x.GetInputTokens()), queueing.Tokens(x.GetOutputTokens())
		share += x.GetShare()
		mix = append(mix, planner.ShapeShare{Share: x.GetShare(), Shape: one})
		shapes, shares = append(shapes, one), append(shares, x.GetShare())
	}
	if math.Abs(share-1) > 1e-6 {
		t.violations.add(path+".shapes", "the shares sum to %.9g, not to 1", share)
	}
	return planner.MixShapes(shapes, shares), mix
}

// lengths checks that lengths are there where a profile needs them.
func (t *translation) lengths(m *poolwrightv1.Workload, path string) {
	for _, v := range m.GetVariants() {
		if v.GetProfile() != nil && m.GetLoad() != nil && m.GetLoad().GetOutputTokens() < 1 {
			t.violations.add(path+".outputTokens", "a variant has a profile, so this must be at least 1")
			return
		}
	}
}

func slo(m *poolwrightv1.SLO) queueing.SLO {
	var s queueing.SLO
	s.Limits = appendLimits(s.Limits, queueing.TTFT, m.GetTtft())
	s.Limits = appendLimits(s.Limits, queueing.ITL, m.GetItl())
	if v := m.GetTokensPerSecond(); v > 0 {
		s.Limits = append(s.Limits, queueing.Limit{Metric: queueing.TokensPerSecond, Value: v})
	}
	return s
}

func appendLimits(limits []queueing.Limit, metric queueing.Metric, m *poolwrightv1.LatencyLimits) []queueing.Limit {
	for _, l := range []struct {
		quantile float64
		limit    *durationpb.Duration
	}{{0, m.GetMean()}, {0.5, m.GetP50()}, {0.9, m.GetP90()}, {0.95, m.GetP95()}, {0.99, m.GetP99()}} {
		if l.limit != nil {
			limits = append(limits, queueing.Limit{Metric: metric, Quantile: l.quantile, Value: l.limit.AsDuration().Seconds()})
		}
	}
	for _, q := range m.GetQuantiles() {
		limits = append(limits, queueing.Limit{Metric: metric, Quantile: q.GetQ(), Value: q.GetLimit().AsDuration().Seconds()})
	}
	return limits
}
