// Package sweep simulates a fleet at every point of a grid of settings.
//
// A [Dimension] is a field of a simulation, named by its path, and the values that it takes;
// the grid is the product of the dimensions. Points are independent, so that a sweep may be
// cut into shards that different machines compute, and [Merge] makes of their results the
// very message that one machine would have made.
package sweep
