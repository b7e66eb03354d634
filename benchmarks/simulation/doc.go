// Simulation measures how fast package simulation is, how much memory it needs, and how both
// grow with the fleet and with the trace.
//
// Speed is in requests per second of processor time, on whatever machine it runs, and
// beside that of a replica alone in the same run. Every simulation has a process of its own,
// so that its memory can be told. The program exits with status 1 when a target is missed.
package main
