package controller

import "github.com/poolwright/poolwright/planner"

// Entry is one cycle of the loop: what was known, what was decided and what became of it.
type Entry struct {
	// Sequence counts the cycles from 1, across restarts where a ledger is kept.
	Sequence uint64
	Snapshot planner.Snapshot
	// Declared: the first so many of what is paused are declared; people asked for the others.
	Declared int
	Decision planner.Decision
	// Dropped are the changes of the decision that were not carried out.
	Dropped []Drop
	// Failure of carrying out the rest; empty = none.
	Failure string
}

// Drop is a change that was not carried out.
type Drop struct {
	Change planner.Change
	Reason string
	// Found is the number of replicas that there were by then, that of the snapshot where it was
	// not seen again.
	Found int
	// Tried: it was still valid, and failed. Others who carry it out may succeed.
	Tried bool
}

// Ledger keeps what was decided and from what. It is for one goroutine.
type Ledger interface {
	// Checkpoint is called before a cycle is planned. It returns the memory to plan with:
	// the one given or, where that was written down now, the one read back.
	Checkpoint(m planner.Memory) (planner.Memory, error)
	// Intend says, before anything is carried out, which changes the cycle whose entry is to
	// have this sequence number is about to carry out.
	Intend(sequence uint64, changes []planner.Change) error
	// Append adds the entry of a cycle. Its sequence number is the last one's plus 1.
	Append(e Entry) error
}
