// Package sources is where the problem is declared: it reads fleets from what
// declares them.
//
// [ReadFleet] reads a file: Poolwright's own format, or the system description of
// the inferno optimizers. The mapping of the latter is in docs/inferno-system.md.
package sources
