package simulation

// hold keeps a request until a replica takes it or its time is over.
func (c *Cluster) hold(l *line, i int32) {
	if !l.prefilled && l.held.count >= c.config.Gateway.MostHeld {
		c.fail(i, Rejected)
		return
	}
	c.requests.at(i).held = c.now
	l.held.push(&c.requests, i)
	c.planExpiry(l)
}

// planExpiry has a line looked at when its first request has been held for too long.
func (c *Cluster) planExpiry(l *line) {
	if l.held.count > 0 && !l.expiring {
		l.expiring = true
		c.calendar.add(c.requests.at(l.held.first).held+c.timeout, holdEnds, l.index)
	}
}

// expire fails the requests of a line that were held for too long.
func (c *Cluster) expire(l *line) {
	l.expiring = false
	for l.held.count > 0 && c.requests.at(l.held.first).held+c.timeout <= c.now {
		c.fail(l.held.pop(&c.requests), TimedOut)
	}
	c.planExpiry(l)
}

// wake has the held requests of a line looked at in this moment, once all that happens to
// replicas in it has happened.
func (c *Cluster) wake(l *line) {
	if l.held.count > 0 && !l.routing {
		l.routing = true
		c.calendar.add(c.now, heldAreRouted, l.index)
	}
}

// routeHeld gives held requests to replicas as long as they are taken, in order.
func (c *Cluster) routeHeld(l *line) {
	l.routing = false
	for l.held.count > 0 {
		i := l.held.pop(&c.requests)
		if !c.place(l, i) {
			l.held.unpop(&c.requests, i)
			return
		}
	}
}
