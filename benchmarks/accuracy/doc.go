// Accuracy measures how far the analytic model of package queueing is from
// measurements and from simulations, and writes what it finds as tables and plots.
//
// A study compares predictions with observations that the prediction has not seen.
// What is asked of it is a target; the program exits with status 1 when one is
// missed and lists those that were.
//
// Two kinds of observations are used: those that the repository makes itself, with
// the simulator of package simulation/replica, and third-party measurements from a
// folder outside the repository. Without the folder the second kind is left out.
// Of the third-party measurements only our own errors are ever written to a file.
package main
