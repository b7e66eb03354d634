package greedy

import (
	"cmp"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// plan is a plan in the making.
type plan struct {
	problem  *optimizer.Problem
	headroom *optimizer.Headroom
	replicas [][][]int
	// order is that of the workloads: by priority, then by name.
	order []int
	// cover is that of workload coverOf, the last one that was asked about.
	cover   *optimizer.Cover
	coverOf int
	// stop ends the making of the plan; it may be nil.
	stop    func() bool
	stopped bool
}

func newPlan(p *optimizer.Problem, stop func() bool) (*plan, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	m := &plan{problem: p, headroom: optimizer.NewHeadroom(p), replicas: make([][][]int, len(p.Workloads)), coverOf: -1, stop: stop}
	for i := range p.Workloads {
		m.replicas[i] = make([][]int, len(p.Workloads[i].Variants))
		for j := range m.replicas[i] {
			m.replicas[i][j] = make([]int, len(p.Workloads[i].Variants[j].Placements))
		}
	}
	m.order = sorted(len(p.Workloads), func(a, b int) int {
		return cmp.Or(cmp.Compare(p.Workloads[a].Priority, p.Workloads[b].Priority), cmp.Compare(p.Workloads[a].Name, p.Workloads[b].Name))
	})
	for _, i := range m.order {
		m.placeMinimums(i)
	}
	return m, nil
}

// ends says whether it is time to stop.
func (m *plan) ends() bool {
	m.stopped = m.stopped || m.stop != nil && m.stop()
	return m.stopped
}

// solution judges the plan, and says whether it was stopped.
func (m *plan) solution() (*optimizer.Solution, error) {
	s, err := m.problem.Assess(m.replicas)
	if err == nil && m.stopped {
		s.Proof, s.Stopped = optimizer.Feasible, true
		s.Notes = append(s.Notes, "stopped before all workloads had their turn")
	}
	return s, err
}

// sorted lists the indices below n in the order of compare.
func sorted(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	return order
}

// placeMinimums places the minimums of the variants of workload i.
func (m *plan) placeMinimums(i int) {
	for _, j := range m.variants(i) {
		m.spread(i, j, m.problem.Workloads[i].Variants[j].MinReplicas)
	}
}

// variants are those of workload i by name.
func (m *plan) variants(i int) []int {
	w := &m.problem.Workloads[i]
	return sorted(len(w.Variants), func(a, b int) int { return cmp.Compare(w.Variants[a].Name, w.Variants[b].Name) })
}

// placements are those of variant j of workload i, the cheapest first.
func (m *plan) placements(i, j int) []int {
	places := m.problem.Workloads[i].Variants[j].Placements
	name := func(k int) string { return m.problem.Pools[places[k].Pool].Name }
	return sorted(len(places), func(a, b int) int {
		return cmp.Or(cmp.Compare(places[a].PricePerHour, places[b].PricePerHour), cmp.Compare(name(a), name(b)))
	})
}

// spread places up to n replicas of a variant, the cheapest placement first.
func (m *plan) spread(i, j, n int) {
	for _, k := range m.placements(i, j) {
		fits := min(n, m.headroom.Replicas(i, j, k))
		m.place(i, j, k, fits)
		n -= fits
	}
}

func (m *plan) place(i, j, k, n int) {
	m.headroom.Place(i, j, k, n)
	m.replicas[i][j][k] += n
}

// wanted is the least number of further replicas of variant j with which workload i
// has its demand served and its minimum. Where no number serves it, ok is false, and
// wanted is as many as serve all that the variant can.
func (m *plan) wanted(i, j int) (n int, ok bool) {
	w := &m.problem.Workloads[i]
	counts := m.headroom.Counts(i)
	if m.coverOf != i {
		m.cover, m.coverOf = optimizer.NewCover(w), i
	}
	n, ok = m.cover.Needed(counts, j)
	if !ok {
		capacity := w.MixCapacity(j)
		if capacity == 0 {
			return 0, false
		}
		n = int(min(math.Ceil(w.Demand/capacity)+float64(w.Redundancy), mostReplicas))
	}
	return max(n, w.MinReplicas-sum(counts)), ok
}

// mostReplicas is the most that is planned of one variant.
const mostReplicas = 1 << 24

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}
