package trace

import (
	"cmp"
	"errors"
	"slices"
)

// merged is several streams in one, in order of time. It is a binary heap of their next
// requests; a comparison costs less than a switch between the streams would.
type merged struct {
	heap []*head
	all  []*head
}

// head is the next request of a stream.
type head struct {
	Request
	stream   stream
	workload int
	// rank decides between requests at the same time.
	rank int
	// waiting says that nothing was asked for yet, as no request is before At: of many
	// files, one after another, few are open at a time.
	waiting bool
}

// starting is a stream that knows a time, ≥ 0, before which it has no requests.
type starting interface{ start() float64 }

// merge begins the streams of workloads.
func merge(workloads []Workload, run uint64) *merged {
	order := make([]int, 0, len(workloads))
	for i, w := range workloads {
		if w.Source != nil {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(workloads[a].Name, workloads[b].Name) })
	m := &merged{}
	for _, i := range order {
		m.add(workloads[i].Source.stream(seedOf(run, workloads[i].Name)), i)
	}
	return m
}

// add appends a stream, which ranks behind those before it.
func (m *merged) add(s stream, workload int) {
	h := &head{stream: s, workload: workload, rank: len(m.all), waiting: true}
	if s, ok := s.(starting); ok {
		h.At = s.start()
	}
	m.all = append(m.all, h)
	m.heap = append(m.heap, h)
	m.up(len(m.heap) - 1)
}

func (m *merged) next(r *Request) bool {
	for len(m.heap) > 0 && m.heap[0].waiting {
		m.heap[0].waiting = false
		m.advance()
	}
	if len(m.heap) == 0 {
		return false
	}
	first := m.heap[0]
	*r = first.Request
	r.Workload = first.workload
	m.advance()
	return true
}

// advance moves the first stream to its next request, or ends it.
func (m *merged) advance() {
	if first := m.heap[0]; !first.stream.next(&first.Request) {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down()
}

func (m *merged) close() error {
	var errs []error
	for _, h := range m.all {
		errs = append(errs, h.stream.close())
	}
	return errors.Join(errs...)
}

func (h *head) before(other *head) bool {
	return h.At < other.At || h.At == other.At && h.rank < other.rank
}

func (m *merged) up(i int) {
	for i > 0 && m.heap[i].before(m.heap[(i-1)/2]) {
		m.heap[i], m.heap[(i-1)/2] = m.heap[(i-1)/2], m.heap[i]
		i = (i - 1) / 2
	}
}

// down moves the first one to its place.
func (m *merged) down() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heap); child++ {
			if m.heap[child].before(m.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}
