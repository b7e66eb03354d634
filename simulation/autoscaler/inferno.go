package autoscaler

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation"
)

// Inferno is the optimizer of the first releases of llm-d's workload-variant-autoscaler: it
// sizes replicas for the mean rate and lengths since its last decision by the family's
// queueing model, with all limits of the SLO as means, and shares them out by the family's
// greedy. It keeps a replica of each workload.
type Inferno struct {
	// Interval between decisions (GLOBAL_OPT_INTERVAL), > 0.
	Interval time.Duration
	// Greedy is what the family's optimizer is set to.
	Greedy greedy.Options
}

// DefaultInferno decides every minute.
func DefaultInferno() Inferno { return Inferno{Interval: time.Minute} }

// Name implements [Settings].
func (s Inferno) Name() string {
	name := "inferno greedy every " + brief(s.Interval)
	if s.Greedy.Saturation != greedy.None {
		name += " " + s.Greedy.Saturation.String()
	}
	return name
}

// Validate implements [Settings].
func (s Inferno) Validate() error {
	if s.Interval < time.Second {
		return fmt.Errorf("autoscaler: interval: %v < 1s", s.Interval)
	}
	if s.Greedy.Saturation < greedy.None || s.Greedy.Saturation > greedy.RoundRobin {
		return fmt.Errorf("autoscaler: saturationPolicy: %d is no policy", int(s.Greedy.Saturation))
	}
	return nil
}

// Grid implements [Settings]: intervals and saturation policies.
func (s Inferno) Grid() []Settings {
	var grid []Settings
	for _, interval := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute} {
		for _, policy := range []greedy.Saturation{greedy.None, greedy.PriorityExhaustive, greedy.PriorityRoundRobin} {
			grid = append(grid, Inferno{interval, greedy.Options{Saturation: policy}})
		}
	}
	return grid
}

// New implements [Settings].
func (s Inferno) New(c *simulation.Cluster, r Resources) (simulation.Autoscaler, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &infernoScaler{settings: s, cluster: c, planner: planner.New(r.Engine)}, nil
}

type infernoScaler struct {
	settings Inferno
	cluster  *simulation.Cluster
	planner  *planner.Planner
}

// Interval implements [simulation.Autoscaler].
func (a *infernoScaler) Interval() time.Duration { return a.settings.Interval }

// Scale implements [simulation.Autoscaler].
func (a *infernoScaler) Scale(ctx context.Context, now time.Time) error {
	fleet, _, err := a.cluster.Fleet(ctx)
	if err != nil {
		return err
	}
	observations, err := a.cluster.Observe(ctx, fleet)
	if err != nil {
		return err
	}
	d, _, err := a.planner.Plan(planner.Snapshot{Now: now, Fleet: a.problem(fleet, observations)}, planner.Memory{}, nil)
	if err != nil {
		return err
	}
	for i := range d.Plans {
		for j := range d.Plans[i].Variants {
			a.cluster.SetReplicas(i, j, d.Plans[i].Variants[j].Total())
		}
	}
	return nil
}

// problem is a fleet as the family sees it.
func (a *infernoScaler) problem(fleet planner.Fleet, observations []planner.Observation) planner.Fleet {
	fleet.Objective = planner.Objective{Strategy: planner.InfernoGreedy, Greedy: a.settings.Greedy}
	fleet.Scenarios = nil
	fleet.Workloads = slices.Clone(fleet.Workloads)
	for i := range fleet.Workloads {
		w := &fleet.Workloads[i]
		w.ArrivalRateUpper, w.Redundancy, w.Penalized, w.Shapes, w.ExpansionRate = 0, 0, false, nil, nil
		if w.MinReplicas < 1 && (!w.MaxReplicas.Limited || w.MaxReplicas.Value > 0) {
			w.MinReplicas = 1
		}
		w.SLO = means(w.SLO)
		w.Variants = slices.Clone(w.Variants)
		k := slices.IndexFunc(observations, func(o planner.Observation) bool { return o.Workload == w.QualifiedName() })
		if k < 0 || !observe(w, &observations[k]) {
			hold(w)
		}
		for j := range w.Variants {
			v := &w.Variants[j]
			v.SwitchUp, v.SwitchDown = 0, 0
			if v.Replica != nil {
				r := familyReplica(*v.Replica, w.Shape)
				v.Replica = &r
			}
		}
	}
	return fleet
}

// observe takes over what was measured of a workload, and tells whether its demand is known.
func observe(w *planner.Workload, o *planner.Observation) bool {
	if in, out := o.InputTokens, o.OutputTokens; in.State == planner.Fresh && out.State == planner.Fresh {
		w.Shape.InputTokens, w.Shape.OutputTokens = queueing.Tokens(in.Value), queueing.Tokens(max(1, out.Value))
	}
	w.ArrivalRate = queueing.Rate(o.ArrivalRate.Value)
	return o.ArrivalRate.State == planner.Fresh && w.Shape.OutputTokens > 0
}

// hold keeps the replicas of a workload whose demand is not known.
func hold(w *planner.Workload) {
	w.ArrivalRate, w.MinReplicas = 0, 0
	w.Shape.OutputTokens = max(w.Shape.OutputTokens, 1)
	for j := range w.Variants {
		v := &w.Variants[j]
		v.MinReplicas, v.MaxReplicas = v.CurrentReplicas, optimizer.Bound{Limited: true, Value: v.CurrentReplicas}
	}
}

// means are the tightest limits on each metric, as limits on means.
func means(slo queueing.SLO) queueing.SLO {
	var limits []queueing.Limit
	for _, l := range slo.Limits {
		l.Quantile = 0
		k := slices.IndexFunc(limits, func(other queueing.Limit) bool { return other.Metric == l.Metric })
		switch {
		case k < 0:
			limits = append(limits, l)
		case l.Metric == queueing.TokensPerSecond:
			limits[k].Value = max(limits[k].Value, l.Value)
		default:
			limits[k].Value = min(limits[k].Value, l.Value)
		}
	}
	slo.Limits = limits
	return slo
}

// familyReplica is a replica in the family's four-parameter model, with the coefficients that
// its guide to benchmarks would find: inter-token latency α + β·batch through a batch of
// one and a full one, and a prefill of γ + δ·tokens·batch that takes one more iteration.
// The batch is full where the KV cache is. What is in a model of the family already stays
// as it is.
func familyReplica(r queueing.Replica, s queueing.Shape) queueing.Replica {
	if r.Model != queueing.ContinuousBatching {
		return r
	}
	p, in, out := r.Profile, float64(s.InputTokens), max(1, float64(s.OutputTokens))
	prompt := p.Gamma + p.Delta*in + p.Epsilon*in*in
	// In a full batch, prompts of others take part in every iteration.
	iteration := func(batch, prompts float64) float64 {
		return p.Alpha + p.Beta*batch + p.Sigma*math.Sqrt(batch) + p.Kappa*batch*(in+out/2) + prompts*prompt
	}
	if r.KVCacheTokens > 0 {
		r.MaxBatch = max(1, min(r.MaxBatch, int(float64(r.KVCacheTokens)/(in+out))))
	}
	batch, beta := float64(r.MaxBatch), 0.0
	if r.MaxBatch > 1 {
		beta = max(0, (iteration(batch, batch/out)-iteration(1, 0))/(batch-1))
	}
	alpha := iteration(1, 0) - beta
	family := queueing.Profile{Alpha: max(0, alpha), Beta: beta, Gamma: max(0, alpha) + prompt + p.TTFTOffset}
	if in > 0 {
		family.Delta = beta / in
	}
	for _, c := range []*float64{&family.Alpha, &family.Beta, &family.Gamma, &family.Delta} {
		*c = min(*c, queueing.MaxSeconds)
	}
	r.Model, r.Profile = queueing.LLMDV1, family
	r.MaxQueue = queueing.Waiting{Limited: true, Places: 10 * r.MaxBatch}
	return r
}
