package optimizer

// metColumns are the configurations of a workload that were met so far, without a pointer for each: there may be ten for each workload, and
// quick passes go over all of them. An index stays valid, what x and entries return only until the next one is added.
type metColumns struct {
	// items and width are the lengths of a row of replicas and of values.
	items, width int
	replicas     []int32
	values       []float64
	marks        []mark
}

// mark is the rest of a configuration, and a hash by which it is found; of equal ones the replicas tell. It is in 16 bytes, which a rest
// and a hash beside each other are not.
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
func (s *columnSlabs) grow(c *metColumns, w *workload, room int) {
	c.items, c.width = w.items, 1+len(w.rows)
	c.replicas = append(s.replicas.take(room * c.items)[:0], c.replicas...)
	c.values = append(s.values.take(room * c.width)[:0], c.values...)
	c.marks = append(s.marks.take(room)[:0], c.marks...)
}

func (c *metColumns) len() int { return len(c.marks) }

// x are the replicas of the items in column k.
func (c *metColumns) x(k int32) []int32 { return c.replicas[int(k)*c.items:][:c.items:c.items] }

func (c *metColumns) entries(k int32) entries { return c.values[int(k)*c.width:][:c.width:c.width] }

func (c *metColumns) setCost(k int32, cost float64) { c.values[int(k)*c.width] = cost }

func (c *metColumns) rest(k int32) rest {
	m := &c.marks[k]
	return rest{m.unmet, m.missing}
}

// find returns the index of a configuration, none if it was not met.
func (c *metColumns) find(x []int32, hash uint32) int32 {
	for k := range c.marks {
		if c.marks[k].hash == hash && sameCounts(c.x(int32(k)), x) {
			return int32(k)
		}
	}
	return none
}

// add appends a configuration that was not met.
func (c *metColumns) add(met *column, hash uint32) int32 {
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
