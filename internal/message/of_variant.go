package message

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

func ofVariant(f *planner.Fleet, v *planner.Variant) *poolwrightv1.Variant {
	devices, nodes := count(v.DevicesPerReplica), count(v.NodesPerReplica)
	m := &poolwrightv1.Variant{
		Name: v.Name, DevicesPerReplica: &devices, NodesPerReplica: &nodes, Role: ofRole(v.Role),
		CapacityRps: float64(v.Capacity), MinReplicas: count(v.MinReplicas), MaxReplicas: ofBound(v.MaxReplicas),
		CurrentReplicas: count(v.CurrentReplicas), StartingReplicas: count(v.StartingReplicas),
		LeavingReplicas: count(v.LeavingReplicas), Startup: durationpb.New(v.Startup),
		Preference: count(v.Preference),
	}
	for _, p := range v.Pools {
		m.Pools = append(m.Pools, f.Pools[p].Name)
	}
	for _, n := range v.PoolReplicas {
		m.PoolReplicas = append(m.PoolReplicas, count(n))
	}
	if v.Priced {
		m.PricePerReplicaHour = &v.PricePerReplicaHour
	}
	if v.SwitchUp != 0 || v.SwitchDown != 0 {
		m.SwitchingCost = &poolwrightv1.SwitchingCost{Up: v.SwitchUp, Down: v.SwitchDown}
	}
	if s := v.ScaleTarget; s != (planner.ScaleTarget{}) {
		m.ScaleTarget = ofTarget(s)
	}
	if t := v.Transfer; t != (queueing.Transfer{}) {
		m.KvTransfer = &poolwrightv1.KVTransfer{
			Base: durationpb.New(t.Base.Duration()), PerToken: durationpb.New(t.PerToken.Duration()),
		}
	}
	if v.Replica != nil {
		ofReplica(v.Replica, m)
	}
	return m
}

func ofTarget(s planner.ScaleTarget) *poolwrightv1.ScaleTarget {
	return &poolwrightv1.ScaleTarget{ApiVersion: s.APIVersion, Kind: s.Kind, Name: s.Name}
}

func ofRole(phase optimizer.Phase) poolwrightv1.Variant_Role {
	switch phase {
	case optimizer.Prefill:
		return poolwrightv1.Variant_PREFILL
	case optimizer.Decode:
		return poolwrightv1.Variant_DECODE
	case optimizer.Whole:
	}
	return poolwrightv1.Variant_UNIFIED
}

// ofReplica fills in what a profile goes with.
func ofReplica(r *queueing.Replica, m *poolwrightv1.Variant) {
	batch := count(r.MaxBatch)
	m.Profile = profileMessage(r.Profile)
	m.MaxBatch = &batch
	for model, x := range serviceModels {
		if x == r.Model {
			m.ServiceModel = poolwrightv1.Variant_ServiceModel(model)
		}
	}
	for _, field := range []struct {
		value float64
		to    **float64
	}{
		{float64(r.KVCacheTokens), &m.KvCacheTokens},
		{float64(r.MaxBatchedTokens), &m.MaxBatchedTokens},
		{r.AcceptedTokens, &m.SpeculativeAcceptedTokens},
	} {
		if field.value > 0 {
			*field.to = &field.value
		}
	}
	if r.MaxQueue.Limited {
		places := count(r.MaxQueue.Places)
		m.MaxQueue = &places
	}
	if r.PrefillMode == queueing.Blocking {
		m.PrefillMode = poolwrightv1.Variant_BLOCKING
	}
}
