package replica

// appointment is the index of something that is due.
type appointment struct {
	due float64
	// entry breaks ties: first come, first served.
	entry int64
	index int32
}

func (a appointment) before(b appointment) bool {
	return a.due < b.due || a.due == b.due && a.entry < b.entry
}

// timetable is a binary heap of appointments. Its zero value is empty.
type timetable []appointment

func (t *timetable) push(a appointment) {
	*t = append(*t, a)
	h := *t
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !a.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = a
}

// pop removes and returns the appointment due first. The timetable must not be empty.
func (t *timetable) pop() appointment {
	h := *t
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*t = h
	if len(h) == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return first
}
