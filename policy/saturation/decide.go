package saturation

import (
	"cmp"

	"github.com/poolwright/poolwright/policy"
)

// Replica is what a ready replica reports.
type Replica struct {
	// KVUsage is the share of the KV cache in use, in [0, 1].
	KVUsage float64
	// Waiting is the number of requests that wait, ≥ 0.
	Waiting float64
}

// Variant is one variant of a model, with unique name.
type Variant struct {
	Name string
	// Cost of a replica, relative to the other variants.
	Cost float64
	// MinReplicas are not gone below when replicas are removed. The last replica of a
	// variant is never removed.
	MinReplicas int
	// MaxReplicas are not gone beyond when replicas are added; 0 is no maximum.
	MaxReplicas int
	// Current is the number of replicas that there are, and Desired what was last decided;
	// 0 is that nothing was.
	Current, Desired int
	// Ready are the replicas that report.
	Ready []Replica
}

// Reason says why a model is scaled as it is.
type Reason int

const (
	_ Reason = iota
	// NoMetrics is that no replica reports; replicas stay.
	NoMetrics
	// InTransition is that replicas are still to come or to go; nothing else changes.
	InTransition
	// Enough is that replicas have enough to spare, and one fewer would not.
	Enough
	// SpareKVLow is that too little KV cache is to spare.
	SpareKVLow
	// SpareQueueLow is that queues are too long.
	SpareQueueLow
	// SpareAfterRemoval is that one replica fewer would have enough to spare.
	SpareAfterRemoval
	// AtMaximum is that more is asked for than any variant may have.
	AtMaximum
	// AtMinimum is that no variant may have less.
	AtMinimum
)

var reasons = policy.Words{
	NoMetrics:         {"NoMetrics", "no replica reports: replicas stay as they are"},
	InTransition:      {"InTransition", "replicas are still to come or to go"},
	Enough:            {"Enough", "replicas have enough to spare, and one fewer would not"},
	SpareKVLow:        {"SpareKVLow", "too little KV cache is to spare"},
	SpareQueueLow:     {"SpareQueueLow", "queues are too long"},
	SpareAfterRemoval: {"SpareAfterRemoval", "one replica fewer has enough to spare"},
	AtMaximum:         {"AtMaximum", "every variant has as many replicas as it may have"},
	AtMinimum:         {"AtMinimum", "no variant may have fewer replicas"},
}

// String returns the reason's name.
func (r Reason) String() string { return reasons.Name(int(r)) }

// Text says in words what the reason means.
func (r Reason) Text() string { return reasons.Text(int(r)) }

// Decision is what the analyzer wants of a model, and why.
type Decision struct {
	// Replicas are what to scale to, in the order of the variants.
	Replicas []int
	Reason   Reason
	// NonSaturated is the number of replicas that are not saturated, and SpareKV and
	// SpareQueue what these have to spare on average; 0 without any.
	NonSaturated        int
	SpareKV, SpareQueue float64
}

// Decide returns how many replicas the variants of a model shall have. The configuration
// must be valid. A variant of which no replica reports stays as it is, and does not keep
// others from changing.
func Decide(c *Config, variants []Variant) Decision {
	l := c.load(variants)
	d := Decision{NonSaturated: l.replicas}
	d.SpareKV, d.SpareQueue = c.spare(l, l.replicas)
	reporting, transition := false, false
	for i := range variants {
		v := &variants[i]
		d.Replicas = append(d.Replicas, v.target())
		reporting = reporting || len(v.Ready) > 0
		transition = transition || v.inTransition()
	}
	switch {
	case !reporting:
		d.Reason = NoMetrics
	case transition:
		d.Reason = InTransition
	case d.SpareKV < c.KVSpareTrigger:
		d.add(variants, SpareKVLow)
	case d.SpareQueue < c.QueueSpareTrigger:
		d.add(variants, SpareQueueLow)
	case c.removable(l):
		d.remove(variants)
	default:
		d.Reason = Enough
	}
	return d
}

// target is what the variant keeps: what was decided, where that is still to come.
func (v *Variant) target() int {
	if v.Desired != 0 {
		return v.Desired
	}
	return v.Current
}

// inTransition tells whether some replicas report, and others are to come or to go.
func (v *Variant) inTransition() bool {
	return len(v.Ready) > 0 && (len(v.Ready) != v.Current || v.target() != v.Current)
}

// load is that of the replicas that are not saturated.
type load struct {
	replicas  int
	kv, queue float64
}

func (c *Config) load(variants []Variant) load {
	var l load
	for i := range variants {
		for _, r := range variants[i].Ready {
			if r.KVUsage >= c.KVCacheThreshold || r.Waiting >= c.QueueLengthThreshold {
				continue
			}
			l.replicas++
			l.kv += r.KVUsage
			l.queue += r.Waiting
		}
	}
	return l
}

// spare is what so many replicas have to spare on average when they share a load; nothing
// without any.
func (c *Config) spare(l load, replicas int) (kv, queue float64) {
	if replicas == 0 {
		return 0, 0
	}
	n := float64(replicas)
	return c.KVCacheThreshold - l.kv/n, c.QueueLengthThreshold - l.queue/n
}

// removable tells whether the replicas that are not saturated have enough to spare with
// one of them fewer.
func (c *Config) removable(l load) bool {
	if l.replicas < 2 {
		return false
	}
	kv, queue := c.spare(l, l.replicas-1)
	return kv >= c.KVSpareTrigger && queue >= c.QueueSpareTrigger
}

// add gives the cheapest variant that may have more one replica; ties go to the first name.
func (d *Decision) add(variants []Variant, why Reason) {
	d.Reason = why
	best := -1
	for i := range variants {
		v := &variants[i]
		if v.MaxReplicas > 0 && v.Current >= v.MaxReplicas || len(v.Ready) == 0 {
			continue
		}
		if best < 0 || v.before(&variants[best]) {
			best = i
		}
	}
	if best < 0 {
		d.Reason = AtMaximum
		return
	}
	d.Replicas[best]++
}

// remove takes one replica of the dearest variant that may have less; ties go to the last
// name.
func (d *Decision) remove(variants []Variant) {
	d.Reason = SpareAfterRemoval
	worst := -1
	for i := range variants {
		v := &variants[i]
		if v.Current <= max(1, v.MinReplicas) {
			continue
		}
		if worst < 0 || variants[worst].before(v) {
			worst = i
		}
	}
	if worst < 0 {
		d.Reason = AtMinimum
		return
	}
	d.Replicas[worst]--
}

func (v *Variant) before(other *Variant) bool {
	return cmp.Or(cmp.Compare(v.Cost, other.Cost), cmp.Compare(v.Name, other.Name)) < 0
}
