package llmaz

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/planner"
)

// Conditions of a workload that reading finds.
const (
	// FlavorsInseparable: an object has one number of replicas for several flavors.
	FlavorsInseparable = "FlavorsInseparable"
	// MinimumRaised: an object asks for a minimum of 0, which llmaz does not have.
	MinimumRaised = "MinimumRaised"
	// ScaleTriggerPresent: llmaz makes an autoscaler of its own for an object.
	ScaleTriggerPresent = "ScaleTriggerPresent"
	// ScaleTriggerInvalid: an autoscaler is declared that Kubernetes would not take.
	ScaleTriggerInvalid = "ScaleTriggerInvalid"
	// ScaleTriggersDiffer: of several declared autoscalers, one is followed.
	ScaleTriggersDiffer = "ScaleTriggersDiffer"
	// SpeculativeDecoding: a draft model runs beside the model.
	SpeculativeDecoding = "SpeculativeDecoding"
)

// workloads puts what serves a model in a namespace together.
func (r *reading) workloads() []resource.Workload {
	slices.SortFunc(r.deployments, func(a, b deployment) int {
		return cmp.Or(
			cmp.Compare(a.object.Namespace, b.object.Namespace), cmp.Compare(a.claim.model, b.claim.model),
			cmp.Compare(a.rank, b.rank), cmp.Compare(a.object.Name, b.object.Name),
		)
	})
	var all []resource.Workload
	var first *deployment
	for i := range r.deployments {
		d := &r.deployments[i]
		if first == nil || first.object.Namespace != d.object.Namespace || first.claim.model != d.claim.model {
			first = d
			all = append(all, d.workload())
		}
		if d.engine.name != first.engine.name || d.servedModel() != first.servedModel() {
			r.skip(d.object, flawed(ServedDifferently, "serves %s with %q as %q, but %s %s with %q as %q",
				d.claim.model, d.engine.name, d.servedModel(), first.object.Kind, first.object.Name, first.engine.name, first.servedModel()))
			continue
		}
		r.join(&all[len(all)-1], d)
	}
	return all
}

// workload is one without variants.
func (d *deployment) workload() resource.Workload {
	return resource.Workload{
		Workload: planner.Workload{Namespace: d.object.Namespace, Name: d.claim.model, Model: d.servedModel()},
		Object:   d.object,
		Series:   resource.Series{Engine: d.engine.name},
		// It is 1 where an object does not say it.
		MinimumDeclared: true,
	}
}

// servedModel is the model as requests name it: llmaz has engines serve it under the name
// of the OpenModel where arguments do not say otherwise.
func (d *deployment) servedModel() string {
	return cmp.Or(d.command.value(d.engine.served), d.claim.model)
}

// join adds a deployment to a workload.
func (r *reading) join(w *resource.Workload, d *deployment) {
	switch {
	case d.trigger == nil:
	case w.Policy.HPA == nil:
		w.Mode, w.Policy.HPA = resource.Recommend, d.trigger
	case !reflect.DeepEqual(w.Policy.HPA, d.trigger):
		d.note(ScaleTriggersDiffer, "OnePolicy", "has another scale trigger than the object before it, whose behavior is followed")
	}
	for _, c := range d.conditions {
		w.Conditions = resource.AddCondition(w.Conditions, c)
	}
	w.Declared = append(w.Declared, r.variant(d))
}

// variant is what a deployment is to its workload.
func (r *reading) variant(d *deployment) resource.Variant {
	v := resource.Variant{
		Variant: planner.Variant{
			Name:              d.object.Name,
			DevicesPerReplica: d.replicaDevices(),
			Replica:           d.engine.limits(d.command),
			MinReplicas:       int(d.bounds.min),
			CurrentReplicas:   d.replicas,
			Preference:        min(d.rank, planner.MaxPreference),
			ScaleTarget:       d.object.ScaleTarget(),
		},
		Accelerator: r.acceleratorOf(d),
		Target:      d.object, Object: d.object,
		StartupLimit: d.startup,
		// A replica is a group of LeaderWorkerSet, and as ready as its leader.
		Leaders: resource.Leaders(d.object.Name),
	}
	if d.bounds.max != nil {
		v.MaxReplicas = optimizer.Bound{Limited: true, Value: int(*d.bounds.max)}
	}
	if d.size > 1 {
		v.NodesPerReplica = d.size
	}
	return v
}

// replicaDevices are those of a replica, 0 where nothing says: of each pod as the first
// flavor says, which is the one that llmaz takes them from, else as containers do, else as
// many as layers are spread over.
func (d *deployment) replicaDevices() int {
	var preferred flavor
	if len(d.flavors) > 0 {
		preferred = d.flavors[0]
	}
	if n := resource.Devices(preferred.Limits); n > 0 {
		return n * d.size
	}
	if d.devices > 0 {
		return d.devices
	}
	return d.size * cmp.Or(preferred.parameter(tensorParallel), d.command.number(d.engine.tensor, mostDevices))
}

// acceleratorOf is the type of device that a deployment runs on. Which of several flavors
// its pods run on, only they can tell; without any it is the preferred one.
func (r *reading) acceleratorOf(d *deployment) string {
	if len(d.flavors) == 0 || len(d.flavors) > 1 && d.replicas > 0 {
		return d.product
	}
	return cmp.Or(r.accelerator(&d.flavors[0]), d.product)
}
