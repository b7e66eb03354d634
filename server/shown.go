package server

import (
	"sync"
	"time"

	"github.com/poolwright/poolwright/controller"
	"github.com/poolwright/poolwright/internal/message"
	"github.com/poolwright/poolwright/planner"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// shown are the messages about the newest entry that was asked about, for callers who see all of
// it: they are made once, however many ask, and nobody changes them.
type shown struct {
	mu        sync.Mutex
	entry     shownEntry
	fleet     *poolwrightv1.Fleet
	decisions map[poolwrightv1.Decision_View]*poolwrightv1.Decision
}

// shownEntry is what tells entries apart, also those of several leaders.
type shownEntry struct {
	sequence uint64
	now      time.Time
	whole    bool
}

// lock has the messages be about an entry, for one caller until s.mu is unlocked; false where it is older
// than that which they are about, and nothing is locked.
func (s *shown) lock(r controller.Remembered) bool {
	entry := shownEntry{r.Sequence, r.Snapshot.Now, r.Whole}
	s.mu.Lock()
	if entry.sequence < s.entry.sequence {
		s.mu.Unlock()
		return false
	}
	if s.decisions == nil || entry != s.entry {
		s.entry, s.fleet, s.decisions = entry, nil, map[poolwrightv1.Decision_View]*poolwrightv1.Decision{}
	}
	return true
}

// fleetOf returns the fleet of an entry, as a caller sees it.
func (s *shown) fleetOf(r controller.Remembered, fleet *planner.Fleet, seen *sight) *poolwrightv1.Fleet {
	if !seen.scope.Everywhere() || !s.lock(r) {
		return message.OfFleet(fleet)
	}
	defer s.mu.Unlock()
	if s.fleet == nil {
		s.fleet = message.OfFleet(fleet)
	}
	return s.fleet
}

// decisionOf returns what a filter leaves of an entry; nil = nothing.
func (s *shown) decisionOf(r controller.Remembered, f filter) (*poolwrightv1.Decision, error) {
	if f.workload != "" || f.changesOnly && len(r.Decision.Changes) == 0 || !f.seen.scope.Everywhere() || !s.lock(r) {
		return f.decision(r)
	}
	defer s.mu.Unlock()
	if s.decisions[f.view] == nil {
		d, err := f.decision(r)
		if err != nil {
			return nil, err
		}
		s.decisions[f.view] = d
	}
	return s.decisions[f.view], nil
}
