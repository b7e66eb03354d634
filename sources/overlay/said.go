package overlay

import (
	"cmp"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/resource"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// onObjects is what the annotations on all objects of a workload say together.
type onObjects struct {
	workload *poolwrightv1.WorkloadOverlay
	replicas []*poolwrightv1.ReplicaOverlay // by variant
	// by is the object with the annotation for each field of workload.
	by   map[protoreflect.FieldNumber]resource.Reference
	read map[objectName]bool
	// declares the workload: notes are on it.
	declares resource.Reference
	notes    *conditions
}

// onObjects reads the annotations of a workload: first those of the object that declares
// it, then of the objects of the variants, of which the one that is scaled comes first.
func (c *completion) onObjects(w *resource.Workload, notes *conditions) *onObjects {
	says := &onObjects{
		workload: &poolwrightv1.WorkloadOverlay{},
		by:       make(map[protoreflect.FieldNumber]resource.Reference), read: make(map[objectName]bool),
		declares: w.Object, notes: notes,
	}
	ofVariant := false
	for j := range w.Declared {
		v := &w.Declared[j]
		ofVariant = ofVariant || nameOf(w.Object) == nameOf(v.Target) || nameOf(w.Object) == nameOf(v.Object)
	}
	says.add(c.annotations.of(c.view, w.Object, ofVariant), w.Object)
	for j := range w.Declared {
		replica := &poolwrightv1.ReplicaOverlay{}
		for _, r := range [...]resource.Reference{w.Declared[j].Target, w.Declared[j].Object} {
			if a := c.annotations.of(c.view, r, true); a != nil {
				says.add(a, r)
				message.MergeReplica(replica, a.replica)
			}
		}
		says.replicas = append(says.replicas, replica)
	}
	return says
}

// add takes over what an object says of the workload where no object before says it.
func (s *onObjects) add(a *annotated, r resource.Reference) {
	if a == nil || s.read[nameOf(r)] {
		return
	}
	s.read[nameOf(r)] = true
	where := ""
	if nameOf(r) != nameOf(s.declares) {
		where = r.String() + ": "
	}
	for _, mistake := range a.mistakes {
		s.notes.add(AnnotationInvalid, "%s%s", where, mistake)
	}
	first, this := s.workload.ProtoReflect(), a.workload.ProtoReflect()
	for i := range this.Descriptor().Fields().Len() {
		switch f := this.Descriptor().Fields().Get(i); {
		case !this.Has(f):
		case !first.Has(f):
			s.by[f.Number()] = r
		case !first.Get(f).Equal(this.Get(f)):
			s.notes.add(AnnotationInvalid, "%s%s%s: %v says otherwise, and counts", where, resource.AnnotationDomain, annotationName(f), s.by[f.Number()])
		}
	}
	message.MergeWorkload(s.workload, a.workload)
}

// ofWorkload is all that is said of a workload, but for where the metrics are by default.
func (c *completion) ofWorkload(w *resource.Workload, annotated *poolwrightv1.WorkloadOverlay) *poolwrightv1.WorkloadOverlay {
	defaults := c.defaultsOf(w)
	merged := func(model, class string) *poolwrightv1.WorkloadOverlay {
		m := &poolwrightv1.WorkloadOverlay{}
		message.MergeWorkload(m, annotated)
		for e := range c.workloads.matching(w.Name, w.Namespace, model, class) {
			message.MergeWorkload(m, e)
		}
		message.MergeWorkload(m, defaults)
		return m
	}
	model, class := cmp.Or(annotated.Model, w.Model), cmp.Or(annotated.ServiceClass, w.ServiceClass)
	m := merged(model, class)
	if to, of := cmp.Or(m.Model, w.Model), cmp.Or(m.ServiceClass, w.ServiceClass); to != model || of != class {
		m = merged(to, of)
		m.Model, m.ServiceClass = to, of
	}
	return m
}

// ofReplicas is all that is said of the replicas of a variant.
func (c *completion) ofReplicas(w *resource.Workload, v *resource.Variant, annotated *poolwrightv1.ReplicaOverlay) *poolwrightv1.ReplicaOverlay {
	defaults := c.defaultsOfReplicas(v)
	merged := func(accelerator, devices string) *poolwrightv1.ReplicaOverlay {
		m := &poolwrightv1.ReplicaOverlay{}
		message.MergeReplica(m, annotated)
		for e := range c.replicas.matching(w.Name, w.Namespace, v.Name, w.Model, accelerator, devices) {
			message.MergeReplica(m, e)
		}
		message.MergeReplica(m, defaults)
		return m
	}
	accelerator, devices := c.identity(v, annotated)
	m := merged(accelerator, devices)
	if on, of := c.identity(v, m); on != accelerator || of != devices {
		identity := m
		m = merged(on, of)
		m.Accelerator, m.Devices = identity.Accelerator, identity.Devices
	}
	return m
}

// identity is what replicas run on: as is said of them, else as they are declared.
func (c *completion) identity(v *resource.Variant, said *poolwrightv1.ReplicaOverlay) (accelerator, devices string) {
	n := v.DevicesPerReplica
	if said.Devices != nil {
		n = int(said.GetDevices())
	}
	if n > 0 {
		devices = strconv.Itoa(n)
	}
	return c.Accelerator(cmp.Or(said.GetAccelerator(), v.Accelerator)), devices
}
