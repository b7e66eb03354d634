// Command queueing compares package queueing with the formulation that it
// replaces, package baseline, and prints a page of tables.
//
// Both sides get the same replicas, arrival rates and objectives, and their answers
// must be equal before anything is timed. They are timed in turn, so that whatever
// else the machine does slows both; what counts is the ratio.
package main
