package overlay

import (
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// Overlay is what the configuration says of a fleet. It is for one goroutine.
type Overlay struct {
	// Fleet is what it says of the fleet as a whole.
	Fleet message.OverlayFleet

	unknownCapacity  poolwrightv1.Overlay_UnknownCapacity
	names            message.Names
	accelerators     map[string]*poolwrightv1.AcceleratorOverlay
	models           entries[*poolwrightv1.ModelFacts]
	replicas         entries[*poolwrightv1.ReplicaOverlay]
	workloads        entries[*poolwrightv1.WorkloadOverlay]
	replicaDefaults  *poolwrightv1.ReplicaOverlay
	workloadDefaults *poolwrightv1.WorkloadOverlay
	annotations      annotations
}

// New takes an overlay. The error is of type [message.Violations] and names every mistake
// with its path.
func New(m *poolwrightv1.Overlay) (*Overlay, error) {
	fleet, err := message.Overlay(m)
	if err != nil {
		return nil, err
	}
	o := &Overlay{
		Fleet: fleet, unknownCapacity: m.GetUnknownCapacity(),
		names:           message.AcceleratorNames(m.GetAccelerators()),
		accelerators:    make(map[string]*poolwrightv1.AcceleratorOverlay),
		replicaDefaults: m.GetReplicaDefaults(), workloadDefaults: m.GetWorkloadDefaults(),
	}
	for _, a := range m.GetAccelerators() {
		o.accelerators[a.GetName()] = a
	}
	for _, e := range m.GetModels() {
		o.models.add(e.GetFacts(), e.GetModel())
	}
	for _, e := range m.GetReplicas() {
		o.replicas.add(e, o.replicaKey(e.GetMatch())...)
	}
	for _, e := range m.GetWorkloads() {
		match := e.GetMatch()
		o.workloads.add(e, match.GetName(), match.GetNamespace(), match.GetModel(), match.GetServiceClass())
	}
	o.models.sort()
	o.replicas.sort()
	o.workloads.sort()
	return o, nil
}

// Accelerator is the name of an accelerator type that nodes or resources may call
// otherwise.
func (o *Overlay) Accelerator(name string) string { return o.names.Canonical(name) }
