// Package scenario tells stories of fleets, to test the loop by: a [Script] reads
// commands, one a line, that declare a fleet, move its demand and its time, and break
// things; it answers with what the loop did about it, and why.
//
// The loop is the production controller. The world around it is a [Cluster] in virtual
// time, in which replicas take devices, start, serve, terminate and get lost.
// After every cycle the script holds the loop to rules that no story may break: see
// [Check].
//
// docs/scenarios.md has the commands and a list of the stories.
package scenario
