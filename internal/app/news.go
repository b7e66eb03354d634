package app

// news is what was said in one cycle that was not said in the one before.
type news struct{ last, now map[string]bool }

// begin begins a cycle.
func (n *news) begin() { n.last, n.now = n.now, make(map[string]bool) }

// add says something, and tells whether it is new.
func (n *news) add(what string) bool {
	is := !n.last[what] && !n.now[what]
	n.now[what] = true
	return is
}
