package llmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// Types of the conditions that reading finds.
const (
	// DevicesDiffer: an object and the pods of its target disagree on the devices of a replica.
	DevicesDiffer = "DevicesDiffer"
	// PriceInvalid: the price of an accelerator is given and can't be read.
	PriceInvalid = "PriceInvalid"
)

// vLLM is the engine whose metrics the family reads.
const vLLM = "vllm"

// workload is what declarations of one model in one class say, the oldest first. Several
// are used together: each has been deployed beside the others. Each by itself is on one
// accelerator at a time, since only that one may have replicas.
func (s *survey) workload(declarations []*declaration) resource.Workload {
	first := declarations[0]
	w := resource.Workload{
		Workload: planner.Workload{
			Namespace: first.GetNamespace(), Name: first.GetName(),
			Model: first.spec.ModelID,
		},
		Object: resource.ReferenceTo(first.Unstructured),
		Series: resource.Series{Engine: vLLM},
		// With llm-d the last replica stays, gateway or not, unless something is said.
		MinimumDeclared: true,
	}
	if c := first.class; c != nil {
		w.ServiceClass, w.Priority, w.SLO = c.name, c.priority, c.slo
	}
	bounded, missing := s.config.ScaleToZero, true
	for _, d := range declarations {
		bounded = bounded || d.spec.MinReplicas != nil
		missing = missing && d.target.missing
		s.addVariants(&w, d)
	}
	if !bounded && !missing {
		w.MinReplicas = 1
	}
	return w
}

// addVariants adds the accelerator in use, then the others.
func (s *survey) addVariants(w *resource.Workload, d *declaration) {
	t := d.target
	inUse := d.profileOf(t.accelerator)
	inUse.devices = cmp.Or(inUse.devices, t.Devices)
	v := s.variant(w, d, inUse)
	v.Product = cmp.Or(t.Product, v.Product)
	v.Target = resource.ReferenceTo(t.Unstructured)
	v.ScaleTarget = resource.ReferenceTo(t.Unstructured).ScaleTarget()
	v.Leaders, v.CurrentReplicas, v.NodesPerReplica = t.Leaders, t.Replicas, t.Nodes
	setDevices(w, &v, t)
	if v.MinReplicas, v.MaxReplicas = d.minReplicas, d.maxReplicas; t.missing {
		v.MinReplicas, v.MaxReplicas = 0, optimizer.Bound{Limited: true}
	}
	if d.priced {
		v.PricePerReplicaHour, v.Priced = d.cost/s.config.CostUnits, true
	}
	w.Declared = append(w.Declared, v)
	if t.assumed {
		w.Conditions = resource.AddCondition(w.Conditions, resource.Condition{
			Type: resource.AcceleratorAssumed, Status: resource.True, Reason: resource.AcceleratorAssumed,
			Message: fmt.Sprintf("%v: no label, node selector or ready pod of %v tells the accelerator; %s is assumed",
				v.Object, v.Target, t.accelerator),
		})
	}
	for _, p := range d.profiles {
		if p.accelerator != t.accelerator {
			v := s.variant(w, d, p)
			v.MaxReplicas = optimizer.Bound{Limited: true}
			w.Declared = append(w.Declared, v)
		}
	}
}

// setDevices sets those that a replica of the target occupies: what its pods ask for, if
// they ask for any.
func setDevices(w *resource.Workload, v *resource.Variant, t *target) {
	if t.Devices == 0 || t.Devices == v.DevicesPerReplica {
		return
	}
	w.Conditions = resource.AddCondition(w.Conditions, resource.Condition{
		Type: DevicesDiffer, Status: resource.True, Reason: DevicesDiffer,
		Message: fmt.Sprintf("%v: accCount of %s is %d, and the pods of %v ask for %d, which counts",
			v.Object, v.Accelerator, v.DevicesPerReplica, v.Target, t.Devices),
	})
	v.DevicesPerReplica = t.Devices
}

// variant is what an object says of an accelerator, whether in use or not.
func (s *survey) variant(w *resource.Workload, d *declaration, p profile) resource.Variant {
	unit := s.unitPrices(d.GetNamespace()).prices[p.accelerator]
	v := resource.Variant{
		Variant:     planner.Variant{Name: variantName(d.object, p.accelerator), DevicesPerReplica: p.devices, Replica: p.replica},
		Accelerator: p.accelerator, Product: unit.device,
		Object: resource.ReferenceTo(d.Unstructured),
	}
	if unit.known && p.devices > 0 {
		v.PricePerReplicaHour, v.Priced = unit.cost*float64(p.devices)/s.config.CostUnits, true
	}
	if unit.wrong != "" {
		w.Conditions = resource.AddCondition(w.Conditions, resource.Condition{
			Type: PriceInvalid, Status: resource.True, Reason: PriceInvalid, Message: unit.wrong,
		})
	}
	return v
}

// variantName is object/accelerator; the object's where no accelerator is known.
func variantName(o *object, accelerator string) string {
	return strings.TrimSuffix(o.GetName()+"/"+accelerator, "/")
}
