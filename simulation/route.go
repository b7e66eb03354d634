package simulation

import (
	"math"

	"github.com/poolwright/poolwright/optimizer"
	"github.com/poolwright/poolwright/simulation/replica"
)

// route gives a request to a replica of a line, or has it held where none takes it.
func (c *Cluster) route(l *line, i int32) {
	if l.held.count > 0 || !c.place(l, i) {
		c.hold(l, i)
	}
}

// place gives a request to a replica, and tells whether the matter is settled: one took it,
// or none ever will.
func (c *Cluster) place(l *line, i int32) bool {
	for len(l.servers) > 0 {
		s := c.choose(l, c.requests.at(i))
		if l.full(s) {
			return false
		}
		switch c.hand(s, i) {
		case replica.Accepted:
			return true
		case replica.QueueFull:
			l.loads[s.place] = math.Inf(1)
		default:
			return c.placeLong(l, i)
		}
	}
	return false
}

// placeLong places a request that is too long for one of the servers.
func (c *Cluster) placeLong(l *line, i int32) bool {
	later := false
	for _, s := range l.servers {
		switch c.hand(s, i) {
		case replica.Accepted:
			return true
		case replica.QueueFull:
			later = true
		}
	}
	if !later {
		c.fail(i, TooLong)
	}
	return !later
}

// choose is the server to try first; one that is full only where all are.
func (c *Cluster) choose(l *line, r *request) *server {
	best := l.servers[0]
	switch {
	case len(l.servers) == 1:
		return best
	case c.config.Routing == CapacityWeighted:
		best = c.drawn(l)
	case c.config.Routing == PrefixAware && len(r.prefix) > 0 && !l.prefilled:
		best = holder(l, r)
	default:
		return leastLoaded(l)
	}
	if l.full(best) {
		return leastLoaded(l)
	}
	return best
}

func leastLoaded(l *line) *server {
	best := 0
	least := l.loads[0]
	for i, load := range l.loads {
		if load < least {
			best, least = i, load
		}
	}
	return l.servers[best]
}

// drawn is a server at random, in proportion to what they sustain.
func (c *Cluster) drawn(l *line) *server {
	x := c.routing.Float64() * l.total
	for _, s := range l.servers {
		if x -= s.variant.capacity; x < 0 {
			return s
		}
	}
	return l.servers[len(l.servers)-1]
}

// How much busier than the least loaded replica one may be that holds a prefix: as many
// times and as many requests more.
const (
	busierFactor   = 2
	busierRequests = 8
)

// holder is the server that holds most of a prompt's prefix, unless it is much busier than
// others; of equals the least loaded.
func holder(l *line, r *request) *server {
	idle := leastLoaded(l)
	best, most := idle, idle.prefix.held(r.prefix)
	for _, s := range l.servers {
		n := s.prefix.held(r.prefix)
		if n > most || n == most && l.loads[s.place] < l.loads[best.place] {
			best, most = s, n
		}
	}
	if l.loads[best.place] > busierFactor*l.loads[idle.place]+busierRequests/best.variant.concurrency {
		return idle
	}
	return best
}

// hand offers a request to a server.
func (c *Cluster) hand(s *server, i int32) replica.Outcome {
	q := c.requests.at(i)
	offer := replica.Request{ID: int(i), Arrival: c.now, Input: q.input, Output: q.output}
	switch v := s.variant; {
	case v.declared:
		offer.Input, offer.Output = 0, 1
	case v.config.Role == optimizer.Decode:
		offer.Prefilled = true
	default:
		if v.config.Role == optimizer.Prefill {
			offer.Output = 1
		}
		offer.Cached = cachedTokens(s, q)
	}
	outcome := s.replica.Arrive(offer)
	if outcome != replica.Accepted {
		return outcome
	}
	q.server, q.variant = s, int32(s.variant.index) //nolint:gosec // it is an index
	if len(q.prefix) > 0 && !offer.Prefilled {
		s.prefix.use(q.prefix, q.blockTokens, s.variant.prefixRoom())
	}
	if !offer.Prefilled {
		q.cached = offer.Cached
	}
	s.variant.takes.reload(s)
	c.race.set(s.slot, s.replica.Next())
	return outcome
}

// cachedTokens is how many tokens of a prompt a server holds: those of its blocks, or where
// it names none the share that the workload declares. The last token is computed always.
func cachedTokens(s *server, q *request) int {
	tokens := s.prefix.held(q.prefix) * q.blockTokens
	if len(q.prefix) == 0 {
		tokens = int(math.Round(s.variant.workload.config.Shape.PrefixHitRatio * float64(q.input)))
	}
	return max(0, min(tokens, q.input-1))
}
