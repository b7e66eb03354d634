package fakeengine

import (
	"iter"
	"slices"

	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// ModelName names a model of a namespace.
type ModelName struct{ Namespace, Model string }

// model is a load and what became of its requests. The fleet's mutex guards it.
type model struct {
	// next yields requests by their time after began, a moment of the fleet's time; nil =
	// nobody asks.
	next  func() (replica.Request, bool)
	stop  func()
	began float64
	// pending is the request that comes next.
	pending *replica.Request

	// ended are completions of the last memory seconds, with moments of the fleet's time.
	ended []replica.Completion
	// arrived counts requests that went to a pod, refused those of them that it had no
	// place for, dropped those that ended with their engine, lost those that found no ready pod.
	arrived, refused, dropped, lost int
}

// memory is how long completions are kept, in seconds.
const memory = 600

// offer replaces the load from a moment on.
func (m *model) offer(rate queueing.Rate, shape queueing.Shape, seed uint64, now float64) error {
	arrivals, err := replica.Load{Shape: shape, Phases: replica.Constant(rate), Seed: seed}.Arrivals()
	if err != nil {
		return err
	}
	m.end()
	m.began = now
	m.next, m.stop = iter.Pull(arrivals)
	m.draw()
	return nil
}

func (m *model) end() {
	if m.stop != nil {
		m.stop()
	}
	m.next, m.stop, m.pending = nil, nil, nil
}

func (m *model) draw() {
	m.pending = nil
	if r, more := m.next(); more {
		r.Arrival += m.began
		m.pending = &r
	}
}

// route hands the requests that arrive until a moment to pods, in a fixed order: each to
// the one that has the least to do.
func (m *model) route(pods []*pod, moment float64) {
	for m.pending != nil && m.pending.Arrival <= moment {
		request := *m.pending
		m.draw()
		var least *pod
		for _, p := range pods {
			if p.ready && (least == nil || p.fullness() < least.fullness()) {
				least = p
			}
		}
		if least == nil {
			m.lost++
			continue
		}
		m.arrived++
		least.step(request.Arrival, m.complete)
		if least.arrive(request) != replica.Accepted {
			m.refused++
		}
	}
}

func (m *model) complete(c *replica.Completion) { m.ended = append(m.ended, *c) }

// forget drops completions that ended too long ago.
func (m *model) forget(now float64) {
	m.ended = slices.DeleteFunc(m.ended, func(c replica.Completion) bool { return c.Finished < now-memory })
}
