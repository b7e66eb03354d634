package app

import (
	"fmt"
	"sync"
	"time"
)

// pulse is what is known of the life of a loop. Its methods may be called from any goroutine.
type pulse struct {
	mu    sync.Mutex
	every time.Duration
	// leading since a time, zero = it is not.
	leading time.Time
	// began is when the cycle began that runs, zero without one; decided is when the last one
	// made a decision.
	began, decided time.Time
}

const (
	// idleCycles without a decision are taken for an outage, as the scaler takes them.
	idleCycles = 8
	// stuckCycles is how long a cycle may take: each of its steps has a limit of its own, and
	// all of them together are far below.
	stuckCycles = 20
	// leastOutage and leastStuck are for loops with short cycles.
	leastOutage, leastStuck = time.Minute, 2 * time.Minute
)

// lead is said when a loop begins, or ends, to plan.
func (p *pulse) lead(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leading = since
}

// begin is said before a cycle; every so often is how often there is one.
func (p *pulse) begin(now time.Time, every time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.every = now, every
}

// end is said after a cycle, with whether it decided.
func (p *pulse) end(now time.Time, decided bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = time.Time{}
	if decided {
		p.decided = now
	}
}

// live returns why the loop will not go on by itself, nil as far as it may.
func (p *pulse) live(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.IsZero() || now.Sub(p.began) <= max(leastStuck, stuckCycles*p.every) {
		return nil
	}
	return fmt.Errorf("a cycle that began %s ago has not ended", now.Sub(p.began).Round(time.Second))
}

// ready returns why nothing is decided although this process leads, nil where something is or
// another one leads.
func (p *pulse) ready(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leading.IsZero() {
		return nil
	}
	last := p.leading
	if p.decided.After(last) {
		last = p.decided
	}
	if idle := now.Sub(last); idle > max(leastOutage, idleCycles*p.every) {
		return fmt.Errorf("nothing was decided for %s", idle.Round(time.Second))
	}
	return nil
}
