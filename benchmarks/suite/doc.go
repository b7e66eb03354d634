// Suite runs the parts of the benchmarks one after the other and writes the page of all of
// them.
//
// Every part is a program of its own, which leaves a report as JSON. The page is written
// from these, so that a part can be run again, alone. With -quick the parts measure shortly, no
// page is written, and the program exits with status 1 when a ratio is far below what it was.
package main
