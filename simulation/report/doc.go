// Package report writes what became of simulated fleets for other programs and for people.
package report
