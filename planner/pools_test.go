package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/poolwright/poolwright/planner"
	"github.com/poolwright/poolwright/policy"
)

// twoZones is a workload whose variant may run in two pools of 4 devices.
func twoZones() planner.Fleet {
	v := declared("chat", 0, 1)
	v.Pools = []int{0, 1}
	f := twoPools(0, v)
	f.Pools[0].Capacity, f.Pools[1].Capacity = atMost(4), atMost(4)
	return f
}

// What leaves is not where the others are.
func TestLeavingReplicasHoldDevicesOfSomePool(t *testing.T) {
	f := twoZones()
	f.Workloads[0].Variants[0].CurrentReplicas, f.Workloads[0].Variants[0].LeavingReplicas = 4, 4
	l := newLoop(t, f)
	d := l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
	assert.Empty(t, d.Changes, "all 8 devices are in use")
	l.variant("prod/chat", "chat").LeavingReplicas = 1
	d = l.cycle(chat(planner.Observation{ArrivalRate: rate(8)}))
	assert.Equal(t, []string{"chat 4→7"}, changes(&d))
}

// A variant of one pool finds the devices there that one of two pools need not hold.
func TestVariantsOfFewPoolsAreThere(t *testing.T) {
	for _, first := range []int{0, 1} {
		f := twoZones()
		other := f.Workloads[0]
		other.Name, other.Variants = "batch", []planner.Variant{declared("batch", first, 1)}
		f.Workloads = append(f.Workloads, other)
		f.Workloads[0].Variants[0].CurrentReplicas, f.Workloads[1].Variants[0].CurrentReplicas = 4, 3
		l := newLoop(t, f)
		d := l.cycle(demands(4, 4)...)
		assert.Equal(t, []string{"batch 3→4"}, changes(&d))
	}
}

// A replica of more devices than one cycle adds is added alone; where none may be added,
// none is.
func TestDevicesPerCycleAllowOneReplica(t *testing.T) {
	large := declared("chat-h100", 0, 1)
	large.DevicesPerReplica = 4
	l := newLoop(t, twoPools(0, large))
	l.fleet.Control.DevicesPerCycle = atMost(3)
	for _, want := range []string{"chat-h100 0→1", "chat-h100 1→2"} {
		d := l.cycle(chat(planner.Observation{ArrivalRate: rate(2)}))
		assert.Equal(t, []string{want}, changes(&d))
	}
	l = newLoop(t, twoPools(0, large))
	l.fleet.Control.DevicesPerCycle = atMost(0)
	d := l.cycle(chat(planner.Observation{ArrivalRate: rate(2)}))
	assert.Empty(t, d.Changes)
	assert.Contains(t, d.Plans[0].Conditions[0].Message, "the devices that one cycle may add are used up")
}

// Replicas that could run in either pool leave the one that a more important workload
// needs, although their number is to stay. They may be any: as many go as it takes.
func TestMoreImportantWorkloadGetsItsPool(t *testing.T) {
	f := twoZones()
	f.Control.Policy = planner.Policy{Native: &policy.Native{ScaleDownWindow: new(time.Duration)}}
	important := f.Workloads[0]
	important.Name, important.Variants = "zonal", []planner.Variant{declared("zonal", 1, 1)}
	f.Workloads[0].Priority = 2
	f.Workloads = append(f.Workloads, important)
	v := &f.Workloads[0].Variants[0]
	v.CurrentReplicas, v.PoolReplicas = 4, []int{0, 4}
	l := newLoop(t, f)
	observe := []planner.Observation{
		{Workload: "prod/chat", ArrivalRate: rate(4)}, {Workload: "prod/zonal", ArrivalRate: rate(2)},
	}
	d := l.cycle(observe...)
	assert.Equal(t, []string{"chat 4→3"}, changes(&d))
	assert.Contains(t, d.Changes[0].Reason, "makes room for another workload")
	assert.Contains(t, d.Changes[0].InWords(), "makes room for another workload (prod/zonal)")
	assert.Equal(t, "prod/zonal", d.Trail[len(d.Trail)-1].Other)
}
