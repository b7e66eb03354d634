package planner

import "github.com/poolwright/poolwright/optimizer"

// Checkpoint is a memory as plain data, to be stored in any format that keeps every bit. It
// leaves out what was only remembered to save work and follows from the next snapshot: a
// memory and that of its checkpoint give equal decisions.
type Checkpoint struct {
	// Workloads are as in Memory.
	Workloads map[string]*WorkloadMemory
	// Start is where the next search begins, and Inside that inside what policies permit;
	// nil = from nothing.
	Start, Inside *optimizer.Start
}

// Checkpoint returns what is to be stored of a memory, which it shares.
func (m Memory) Checkpoint() Checkpoint {
	return Checkpoint{Workloads: m.Workloads, Start: m.start, Inside: m.inside}
}

// Memory returns the memory that a checkpoint was taken of.
func (c Checkpoint) Memory() Memory {
	return Memory{Workloads: c.Workloads, start: c.Start, inside: c.Inside}
}
