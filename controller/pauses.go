package controller

import (
	"sort"
	"sync"
	"time"

	"github.com/poolwright/poolwright/planner"
)

// Pauses are the workloads that people hold. The zero value has none. It may be used by
// many goroutines; what is said counts at once, but for changes that are being carried out.
type Pauses struct {
	mu         sync.Mutex
	byWorkload map[string]planner.Pause
}

// Pause holds a workload, in place of an earlier pause of it.
func (p *Pauses) Pause(pause planner.Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byWorkload == nil {
		p.byWorkload = make(map[string]planner.Pause)
	}
	p.byWorkload[pause.Workload] = pause
}

// Resume lets a workload go. It returns the pause that it ends; false if there is none.
func (p *Pauses) Resume(workload string) (planner.Pause, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pause, ok := p.byWorkload[workload]
	delete(p.byWorkload, workload)
	return pause, ok
}

// Replace puts others in the place of all pauses.
func (p *Pauses) Replace(pauses []planner.Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byWorkload = make(map[string]planner.Pause, len(pauses))
	for _, pause := range pauses {
		p.byWorkload[pause.Workload] = pause
	}
}

// At returns the pauses that hold at a time, by workload, and forgets those that have
// ended by then.
func (p *Pauses) At(now time.Time) []planner.Pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pauses []planner.Pause
	for workload, pause := range p.byWorkload {
		if !pause.Until.IsZero() && !pause.Until.After(now) {
			delete(p.byWorkload, workload)
			continue
		}
		pauses = append(pauses, pause)
	}
	sort.Slice(pauses, func(a, b int) bool { return pauses[a].Workload < pauses[b].Workload })
	return pauses
}
