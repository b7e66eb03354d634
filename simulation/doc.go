// Package simulation runs the production controller, or any other [Autoscaler], against an
// imagined fleet in virtual time.
//
// A [Cluster] serves single requests: replicas with a life, each iteration of which is that of
// package replica, pools of devices, a router, a gateway and what goes wrong. It is
// sequential, and deterministic by seed. Memory grows with what is inside at one moment,
// not with the length of the simulation.
//
// [Fluid] is the simplest fleet: demand is a rate that follows a curve over the day,
// served as a fluid by the replicas that have started.
package simulation
