package llmd

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
)

// autoscalingSpec is what is read of a VariantAutoscaling, in any of its shapes.
type autoscalingSpec struct {
	ModelID        string       `json:"modelID"`
	SLOClassRef    *keyRef      `json:"sloClassRef"`
	ModelProfile   modelProfile `json:"modelProfile"`
	ScaleTargetRef *targetRef   `json:"scaleTargetRef"`
	VariantCost    number       `json:"variantCost"`
	MinReplicas    *int64       `json:"minReplicas"`
	MaxReplicas    *int64       `json:"maxReplicas"`
}

// keyRef names a key of a ConfigMap.
type keyRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type targetRef struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

type modelProfile struct {
	Accelerators []acceleratorProfile `json:"accelerators"`
}

// acceleratorProfile has its coefficients beside the accelerator, or in PerfParms.
type acceleratorProfile struct {
	Acc          string     `json:"acc"`
	AccCount     *int64     `json:"accCount"`
	Alpha        number     `json:"alpha"`
	Beta         number     `json:"beta"`
	PerfParms    *perfParms `json:"perfParms"`
	MaxBatchSize *int64     `json:"maxBatchSize"`
}

type perfParms struct {
	DecodeParms struct {
		Alpha number `json:"alpha"`
		Beta  number `json:"beta"`
	} `json:"decodeParms"`
	PrefillParms struct {
		Gamma number `json:"gamma"`
		Delta number `json:"delta"`
	} `json:"prefillParms"`
}

// object is a VariantAutoscaling.
type object struct {
	*unstructured.Unstructured
	spec     autoscalingSpec
	profiles []profile
	// cost of a replica, in the units of the family; it counts when priced.
	cost   float64
	priced bool
	// minReplicas and maxReplicas are of the target.
	minReplicas int
	maxReplicas optimizer.Bound
}

// profile is what an object says of one accelerator.
type profile struct {
	accelerator string
	devices     int
	// replica is nil where the coefficients are all 0: not fitted yet.
	replica *queueing.Replica
}

// Limits of what makes sense. They exclude mistaken units and overflow, not machines.
const (
	mostDevices  = 1e6
	mostReplicas = 1e6
	mostCost     = 1e12
)

// decode reads the spec of an object. The error has all that is wrong with it.
func decode(u *unstructured.Unstructured) (*object, error) {
	var from struct {
		Spec autoscalingSpec `json:"spec"`
	}
	if err := resource.Decode(u, &from); err != nil {
		return nil, err
	}
	o := &object{Unstructured: u, spec: from.Spec}
	var m mistakes
	if o.spec.ModelID == "" {
		m.add("spec.modelID", "is missing")
	}
	if o.spec.ScaleTargetRef == nil && len(o.spec.ModelProfile.Accelerators) == 0 {
		m.add("spec", "has neither modelProfile.accelerators nor scaleTargetRef")
	}
	o.readProfiles(&m)
	o.cost, o.priced = m.value("spec.variantCost", o.spec.VariantCost, mostCost), o.spec.VariantCost.given()
	o.readBounds(&m)
	return o, m.orNil()
}

func (o *object) readProfiles(m *mistakes) {
	given := make(map[string]bool)
	for i := range o.spec.ModelProfile.Accelerators {
		a := &o.spec.ModelProfile.Accelerators[i]
		path := fmt.Sprintf("spec.modelProfile.accelerators[%d]", i)
		switch {
		case a.Acc == "":
			m.add(path+".acc", "is missing")
		case given[a.Acc]:
			m.add(path+".acc", "%q is given twice", a.Acc)
		}
		given[a.Acc] = true
		o.profiles = append(o.profiles, profile{
			accelerator: a.Acc,
			devices:     m.count(path+".accCount", a.AccCount, 1, mostDevices),
			replica:     a.replica(path, m),
		})
	}
}

func (o *object) readBounds(m *mistakes) {
	o.minReplicas = m.count("spec.minReplicas", o.spec.MinReplicas, 0, mostReplicas)
	o.maxReplicas.Limited = o.spec.MaxReplicas != nil
	o.maxReplicas.Value = m.count("spec.maxReplicas", o.spec.MaxReplicas, 0, mostReplicas)
	if o.maxReplicas.Limited && o.minReplicas > o.maxReplicas.Value {
		m.add("spec.minReplicas", "%d is more than maxReplicas, %d", o.minReplicas, o.maxReplicas.Value)
	}
}

// waitingPerPlace is the number of waiting places per place in the batch in the family's
// model with prefill.
const waitingPerPlace = 10

// replica is of the family's first model where the coefficients stand beside the
// accelerator, and of its model with prefill where they are in perfParms.
func (a *acceleratorProfile) replica(path string, m *mistakes) *queueing.Replica {
	r := queueing.Replica{Model: queueing.LLMDV0, MaxBatch: m.count(path+".maxBatchSize", a.MaxBatchSize, 1, queueing.MaxBatchLimit)}
	alpha, beta, at := a.Alpha, a.Beta, path
	if p := a.PerfParms; p != nil {
		alpha, beta, at = p.DecodeParms.Alpha, p.DecodeParms.Beta, path+".perfParms.decodeParms"
		r.Model = queueing.LLMDV1
		r.MaxQueue = queueing.Waiting{Limited: true, Places: waitingPerPlace * r.MaxBatch}
		r.Profile.Gamma = m.seconds(path+".perfParms.prefillParms.gamma", p.PrefillParms.Gamma)
		r.Profile.Delta = m.seconds(path+".perfParms.prefillParms.delta", p.PrefillParms.Delta)
	}
	r.Profile.Alpha = m.seconds(at+".alpha", alpha)
	r.Profile.Beta = m.seconds(at+".beta", beta)
	if r.Profile == (queueing.Profile{}) {
		return nil
	}
	if a.MaxBatchSize == nil {
		m.add(path+".maxBatchSize", "is missing")
	}
	return &r
}

// hasPrefill tells whether the status has times to the first token and lengths of prompts,
// as that of objects with perfParms, in place of the wait.
func (o *object) hasPrefill() bool {
	for i := range o.spec.ModelProfile.Accelerators {
		if o.spec.ModelProfile.Accelerators[i].PerfParms != nil {
			return true
		}
	}
	return false
}

// profileOf is what the object says of an accelerator; without a profile nothing.
func (o *object) profileOf(accelerator string) profile {
	for _, p := range o.profiles {
		if p.accelerator == accelerator {
			return p
		}
	}
	return profile{accelerator: accelerator}
}
