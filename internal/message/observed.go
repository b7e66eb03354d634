package message

import (
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/poolwright/poolwright/calibration"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/queueing"
)

// Observed adds to a plan the latencies that were observed of its variants.
func Observed(plan *poolwrightv1.Plan, observations []planner.Observation) {
	type variant struct{ workload, name string }
	seen := make(map[variant]*poolwrightv1.ObservedLatency)
	for i := range observations {
		o := &observations[i]
		for j := range o.Variants {
			seen[variant{o.Workload, o.Variants[j].Variant}] = observedLatency(&o.Variants[j].Replica)
		}
	}
	for _, w := range plan.GetWorkloads() {
		for _, v := range w.GetVariants() {
			v.Observed = seen[variant{w.GetName(), v.GetName()}]
		}
	}
}

// observedLatency is nil where neither latency was observed.
func observedLatency(o *calibration.Observation) *poolwrightv1.ObservedLatency {
	if o.Window <= 0 || !o.TTFT.Known && !o.ITL.Known {
		return nil
	}
	return &poolwrightv1.ObservedLatency{
		Window: durationpb.New(o.Window.Duration()), Ttft: knownSeconds(o.TTFT), Itl: knownSeconds(o.ITL),
	}
}

// knownSeconds is nil for what is missing.
func knownSeconds(q calibration.Quantity) *durationpb.Duration {
	if !q.Known {
		return nil
	}
	return durationpb.New(queueing.Seconds(q.Value).Duration())
}
