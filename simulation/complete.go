package simulation

import (
	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/queueing"
	"github.com/poolwright/poolwright/simulation/replica"
)

// complete takes what a server has completed: a request, or its prompt.
func (c *Cluster) complete(s *server, done *replica.Completion) {
	i := int32(done.ID) //nolint:gosec // it is the index of a request
	q := c.requests.at(i)
	q.server = nil
	v := s.variant
	switch v.config.Role {
	case optimizer.Prefill:
		q.overhead = float64(done.Overhead)
		transfer := v.config.Transfer.Base + v.config.Transfer.PerToken*queueing.Seconds(q.input)
		c.calendar.add(c.now+float64(transfer), promptArrives, i)
		return
	case optimizer.Whole:
		q.overhead, q.firstToken = float64(done.Overhead), done.FirstToken
		v.work.add(done)
	}
	c.succeed(i)
}

// receive takes a request to the replicas that decode, with its first token.
func (c *Cluster) receive(i int32) {
	q := c.requests.at(i)
	w := c.workloads[q.workload]
	q.firstToken = c.now
	if q.output == 1 {
		c.succeed(i)
		return
	}
	c.route(w.decode, i)
}

// succeed ends a request that has all its tokens.
func (c *Cluster) succeed(i int32) {
	q := c.requests.at(i)
	r := Record{Variant: int(q.variant), TTFT: q.overhead + (q.firstToken - q.arrival), E2E: q.overhead + (c.now - q.arrival)}
	if q.output > 1 {
		r.ITL = (c.now - q.firstToken) / float64(q.output-1)
	}
	w := c.workloads[q.workload]
	r.Attained = w.limits.attains(&r)
	w.demand.complete(q)
	of := &c.current.Workloads[q.workload]
	of.Completed++
	of.TTFT.Add(r.TTFT)
	if q.output > 1 {
		of.ITL.Add(r.ITL)
	}
	c.end(i, &r)
}

// fail ends a request that gets no more tokens.
func (c *Cluster) fail(i int32, why Outcome) {
	c.end(i, &Record{Outcome: why, Variant: -1})
}

// end lets a request leave, and counts it in the window in which it arrived.
func (c *Cluster) end(i int32, r *Record) {
	q := c.requests.at(i)
	w := c.windowOf(q.window)
	w.inside--
	of := &w.Workloads[q.workload]
	switch {
	case r.Attained:
		of.Attained++
	case r.Outcome != Completed:
		of.Unmet++
	}
	if c.config.OnRequest != nil {
		r.Workload, r.Arrival = int(q.workload), q.arrival
		r.Input, r.Output, r.Cached = q.input, q.output, q.cached
		c.config.OnRequest(*r)
	}
	c.requests.remove(i)
	if w.inside == 0 && w.ended {
		c.report(false)
	}
}
