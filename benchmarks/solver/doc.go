// Command solver measures package optimizer: processor time to a proven plan by
// kind and size of problem, growth, memory and time limits, greedy strategies beside
// the optimum, and CBC, GLPK and lp_solve on the same problems in the same run. It
// prints what it finds, and writes it as a page of the documentation if asked to.
package main
