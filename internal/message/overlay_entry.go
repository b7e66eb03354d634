package message

import (
	"cmp"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/optimizer/greedy"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// MergeReplica takes over into an entry what it leaves open and a less specific one says.
// Profile and capacity are one thing.
func MergeReplica(to, from *poolwrightv1.ReplicaOverlay) {
	if to.Profile == nil && to.CapacityRps == nil {
		to.Profile, to.ServiceModel, to.CapacityRps = from.Profile, from.ServiceModel, from.CapacityRps
	}
	if to.Pools == nil {
		to.Pools = from.Pools
	}
	to.Accelerator = cmp.Or(to.Accelerator, from.Accelerator)
	to.Devices = cmp.Or(to.Devices, from.Devices)
	to.Nodes = cmp.Or(to.Nodes, from.Nodes)
	to.MaxBatch = cmp.Or(to.MaxBatch, from.MaxBatch)
	to.KvCacheTokens = cmp.Or(to.KvCacheTokens, from.KvCacheTokens)
	to.MaxQueue = cmp.Or(to.MaxQueue, from.MaxQueue)
	to.PrefillMode = cmp.Or(to.PrefillMode, from.PrefillMode)
	to.MaxBatchedTokens = cmp.Or(to.MaxBatchedTokens, from.MaxBatchedTokens)
	to.SpeculativeAcceptedTokens = cmp.Or(to.SpeculativeAcceptedTokens, from.SpeculativeAcceptedTokens)
	to.KvTransfer = cmp.Or(to.KvTransfer, from.KvTransfer)
	to.MinReplicas = cmp.Or(to.MinReplicas, from.MinReplicas)
	to.MaxReplicas = cmp.Or(to.MaxReplicas, from.MaxReplicas)
	to.PricePerReplicaHour = cmp.Or(to.PricePerReplicaHour, from.PricePerReplicaHour)
	to.Startup = cmp.Or(to.Startup, from.Startup)
	to.SwitchingCost = cmp.Or(to.SwitchingCost, from.SwitchingCost)
}

// MergeWorkload takes over into an entry what it leaves open and a less specific one says.
func MergeWorkload(to, from *poolwrightv1.WorkloadOverlay) {
	to.Model = cmp.Or(to.Model, from.Model)
	to.ServiceClass = cmp.Or(to.ServiceClass, from.ServiceClass)
	to.Priority = cmp.Or(to.Priority, from.Priority)
	to.Slo = cmp.Or(to.Slo, from.Slo)
	to.Load = cmp.Or(to.Load, from.Load)
	to.Mixing = cmp.Or(to.Mixing, from.Mixing)
	to.Redundancy = cmp.Or(to.Redundancy, from.Redundancy)
	to.MinReplicas = cmp.Or(to.MinReplicas, from.MinReplicas)
	to.MaxReplicas = cmp.Or(to.MaxReplicas, from.MaxReplicas)
	to.UnmetPenaltyPerRps = cmp.Or(to.UnmetPenaltyPerRps, from.UnmetPenaltyPerRps)
	to.Policy = cmp.Or(to.Policy, from.Policy)
	to.Strategy = cmp.Or(to.Strategy, from.Strategy)
	to.Mode = cmp.Or(to.Mode, from.Mode)
	to.TakeOver = cmp.Or(to.TakeOver, from.TakeOver)
	if from.Metrics != nil {
		to.Metrics = mergeMetrics(to.Metrics, from.Metrics)
	}
}

// mergeMetrics changes neither.
func mergeMetrics(specific, general *poolwrightv1.MetricSeries) *poolwrightv1.MetricSeries {
	merged := &poolwrightv1.MetricSeries{
		Engine:     cmp.Or(specific.GetEngine(), general.GetEngine()),
		Selector:   specific.GetSelector(),
		ModelLabel: cmp.Or(specific.GetModelLabel(), general.GetModelLabel()),
		Path:       cmp.Or(specific.GetPath(), general.GetPath()),
		Port:       general.Port,
		Gateway:    cmp.Or(specific.GetGateway(), general.GetGateway()),
	}
	if specific != nil && specific.Port != nil {
		merged.Port = specific.Port
	}
	if merged.Selector == nil {
		merged.Selector = general.GetSelector()
	}
	return merged
}

// ApplyReplica sets what an entry says of a variant, but for its accelerator and pools. A
// capacity takes the place of what is known of a replica.
func ApplyReplica(m *poolwrightv1.ReplicaOverlay, v *planner.Variant) {
	setInt(&v.DevicesPerReplica, m.Devices)
	setInt(&v.NodesPerReplica, m.Nodes)
	setInt(&v.MinReplicas, m.MinReplicas)
	if m.MaxReplicas != nil {
		v.MaxReplicas = bound(m.MaxReplicas)
	}
	if m.PricePerReplicaHour != nil {
		v.PricePerReplicaHour, v.Priced = m.GetPricePerReplicaHour(), true
	}
	setDuration(&v.Startup, m.GetStartup())
	if c := m.GetSwitchingCost(); c != nil {
		v.SwitchUp, v.SwitchDown = c.GetUp(), c.GetDown()
	}
	if m.GetKvTransfer() != nil && v.Role == optimizer.Prefill {
		v.Transfer = transfer(m.GetKvTransfer())
	}
	if m.CapacityRps != nil {
		v.Replica, v.Capacity = nil, queueing.Rate(m.GetCapacityRps())
		return
	}
	applyEngine(m, v)
}

// applyEngine sets the profile and the limits of a replica. Without a profile those limits
// are all that is set.
func applyEngine(m *poolwrightv1.ReplicaOverlay, v *planner.Variant) {
	var r queueing.Replica
	if v.Replica != nil {
		r = *v.Replica
	}
	if m.GetProfile() != nil {
		r.Profile, r.Model = profile(m.GetProfile()), serviceModels[m.GetServiceModel()]
	}
	setInt(&r.MaxBatch, m.MaxBatch)
	set((*float64)(&r.KVCacheTokens), m.KvCacheTokens)
	set((*float64)(&r.MaxBatchedTokens), m.MaxBatchedTokens)
	set(&r.AcceptedTokens, m.SpeculativeAcceptedTokens)
	if m.MaxQueue != nil {
		r.MaxQueue = queueing.Waiting{Limited: true, Places: int(m.GetMaxQueue())}
	}
	if m.PrefillMode != nil {
		r.PrefillMode = prefillMode(m.GetPrefillMode())
	}
	if r != (queueing.Replica{}) {
		v.Replica = &r
	}
}

// ApplyWorkload sets what an entry says of a workload itself.
func ApplyWorkload(m *poolwrightv1.WorkloadOverlay, w *planner.Workload) {
	w.Model = cmp.Or(m.GetModel(), w.Model)
	w.ServiceClass = cmp.Or(m.GetServiceClass(), w.ServiceClass)
	setInt(&w.Priority, m.Priority)
	setInt(&w.Redundancy, m.Redundancy)
	setInt(&w.MinReplicas, m.MinReplicas)
	if m.MaxReplicas != nil {
		w.MaxReplicas = bound(m.MaxReplicas)
	}
	if m.GetSlo() != nil {
		w.SLO = slo(m.GetSlo())
	}
	var t translation
	if m.GetLoad() != nil {
		w.Shape, w.Shapes = t.shape(&poolwrightv1.Workload{Load: m.GetLoad()}, "")
	}
	if m.Mixing != nil {
		w.Mixing = mixing(m.GetMixing())
	}
	if m.UnmetPenaltyPerRps != nil {
		w.UnmetPenalty, w.Penalized = m.GetUnmetPenaltyPerRps(), true
	}
	switch {
	case m.Strategy == nil:
	case m.GetStrategy() != poolwrightv1.WorkloadOverlay_GREEDY_BATCHES:
		w.ExpansionRate = nil
	case w.ExpansionRate == nil:
		rate := greedy.DefaultExpansionRate
		w.ExpansionRate = &rate
	}
	if m.GetPolicy() != nil {
		w.Policy = t.policy(m.GetPolicy(), "")
	}
}
