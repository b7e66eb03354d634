// Simulation measures how fast package simulation is, and how much memory it needs.
//
// Speed is in requests per second of processor time, on whatever machine it runs, and
// beside that of a replica alone in the same run. The program exits with status 1 when a
// target is missed.
package main
