// Package simulation runs the production controller against an imagined fleet.
//
// [Fluid] is the simplest such fleet: demand is a rate that follows a curve over
// the day, served as a fluid by the replicas that have started. It implements the
// controller's interfaces in virtual time.
package simulation
