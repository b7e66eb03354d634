package greedy

// bestEffort shares what is left among servers that got nothing.
func (m *plan) bestEffort(servers []*server, policy Saturation) {
	switch policy {
	case None:
	case PriorityExhaustive:
		m.exhaust(servers)
	case PriorityRoundRobin:
		for _, group := range byPriority(servers) {
			m.takeTurns(group)
		}
	case RoundRobin:
		m.takeTurns(servers)
	}
}

// exhaust gives each server as many replicas as it can use of its first candidate
// that fits at all.
func (m *plan) exhaust(servers []*server) {
	for _, s := range servers {
		for _, c := range s.candidates {
			if n := min(m.fits(s, c), c.replicas); n > 0 {
				m.place(s.workload, c.variant, c.place, n)
				break
			}
		}
	}
}

// takeTurns gives one replica to each server, again and again until it is time to stop. A server takes
// its first candidate that fits in its first turn, stays with it, and leaves when no
// replica of it is left.
func (m *plan) takeTurns(servers []*server) {
	var active []*turn
	for _, s := range servers {
		active = append(active, &turn{server: s})
	}
	for len(active) > 0 && !m.ends() {
		staying := active[:0]
		for _, t := range active {
			if m.take(t) {
				staying = append(staying, t)
			}
		}
		active = staying
	}
}

// turn is a server that takes turns.
type turn struct {
	server *server
	// chosen is the candidate of the first turn, and left what may still be taken
	// of it.
	chosen *candidate
	left   int
}

// take gives one replica, and says whether there was one.
func (m *plan) take(t *turn) bool {
	if t.chosen == nil {
		for i := range t.server.candidates {
			if c := &t.server.candidates[i]; m.fits(t.server, *c) > 0 {
				t.chosen, t.left = c, c.replicas
				break
			}
		}
	}
	if t.chosen == nil || t.left == 0 || m.fits(t.server, *t.chosen) == 0 {
		return false
	}
	m.place(t.server.workload, t.chosen.variant, t.chosen.place, 1)
	t.left--
	return true
}
