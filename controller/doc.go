// Package controller observes, plans, revalidates, acts.
//
// It owns the loop and the interfaces through which the loop sees and changes the
// world: [Catalog], [Observer] and [Actuator]. The decision itself is made by
// package planner.
package controller
