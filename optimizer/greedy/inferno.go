package greedy

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/poolwright/poolwright/optimizer"
)

// Options are those of the inferno family. The zero value is its default.
type Options struct {
	Saturation Saturation
	// DelayedBestEffort: what is left goes to servers that got nothing after all
	// priorities had their turn, and not after each priority.
	DelayedBestEffort bool
}

// Saturation says what a workload gets that cannot be served in full.
type Saturation int

const (
	// None: nothing.
	None Saturation = iota
	// PriorityExhaustive: by priority, as much as there is of its best variant that
	// fits at all.
	PriorityExhaustive
	// PriorityRoundRobin: within each priority, one replica in turn.
	PriorityRoundRobin
	// RoundRobin: over all priorities, one replica in turn.
	RoundRobin
)

// String is the family's name of the policy.
func (s Saturation) String() string {
	switch s {
	case None:
		return "None"
	case PriorityExhaustive:
		return "PriorityExhaustive"
	case PriorityRoundRobin:
		return "PriorityRoundRobin"
	case RoundRobin:
		return "RoundRobin"
	}
	return fmt.Sprintf("Saturation(%d)", int(s))
}

// Inferno plans by the greedy of the inferno family. It ends early when stop, which
// may be nil, returns true: workloads that had no turn then have no more than the
// minimums of their variants, and the solution is Feasible and Stopped. It returns an
// error only if the problem or the options are not valid.
func Inferno(p *optimizer.Problem, o Options, stop func() bool) (*optimizer.Solution, error) {
	if o.Saturation < None || o.Saturation > RoundRobin {
		return nil, fmt.Errorf("greedy: saturation policy %d is not known", int(o.Saturation))
	}
	m, err := newPlan(p, stop)
	if err != nil {
		return nil, err
	}
	var servers []*server
	for _, i := range m.order {
		// What was weighed so far is placed all the same, which takes little time.
		if m.ends() {
			break
		}
		if s := m.server(i); len(s.candidates) > 0 {
			servers = append(servers, s)
		}
	}
	groups := byPriority(servers)
	if o.DelayedBestEffort {
		groups = [][]*server{servers}
	}
	for _, group := range groups {
		m.bestEffort(m.allocate(group), o.Saturation)
	}
	return m.solution()
}

// byPriority cuts servers, sorted by priority, into those of equal priority.
func byPriority(servers []*server) [][]*server {
	var groups [][]*server
	for i, s := range servers {
		if i == 0 || s.priority != servers[i-1].priority {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], s)
	}
	return groups
}

// server is a workload in the queue for replicas.
type server struct {
	workload, priority int
	name               string
	// candidates are in the order of value, and at is the one in turn.
	candidates []candidate
	at         int
}

// candidate is an allocation that serves a workload alone.
type candidate struct {
	variant, place int
	// replicas are those beyond the minimums of variants.
	replicas    int
	value, cost float64
	names       [2]string
}

// server lists the candidates of workload i. There is none for a workload that
// needs no replicas.
func (m *plan) server(i int) *server {
	w := &m.problem.Workloads[i]
	s := &server{workload: i, priority: w.Priority, name: w.Name}
	running := m.running(i)
	single := w.Mixing == optimizer.Single && sum(m.headroom.Counts(i)) > 0
	for j := range w.Variants {
		n, ok := m.wanted(i, j)
		if !ok || n == 0 || single && m.headroom.Counts(i)[j] == 0 {
			continue
		}
		for k := range w.Variants[j].Placements {
			s.candidates = append(s.candidates, m.candidate(i, j, k, n, running))
		}
	}
	slices.SortFunc(s.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.cost, b.cost), slices.Compare(a.names[:], b.names[:]))
	})
	return s
}

// running is what runs of workload i now: nothing in particular where several
// variants do.
func (m *plan) running(i int) allocation {
	var now allocation
	w := &m.problem.Workloads[i]
	used := 0
	for _, j := range m.variants(i) {
		v := &w.Variants[j]
		if v.CurrentReplicas == 0 {
			continue
		}
		used++
		now.accelerator = v.Name
		now.replicas += v.CurrentReplicas
		now.cost += float64(v.CurrentReplicas) * v.Placements[m.placements(i, j)[0]].PricePerHour
	}
	if used > 1 {
		now.accelerator = ""
	}
	return now
}

// candidate is n replicas of variant j in placement k beside the minimums.
func (m *plan) candidate(i, j, k, n int, running allocation) candidate {
	v := &m.problem.Workloads[i].Variants[j]
	next := allocation{
		accelerator: v.Name, replicas: n + m.headroom.Counts(i)[j],
		cost: float64(n)*v.Placements[k].PricePerHour + m.placedCost(i),
	}
	value := transitionPenalty(running, next)
	if m.switches(i) {
		value = next.cost - running.cost + m.switching(i, j, next.replicas)
	}
	return candidate{
		variant: j, place: k, replicas: n, value: value, cost: next.cost,
		names: [2]string{v.Name, m.problem.Pools[v.Placements[k].Pool].Name},
	}
}

// switches says whether workload i has switching costs of its own.
func (m *plan) switches(i int) bool {
	return slices.ContainsFunc(m.problem.Workloads[i].Variants, func(v optimizer.Variant) bool {
		return v.SwitchUp > 0 || v.SwitchDown > 0
	})
}

// switching is the cost of going from what runs of workload i to n replicas of
// variant j beside the minimums.
func (m *plan) switching(i, j, n int) float64 {
	cost := 0.0
	for _, other := range m.variants(i) {
		replicas := n
		if other != j {
			replicas = m.headroom.Counts(i)[other]
		}
		cost += m.problem.Workloads[i].Variants[other].Switching(replicas)
	}
	return cost
}

// placedCost is the price of the minimums of workload i.
func (m *plan) placedCost(i int) float64 {
	cost := 0.0
	for _, j := range m.variants(i) {
		for _, k := range m.placements(i, j) {
			cost += float64(m.replicas[i][j][k]) * m.problem.Workloads[i].Variants[j].Placements[k].PricePerHour
		}
	}
	return cost
}

// regret is what the next candidate is worth less than the one in turn.
func (s *server) regret() float64 {
	if s.at+1 == len(s.candidates) {
		return math.Inf(1)
	}
	return s.candidates[s.at+1].value - s.candidates[s.at].value
}

// queue has the server whose turn it is on top.
type queue []*server

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(
		cmp.Compare(a.priority, b.priority),
		cmp.Compare(b.regret(), a.regret()),
		cmp.Compare(b.candidates[b.at].value, a.candidates[a.at].value),
		cmp.Compare(a.name, b.name),
	) < 0
}

// Push is called by package heap.
func (q *queue) Push(x any) { *q = append(*q, x.(*server)) }

// Pop is called by package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	*q = (*q)[:last]
	return s
}

// allocate gives servers in turn the whole of a candidate, and returns those for
// which none fits, in the order in which they ran out of candidates.
func (m *plan) allocate(servers []*server) []*server {
	var unserved []*server
	q := queue(slices.Clone(servers))
	heap.Init(&q)
	for len(q) > 0 {
		s := q[0]
		switch c := s.candidates[s.at]; {
		case m.fits(s, c) >= c.replicas:
			m.place(s.workload, c.variant, c.place, c.replicas)
			heap.Pop(&q)
		case s.at+1 == len(s.candidates):
			unserved = append(unserved, s)
			heap.Pop(&q)
		default:
			s.at++
			heap.Fix(&q, 0)
		}
	}
	return unserved
}

// fits is how many replicas of a candidate there is room for.
func (m *plan) fits(s *server, c candidate) int {
	return m.headroom.Replicas(s.workload, c.variant, c.place)
}
