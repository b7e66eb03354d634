package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/poolwright/poolwright/simulation/trace"
)

// requestsPerLook is how often the context is looked at, beside the end of each window.
const requestsPerLook = 1 << 16

// Run simulates until a time. It calls each, where that is not nil, with every window in
// order, as soon as all requests that arrived in it have ended. No autoscaler, nil,
// changes nothing.
//
// What is inside at the end may still end, within the timeout of the gateway: nothing
// arrives, nobody scales and nobody pays any more. What has not ended then is unmet. A
// cluster runs once.
//
// The error is that of the context or the autoscaler, or says what is wrong with a request.
func (c *Cluster) Run(ctx context.Context, a Autoscaler, until time.Time, each func(Window)) error {
	if c.ran {
		return errors.New("simulation: a cluster runs once")
	}
	c.horizon = until.Sub(c.config.Start).Seconds()
	if !(c.horizon > 0) {
		return fmt.Errorf("simulation: the end, %s, is not after the start, %s", until, c.config.Start)
	}
	if a != nil && a.Interval() <= 0 {
		return fmt.Errorf("simulation: an autoscaler's interval is %v", a.Interval())
	}
	c.ran, c.autoscaler, c.each = true, a, each
	c.plan()
	for r := range c.config.Requests {
		if err := c.check(&r); err != nil {
			return err
		}
		if r.At >= c.horizon {
			break
		}
		if c.requests.number%requestsPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !c.advance(ctx, r.At) {
			return c.failure
		}
		c.arrive(&r)
	}
	if !c.advance(ctx, c.horizon) {
		return c.failure
	}
	c.closeWindow()
	return c.finish(ctx)
}

// plan puts into the calendar what is known beforehand.
func (c *Cluster) plan() {
	c.openNext()
	c.nextTick()
	for i := range c.disruptions {
		d := &c.disruptions[i]
		subject := int32(i)
		c.calendar.add(max(0, (d.At-d.Notice).Seconds()), lossIsAnnounced, subject)
		c.calendar.add(d.At.Seconds(), devicesAreLost, subject)
		if d.ReturnsAfter > 0 {
			c.calendar.add((d.At + d.ReturnsAfter).Seconds(), devicesReturn, subject)
		}
	}
}

// nextTick plans the next call of the autoscaler.
func (c *Cluster) nextTick() {
	if c.autoscaler == nil {
		return
	}
	c.ticks++
	if at := (time.Duration(c.ticks) * c.autoscaler.Interval()).Seconds(); at < c.horizon {
		c.calendar.add(at, autoscalerLooks, 0)
	}
}

// advance carries out what happens up to a moment, but for iterations that end or start
// in that very moment, as what arrives takes part in them. It tells whether the simulation
// goes on.
func (c *Cluster) advance(ctx context.Context, to float64) bool {
	for c.failure == nil {
		next := never
		var slot int32
		if len(c.servers) > 0 {
			slot, next = c.race.first()
		}
		if len(c.calendar.events) > 0 {
			if at := c.calendar.events[0].at; at <= next && at <= to {
				c.now = at
				c.carryOut(ctx, c.calendar.pop())
				continue
			}
		}
		if !(next < to) {
			c.now = to
			return true
		}
		c.now = next
		c.step(c.servers[slot])
	}
	return false
}

// step carries out the next iteration of a server.
func (c *Cluster) step(s *server) {
	completed := s.replica.Step()
	c.race.set(s.slot, s.replica.Next())
	for i := range completed {
		c.complete(s, &completed[i])
	}
	switch {
	case s.phase == Serving:
		l := s.variant.takes
		if len(completed) > 0 || l.full(s) {
			l.reload(s)
		}
		c.wake(l)
	case s.inside() == 0:
		c.release(s)
		c.fillVacated()
	}
}

// fillVacated gives the devices that have become free to pending replicas.
func (c *Cluster) fillVacated() {
	if c.vacated {
		c.vacated = false
		c.fill()
	}
}

func (c *Cluster) carryOut(ctx context.Context, e event) {
	switch e.kind {
	case windowEnds:
		c.failure = ctx.Err()
		c.closeWindow()
	case devicesReturn:
		c.restore(&c.disruptions[e.subject])
	case lossIsAnnounced:
		stream := disruptionStream + uint64(e.subject) //nolint:gosec // it is an index
		c.announce(&c.disruptions[e.subject], rand.New(rand.NewPCG(c.config.Seed, stream)))
	case devicesAreLost:
		c.strikeOut(&c.disruptions[e.subject])
	case replicaIsReady:
		if s := c.servers[e.subject]; s != nil && s.phase == Starting && s.ready == e.at {
			c.begin(s)
		}
	case promptArrives:
		c.receive(e.subject)
	case heldAreRouted:
		c.routeHeld(c.lines[e.subject])
	case holdEnds:
		c.expire(c.lines[e.subject])
	case autoscalerLooks:
		c.tick(ctx)
	}
	c.fillVacated()
}

// tick lets the autoscaler act.
func (c *Cluster) tick(ctx context.Context) {
	now := c.config.Start.Add(time.Duration(c.ticks) * c.autoscaler.Interval())
	if err := c.autoscaler.Scale(ctx, now); err != nil {
		c.failure = fmt.Errorf("simulation: at %s: %w", now, err)
	}
	c.nextTick()
}

// arrive takes in a request.
func (c *Cluster) arrive(r *trace.Request) {
	i := c.requests.add()
	q := c.requests.at(i)
	q.arrival, q.window, q.workload = c.now, int32(c.current.Index), int32(r.Workload) //nolint:gosec // both are small
	q.input, q.output, q.prefix, q.blockTokens = r.Input, r.Output, r.Prefix, r.BlockTokens
	w := c.workloads[r.Workload]
	w.demand.arrived++
	c.current.Workloads[r.Workload].Arrived++
	c.current.inside++
	c.route(w.entry, i)
}

// finish lets what is inside end, for some time, and reports the rest.
func (c *Cluster) finish(ctx context.Context) error {
	c.autoscaler = nil
	c.advance(ctx, c.horizon+c.timeout)
	for i := range c.requests.held() {
		c.fail(i, Unfinished)
	}
	c.report(true)
	return c.failure
}
