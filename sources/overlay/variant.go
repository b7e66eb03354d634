package overlay

import (
	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/optimizer"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// variant completes a variant; false if it has to be left out.
func (c *completion) variant(w *resource.Workload, v *resource.Variant, annotated *poolwrightv1.ReplicaOverlay, notes *conditions) bool {
	said := c.ofReplicas(w, v, annotated)
	w.MinimumDeclared = w.MinimumDeclared || said.MinReplicas != nil
	if on, _ := c.identity(v, said); on == "" && v.Assumed != "" {
		v.Accelerator = v.Assumed
		said = c.ofReplicas(w, v, annotated)
		notes.add(resource.AcceleratorAssumed, "nothing says what type of device %s runs on: %s is assumed, the only one that nodes have", v.Name, c.Accelerator(v.Assumed))
	}
	v.Accelerator, _ = c.identity(v, said)
	if v.Accelerator == "" {
		notes.add(AcceleratorUnknown, "nothing says what type of device %s runs on: it is left out of the plan, and not scaled", v.Name)
		return false
	}
	barred := v.Target.Name == "" || v.MaxReplicas.Limited && v.MaxReplicas.Value == 0
	message.ApplyReplica(said, &v.Variant)
	if barred {
		// There is nothing to scale, whatever is said.
		v.MinReplicas, v.MaxReplicas = 0, optimizer.Bound{Limited: true}
	}
	v.NodesPerReplica = max(1, v.NodesPerReplica)
	bounds(v.MinReplicas, &v.MaxReplicas, v.Name, notes)
	if v.DevicesPerReplica < 1 || v.DevicesPerReplica > mostDevices {
		v.DevicesPerReplica, v.Replica, v.Capacity = 1, nil, 0
		v.MinReplicas, v.MaxReplicas = v.CurrentReplicas, optimizer.Bound{Limited: true, Value: v.CurrentReplicas}
		notes.add(DevicesUnknown, "nothing says how many devices a replica of %s occupies: it counts as one, and is not scaled", v.Name)
	} else {
		c.perform(w, v, notes)
	}
	v.NodesPerReplica = min(v.NodesPerReplica, v.DevicesPerReplica)
	v.Pools = c.place(v, said.Pools, notes)
	return true
}

// mostDevices of a replica are believed.
const mostDevices = 1_000_000

// perform sees to it that what is known of a replica can be used: a profile, measured or
// estimated, that is in its range, or a capacity. Else nothing is known.
func (c *completion) perform(w *resource.Workload, v *resource.Variant, notes *conditions) {
	var r queueing.Replica
	if v.Replica != nil {
		r = *v.Replica
	}
	v.Replica = nil
	if r.Profile == (queueing.Profile{}) && (v.Capacity > 0 || !c.estimate(w, v, &r, notes)) {
		return
	}
	if err := c.check(r); err != nil {
		notes.add(ProfileInvalid, "%s: %v", v.Name, err)
		return
	}
	v.Replica, v.Capacity = &r, 0
}

// check tells what is wrong with a replica, if anything is.
func (c *completion) check(r queueing.Replica) error {
	err, known := c.checked[r]
	if !known {
		_, err = queueing.NewStation(r, queueing.Shape{OutputTokens: 1})
		c.checked[r] = err
	}
	return err
}

// estimate sets the profile that follows from facts; false where they are not known.
func (c *completion) estimate(w *resource.Workload, v *resource.Variant, r *queueing.Replica, notes *conditions) bool {
	if r.Model != queueing.ContinuousBatching {
		return false
	}
	for model := range c.models.matching(w.Model) {
		facts := message.DeviceFacts(v.Accelerator, c.accelerators[v.Accelerator], v.DevicesPerReplica, model)
		if facts == nil {
			return false
		}
		guess, err := calibration.FirstPrinciples(facts.Device, facts.Devices, facts.Model)
		if err != nil {
			notes.add(ProfileInvalid, "%s has none, and it can't be estimated: %v", v.Name, err)
			return false
		}
		r.Profile = guess.Profile
		if r.KVCacheTokens == 0 {
			r.KVCacheTokens = guess.KVCacheTokens
		}
		notes.add(ProfileEstimated, "%s: nobody measured its profile: it follows from facts about device and model; coefficients may be off by a factor of 2 to 10, latencies, their sums, by less", v.Name)
		return true
	}
	return false
}
