package baseline

// overflow is the weight from which on all weights are scaled down, by overflow.
const overflow = 1e300

// chain is the birth–death chain of a replica.
type chain struct {
	// rate[n-1] is the service rate with n requests inside, n ≤ B, per millisecond.
	rate []float32
	// probability is that of 0 … K requests inside, at the rate solved last.
	probability []float64
}

// state is the steady state of a chain at one arrival rate.
type state struct {
	throughput              float32
	running                 float32
	response, service, wait float32
}

func newChain(r *Replica) chain {
	c := chain{
		rate:        make([]float32, r.MaxBatch),
		probability: make([]float64, r.capacity()+1),
	}
	for i := range c.rate {
		n := float32(i + 1)
		c.rate[i] = n / r.serviceTime(n)
	}
	return c
}

// solve returns the steady state at an arrival rate per millisecond.
func (c *chain) solve(arrivals float32) state {
	c.weigh(arrivals)
	c.normalise()

	batch, last := len(c.rate), len(c.probability)-1
	total := c.probability[0]
	var inside, running float64
	for n := 1; n <= last; n++ {
		inside += float64(n) * c.probability[n]
		total += c.probability[n]
		if n == batch {
			running = inside + (1-total)*float64(batch)
		}
	}
	s := state{
		throughput: arrivals * (1 - float32(c.probability[last])),
		running:    float32(running),
	}
	s.response = float32(inside) / s.throughput
	s.service = s.running / s.throughput
	s.wait = max(s.response-s.service, 0)
	return s
}

// weigh sets probabilities up to a common factor, by the balance of flows between
// neighbouring states.
func (c *chain) weigh(arrivals float32) {
	p, batch := c.probability, len(c.rate)
	p[0] = 1
	for n := 1; n < len(p); n++ {
		p[n] = p[n-1] * float64(arrivals) / float64(c.rate[min(n, batch)-1])
		if p[n] > overflow {
			for i := range p[:n+1] {
				p[i] /= overflow
			}
		}
	}
}

// normalise makes probabilities add up to 1.
func (c *chain) normalise() {
	var sum float64
	for _, weight := range c.probability {
		sum += weight
	}
	for n := range c.probability {
		c.probability[n] /= sum
	}
}
