package overlay

import (
	"cmp"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// defaultsOf are the configuration's defaults for what the objects don't say of a
// workload, but for its metrics.
func (o *Overlay) defaultsOf(w *resource.Workload) *poolwrightv1.WorkloadOverlay {
	d := &poolwrightv1.WorkloadOverlay{}
	if o.workloadDefaults == nil {
		return d
	}
	message.MergeWorkload(d, o.workloadDefaults)
	d.Metrics = nil
	if w.Model != "" {
		d.Model = ""
	}
	if w.ServiceClass != "" {
		d.ServiceClass = ""
	}
	drop(&d.Priority, w.Priority != 0)
	drop(&d.Slo, len(w.SLO.Limits) > 0)
	drop(&d.Load, w.Shape != (queueing.Shape{}) || len(w.Shapes) > 0)
	drop(&d.Mixing, w.Mixing != optimizer.Allowed)
	drop(&d.Redundancy, w.Redundancy != 0)
	drop(&d.MinReplicas, w.MinReplicas != 0)
	drop(&d.MaxReplicas, w.MaxReplicas.Limited)
	drop(&d.UnmetPenaltyPerRps, w.Penalized)
	drop(&d.Policy, w.Policy != (planner.Policy{}))
	drop(&d.Mode, w.Mode != "")
	drop(&d.TakeOver, w.TakeOver)
	return d
}

// defaultsOfReplicas are the configuration's defaults for what the objects don't say of
// the replicas of a variant.
func (o *Overlay) defaultsOfReplicas(v *resource.Variant) *poolwrightv1.ReplicaOverlay {
	d := &poolwrightv1.ReplicaOverlay{}
	if o.replicaDefaults == nil {
		return d
	}
	message.MergeReplica(d, o.replicaDefaults)
	if v.Accelerator != "" {
		d.Accelerator = ""
	}
	drop(&d.Devices, v.DevicesPerReplica != 0)
	drop(&d.Nodes, v.NodesPerReplica != 0)
	drop(&d.KvTransfer, v.Transfer != (queueing.Transfer{}))
	drop(&d.MinReplicas, v.MinReplicas != 0)
	drop(&d.MaxReplicas, v.MaxReplicas.Limited)
	drop(&d.PricePerReplicaHour, v.Priced)
	drop(&d.Startup, v.Startup != 0)
	drop(&d.SwitchingCost, v.SwitchUp != 0 || v.SwitchDown != 0)
	var r queueing.Replica
	if v.Replica != nil {
		r = *v.Replica
	}
	measured := r.Profile != (queueing.Profile{}) || v.Capacity != 0
	drop(&d.Profile, measured)
	drop(&d.ServiceModel, measured)
	drop(&d.CapacityRps, measured)
	drop(&d.MaxBatch, r.MaxBatch != 0)
	drop(&d.KvCacheTokens, r.KVCacheTokens != 0)
	drop(&d.MaxQueue, r.MaxQueue.Limited)
	drop(&d.PrefillMode, r.PrefillMode != queueing.Chunked)
	drop(&d.MaxBatchedTokens, r.MaxBatchedTokens != 0)
	drop(&d.SpeculativeAcceptedTokens, r.AcceptedTokens != 0)
	return d
}

// drop forgets a default where the objects say something.
func drop[T any](field **T, said bool) {
	if said {
		*field = nil
	}
}

// series is where the metrics of a workload are: as is said, as it is declared, or as the
// configuration has it by default.
func (o *Overlay) series(declared resource.Series, said *poolwrightv1.MetricSeries) resource.Series {
	byDefault := o.workloadDefaults.GetMetrics()
	s := resource.Series{
		Engine:     cmp.Or(said.GetEngine(), declared.Engine, byDefault.GetEngine()),
		ModelLabel: cmp.Or(said.GetModelLabel(), declared.ModelLabel, byDefault.GetModelLabel()),
		Port:       cmp.Or(int(said.GetPort()), declared.Port, int(byDefault.GetPort())),
		Path:       cmp.Or(said.GetPath(), declared.Path, byDefault.GetPath()),
		Parts:      declared.Parts,
	}
	for _, selector := range []map[string]string{said.GetSelector(), declared.Selector, byDefault.GetSelector()} {
		if s.Selector == nil {
			s.Selector = selector
		}
	}
	s.Gateway = cmp.Or(gateway(said.GetGateway()), declared.Gateway, gateway(byDefault.GetGateway()))
	if s.Port != 0 && s.Path == "" {
		s.Path = "/metrics"
	}
	return s
}

func gateway(m *poolwrightv1.GatewaySeries) *resource.Gateway {
	if m == nil {
		return nil
	}
	return &resource.Gateway{Selector: m.GetSelector(), ModelLabel: m.GetModelLabel()}
}
