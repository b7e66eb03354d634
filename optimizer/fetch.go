package optimizer

// fetched works on n workloads in turn, and fetches a few of them before each few. What is done with a workload of a large
// problem, which no cache holds, would wait for its parts one by one, as it needs them; read beside each other, a processor has
// them together sooner.
func fetched(n int, fetch func(k int) (read int), work func(k int)) {
	for first := 0; first < n; first += fetchedAtOnce {
		next := min(first+fetchedAtOnce, n)
		for k := first; k < next; k++ {
			fetch(k)
		}
		for k := first; k < next; k++ {
			work(k)
		}
	}
}

// fetched works on the workloads from one up to another.
func (p *Problem) fetched(from, to int, work func(i int)) {
	fetched(to-from, func(k int) int { return p.Workloads[from+k].fetch() }, func(k int) { work(from + k) })
}

// fetchedAtOnce workloads fit into the smallest cache.
const fetchedAtOnce = 4

// fetch reads something of each part of the memory that the variants take. It returns what it read, so that it has to.
//
//go:noinline
func (w *Workload) fetch() (read int) {
	for j := range w.Variants {
		v := &w.Variants[j]
		read += len(v.ShapeCapacities) + v.CurrentReplicas
		for k := range v.Placements {
			read += v.Placements[k].Pool
		}
	}
	return read
}
