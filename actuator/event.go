package actuator

import (
	"fmt"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/resource"
	"github.com/poolwright/poolwright/planner"
)

// Events tells what became of the changes of a cycle, on the objects that declare the
// workloads, for [Actuator.Publish].
func (a *Actuator) Events(e *controller.Entry) []resource.Event {
	dropped := make(map[[2]string]*controller.Drop, len(e.Dropped))
	for i := range e.Dropped {
		d := &e.Dropped[i]
		dropped[[2]string{d.Change.Workload, d.Change.Variant}] = d
	}
	var events []resource.Event
	for i := range e.Decision.Changes {
		c := &e.Decision.Changes[i]
		target, ok := a.config.Targets.Target(c.Workload, c.Variant)
		if !ok {
			continue
		}
		if d := dropped[[2]string{c.Workload, c.Variant}]; d != nil {
			events = append(events, resource.Event{
				Object: target.Declared(), Warning: true, Reason: "NotScaled",
				Message: fmt.Sprintf("%s stays at %d replicas instead of %d: %s", &target.Object, d.Found, c.To, d.Reason),
			})
			continue
		}
		events = append(events, carriedOut(&target, c))
	}
	return events
}

// carriedOut tells of a change by the mode of its target.
func carriedOut(target *resource.Target, c *planner.Change) resource.Event {
	reason, verb, series := "Scaled", "scaled", ""
	switch target.EffectiveMode() {
	case resource.Recommend:
		reason, verb = "Recommended", "should be scaled"
	case resource.DryRun:
		reason, verb = "DryRun", "would be scaled"
	case resource.Apply, resource.Off:
	}
	if reason != "Scaled" {
		// It is the same every cycle as long as nobody follows, but for the numbers in its reason.
		series = fmt.Sprintf("%s %d %d", &target.Object, c.From, c.To)
	}
	return resource.Event{
		Object: target.Declared(), Reason: reason, Series: series,
		Message: fmt.Sprintf("%s %s from %d to %d: %s", &target.Object, verb, c.From, c.To, c.Reason),
	}
}
