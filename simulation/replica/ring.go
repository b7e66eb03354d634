package replica

// ring is a queue that also takes in at the front. Its zero value is empty.
type ring struct {
	items []int32
	head  int
	count int
}

func (r *ring) len() int { return r.count }

func (r *ring) front() int32 { return r.items[r.head] }

func (r *ring) pushBack(i int32) {
	r.grow()
	r.items[(r.head+r.count)&(len(r.items)-1)] = i
	r.count++
}

func (r *ring) pushFront(i int32) {
	r.grow()
	r.head = (r.head - 1) & (len(r.items) - 1)
	r.items[r.head] = i
	r.count++
}

func (r *ring) popFront() int32 {
	i := r.items[r.head]
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.count--
	return i
}

// grow makes room for one more. The length stays a power of two.
func (r *ring) grow() {
	if r.count < len(r.items) {
		return
	}
	items := make([]int32, max(16, 2*len(r.items)))
	n := copy(items, r.items[r.head:])
	copy(items[n:], r.items[:r.head])
	r.items, r.head = items, 0
}
