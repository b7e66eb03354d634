package optimizer

// columns are the configurations of a workload that were met so far, by index, which stays valid; slices of it do until the next is added. What is kept of them is in rows
// without a pointer for each: of a large problem there are hundreds of thousands, and quick passes go over all of them.
type columns struct {
	// replicas have items of each, and values so many entries.
	items, width int
	replicas     []int32
	values       []float64
	marks        []mark
}

// mark is what identifies a configuration, mostly, with the rest of it.
type mark struct {
	hash    uint32
	missing int32
	unmet   float64
}

// columnSlabs have room for columns of many workloads.
type columnSlabs struct {
	replicas slab[int32]
	values   slab[float64]
	marks    slab[mark]
}

// grow makes room for so many columns of a workload in all.
func (s *columnSlabs) grow(c *columns, w *workload, room int) {
	c.items, c.width = w.items, 1+len(w.rows)
	c.replicas = append(s.replicas.take(room * c.items)[:0], c.replicas...)
	c.values = append(s.values.take(room * c.width)[:0], c.values...)
	c.marks = append(s.marks.take(room)[:0], c.marks...)
}

func (c *columns) len() int { return len(c.marks) }

// x are the replicas of the items in column k.
func (c *columns) x(k int32) []int32 { return c.replicas[int(k)*c.items:][:c.items] }

func (c *columns) entries(k int32) entries { return c.values[int(k)*c.width:][:c.width] }

func (c *columns) rest(k int32) rest {
	m := &c.marks[k]
	return rest{m.unmet, m.missing}
}

// find returns the index of a configuration, none if it was not met.
func (c *columns) find(x []int32, hash uint32) int32 {
	for k := range c.marks {
		if c.marks[k].hash == hash && sameCounts(c.x(int32(k)), x) {
			return int32(k)
		}
	}
	return none
}

// add appends a configuration that was not met.
func (c *columns) add(met *column, hash uint32) int32 {
	c.replicas = append(c.replicas, met.x...)
	c.values = append(c.values, met.entries...)
	c.marks = append(c.marks, mark{hash, met.missing, met.unmet})
	return int32(len(c.marks) - 1)
}

// hashOfCounts is the hash of a configuration.
func hashOfCounts(x []int32) uint32 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range x {
		h = (h ^ uint64(n)) * 0xd6e8feb86659fd93
		h ^= h >> 32
	}
	return uint32(h)
}

func sameCounts(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
