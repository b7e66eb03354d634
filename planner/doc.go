// Package planner turns one snapshot into one explained decision.
//
// [Planner.Plan] is the whole pipeline, the same for a request, the control loop
// and a simulation: its stages stand in order in [New], and each appends a step
// to the trail of the decision, so that every number can be explained.
//
// [Planner.Explain] makes the same decision, and answers what a person asks next.
//
// The package is pure: values in, values out, no clock, no I/O. What it remembers
// from cycle to cycle is in [Memory], which goes in and comes out.
package planner
