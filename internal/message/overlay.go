package message

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// OverlayFleet is what an overlay says of the fleet as a whole.
type OverlayFleet struct {
	Pools     []planner.Pool
	Objective planner.Objective
	Control   planner.Control
}

// Overlay checks an overlay, and translates what it says of the fleet as a whole. The error
// is of type [Violations] and names every mistake.
func Overlay(m *poolwrightv1.Overlay) (OverlayFleet, error) {
	t := translation{violations: validate(overlayValidator, m)}
	f := planner.Fleet{Objective: objective(m.GetObjective()), Control: t.control(m.GetControl())}
	for i, p := range m.GetPools() {
		f.Pools = append(f.Pools, t.pool(p, element("pools", i)))
	}
	t.indexPools(f.Pools)
	t.robustness(&poolwrightv1.Fleet{Objective: m.GetObjective()}, &f)
	t.accelerators(m.GetAccelerators())
	for i, model := range m.GetModels() {
		architecture(model.GetFacts(), element("models", i)+".facts", &t.violations)
	}
	for i, r := range m.GetReplicas() {
		t.replicaOverlay(r, element("replicas", i))
	}
	for i, w := range m.GetWorkloads() {
		t.workloadOverlay(w, element("workloads", i))
	}
	t.overlayDefaults(m)
	t.uniqueEntries(m)
	if len(t.violations) > 0 {
		return OverlayFleet{}, t.violations.sorted()
	}
	return OverlayFleet{Pools: f.Pools, Objective: f.Objective, Control: f.Control}, nil
}

// ReplicaOverlay checks an entry that stands by itself. The error is of type [Violations].
func ReplicaOverlay(m *poolwrightv1.ReplicaOverlay) error {
	t := translation{violations: validate(overlayValidator, m)}
	t.replicaOverlay(m, "")
	return t.violations.sorted().err()
}

// WorkloadOverlay checks an entry that stands by itself. The error is of type [Violations].
func WorkloadOverlay(m *poolwrightv1.WorkloadOverlay) error {
	t := translation{violations: validate(overlayValidator, m)}
	t.workloadOverlay(m, "")
	return t.violations.sorted().err()
}

// accelerators checks that a name means one accelerator.
func (t *translation) accelerators(ms []*poolwrightv1.AcceleratorOverlay) {
	seen := make(map[string]string)
	once := func(path, name string) {
		if first, ok := seen[name]; ok && name != "" {
			t.violations.add(path, "%q is %s too", name, first)
			return
		}
		seen[name] = path
	}
	for i, m := range ms {
		path := element("accelerators", i)
		t.printable(path, "name", m.GetName())
		once(path+".name", m.GetName())
		for k, alias := range m.GetAliases() {
			once(element(path+".aliases", k), alias)
		}
		if m.GetDevice() == nil {
			continue
		}
		if m.GetDevice().Count != nil {
			t.violations.add(path+".device.count", "it is that of the devices of a replica")
		}
		var f Facts
		var found Violations
		f.device(deviceOf(m.GetName(), m), poolwrightv1.ModelFacts_BF16, &found)
		for _, v := range found {
			t.violations.add(join(path, v.Path), "%s", v.Message)
		}
	}
}

func (t *translation) replicaOverlay(m *poolwrightv1.ReplicaOverlay, path string) {
	at := func(field string) string { return join(path, field) }
	if m.Profile != nil && m.CapacityRps != nil {
		t.violations.add(at("capacityRps"), "give either capacityRps or a profile")
	}
	if m.ServiceModel != nil && m.Profile == nil {
		t.violations.add(at("serviceModel"), "it belongs to a profile, and there is none")
	}
	if m.MinReplicas != nil {
		t.minMax(int(m.GetMinReplicas()), bound(m.MaxReplicas), path)
	}
	if m.Nodes != nil && m.Devices != nil && m.GetNodes() > m.GetDevices() {
		t.violations.add(at("nodes"), "%d nodes for %d devices", m.GetNodes(), m.GetDevices())
	}
	if m.GetAccelerator() != "" && m.GetMatch().GetAccelerator() != "" {
		t.violations.add(at("accelerator"), "the entry is for one already")
	}
	if m.Devices != nil && m.GetMatch().GetDevices() != 0 {
		t.violations.add(at("devices"), "the entry is for a number of them already")
	}
}

func (t *translation) workloadOverlay(m *poolwrightv1.WorkloadOverlay, path string) {
	at := func(field string) string { return join(path, field) }
	t.policy(m.GetPolicy(), at("policy"))
	if l := m.GetLoad(); l != nil {
		t.shape(&poolwrightv1.Workload{Load: l}, at("load"))
		if l.GetArrivalRate() != 0 {
			t.violations.add(at("load.arrivalRate"), "arrivals are measured")
		}
		if l.ArrivalRateUpper != nil {
			t.violations.add(at("load.arrivalRateUpper"), "arrivals are measured")
		}
		if l.GetInputTokens() > 0 && l.GetOutputTokens() < 1 {
			t.violations.add(at("load.outputTokens"), "with inputTokens it must be at least 1")
		}
	}
	if m.MinReplicas != nil {
		t.minMax(int(m.GetMinReplicas()), bound(m.MaxReplicas), path)
	}
	if m.GetModel() != "" && m.GetMatch().GetModel() != "" {
		t.violations.add(at("model"), "the entry is for one already")
	}
	if m.GetServiceClass() != "" && m.GetMatch().GetServiceClass() != "" {
		t.violations.add(at("serviceClass"), "the entry is for one already")
	}
}

// overlayDefaults checks what holds where nothing else is said.
func (t *translation) overlayDefaults(m *poolwrightv1.Overlay) {
	const match = "defaults are for all"
	if r := m.GetReplicaDefaults(); r != nil {
		t.replicaOverlay(r, "replicaDefaults")
		if r.GetMatch() != nil {
			t.violations.add("replicaDefaults.match", match)
		}
	}
	if w := m.GetWorkloadDefaults(); w != nil {
		t.workloadOverlay(w, "workloadDefaults")
		if w.GetMatch() != nil {
			t.violations.add("workloadDefaults.match", match)
		}
	}
}

// uniqueEntries checks that no two entries of a list are for the same: neither would be
// more specific.
func (t *translation) uniqueEntries(m *poolwrightv1.Overlay) {
	names := AcceleratorNames(m.GetAccelerators())
	models, replicas, workloads := make(map[string]int), make(map[string]int), make(map[string]int)
	for i, e := range m.GetModels() {
		t.unique(models, "models", i, []pattern{{"model", e.GetModel()}})
	}
	for i, e := range m.GetReplicas() {
		match := e.GetMatch()
		t.unique(replicas, "replicas", i, []pattern{
			{"match.namespace", match.GetNamespace()},
			{"match.workload", match.GetWorkload()},
			{"match.variant", match.GetVariant()},
			{"match.model", match.GetModel()},
			{"match.accelerator", names.Canonical(match.GetAccelerator())},
			{"match.devices", strconv.Itoa(int(match.GetDevices()))},
		})
	}
	for i, e := range m.GetWorkloads() {
		match := e.GetMatch()
		t.unique(workloads, "workloads", i, []pattern{
			{"match.namespace", match.GetNamespace()},
			{"match.name", match.GetName()},
			{"match.model", match.GetModel()},
			{"match.serviceClass", match.GetServiceClass()},
		})
	}
}

// pattern is what a field of an entry matches; empty and * match all.
type pattern struct{ field, text string }

// unique notes what an entry is for, and checks that none before it is for the same.
func (t *translation) unique(seen map[string]int, list string, i int, patterns []pattern) {
	key := ""
	for _, p := range patterns {
		if strings.Contains(strings.TrimSuffix(p.text, "*"), "*") {
			t.violations.add(join(element(list, i), p.field), "%q has a * elsewhere than at its end", p.text)
		}
		if p.text == "*" {
			p.text = ""
		}
		key += strconv.Quote(p.text)
	}
	if first, ok := seen[key]; ok {
		t.violations.add(element(list, i), "it is for the same as %s", element(list, first))
		return
	}
	seen[key] = i
}

// Names are accelerators by what else they are called.
type Names map[string]string

// AcceleratorNames are those of an overlay.
func AcceleratorNames(ms []*poolwrightv1.AcceleratorOverlay) Names {
	names := make(Names)
	for _, m := range ms {
		for _, alias := range m.GetAliases() {
			names[alias] = m.GetName()
		}
	}
	return names
}

// Canonical is the name of an accelerator that may be called otherwise.
func (n Names) Canonical(name string) string {
	if canonical, ok := n[name]; ok {
		return canonical
	}
	return name
}

// DeviceFacts are what is known of devices of an accelerator and of a model, for an
// estimate; nil where too little is known of the device. m is nil where the overlay says
// nothing of the accelerator.
func DeviceFacts(accelerator string, m *poolwrightv1.AcceleratorOverlay, devices int, model *poolwrightv1.ModelFacts) *Facts {
	var v Violations
	f := &Facts{Devices: devices, Model: architecture(model, "", &v)}
	f.Device = f.device(deviceOf(accelerator, m), precision(model), &v)
	if len(v) > 0 {
		return nil
	}
	return f
}

// deviceOf has the name of the accelerator where the overlay gives none.
func deviceOf(accelerator string, m *poolwrightv1.AcceleratorOverlay) *poolwrightv1.Device {
	if name := m.GetDevice().GetName(); name != "" {
		return m.GetDevice()
	}
	device := &poolwrightv1.Device{}
	if m.GetDevice() != nil {
		device = proto.CloneOf(m.GetDevice())
	}
	device.Name = accelerator
	return device
}
