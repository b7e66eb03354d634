package server

import "sync/atomic"

// Precedence is of work that goes before calls, such as that of the loop: while some of it is
// under way, calls leave it a processor, as far as there are two. The zero value is ready for
// use. It may be used by several goroutines.
type Precedence struct {
	underWay atomic.Int32
	// ended is called when all has come to its end; nil = nobody wants to know.
	ended func()
}

// Begin says that work begins, and returns what says that it has come to its end.
func (p *Precedence) Begin() (end func()) {
	p.underWay.Add(1)
	return func() {
		if p.underWay.Add(-1) == 0 && p.ended != nil {
			p.ended()
		}
	}
}

// leaves is how much of what may be computed at once is left for calls.
func (p *Precedence) leaves(concurrency int) int {
	if p.underWay.Load() == 0 {
		return concurrency
	}
	return max(1, concurrency-1)
}
