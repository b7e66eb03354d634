// Package instance draws allocation problems that resemble real fleets: for
// benchmarks, for tests against other solvers and for examples.
//
// Models of several sizes run on accelerators of several prices, with as many
// devices per replica as their weights need and sometimes more. Demand is
// heavy-tailed: most workloads need one or two replicas, a few need hundreds. What
// makes a problem hard is how the pools compare with what the demand would use of
// them if they were unlimited; the [Kind] says that. Equal [Params] give equal
// problems.
package instance
